"""What first come first served and ISJL do with each burst of a request log.

    python examples/bursts.py LOG --time-unit 0.03 --slots 16 --alpha 64 --limit 4096 --at 860 --out bursts

The page docs/how-to/your-own-trace.md shows what it prints and draws for two public traces.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from analysis.bursts import BurstOutcome, burst_outcomes
from analysis.outcome import Outcome, evaluate
from analysis.plots import save_figure
from analysis.plots.burst import burst_schedule
from analysis.time_unit import TimeUnit
from policies import FCFS, ISJL
from serving_sim import Workload, simulate
from workloads import read_requests
from workloads.shaping import ContextLimit, PromptChunks, shape


def main(words: Sequence[str] | None = None) -> None:
    """Serve the log twice, print the largest bursts and draw the one that is under way at a time."""
    given = _parser().parse_args(words)
    workload, report = read_requests(given.log, time_unit=given.time_unit, on_bad_row="drop")
    workload, steps = shape(workload, [ContextLimit(given.limit, "cap"), PromptChunks(given.chunk)], seed=0)
    print(f"{report.rows_read:,} rows, {len(workload):,} requests; {steps[0].dropped}, {steps[0].note}")
    outcomes = _served(workload, given.slots, given.alpha)
    bursts = [burst_outcomes(each.runs[0], given.quiet / given.time_unit) for each in outcomes]
    _print_bursts(outcomes, bursts, given.time_unit)
    at = given.at / given.time_unit
    chosen = max(
        (burst for burst in bursts[1] if burst.first <= at),
        key=lambda burst: burst.first,
        default=bursts[1][0],
    )
    margin = given.margin / given.time_unit
    start, end = chosen.first - margin, chosen.last + chosen.drained + margin
    unit = TimeUnit("step", given.time_unit)
    save_figure(burst_schedule(outcomes, start, end, time_unit=unit), given.out / "burst")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("log", type=Path)
    parser.add_argument("--time-unit", type=float, default=0.03, help="seconds in a decode step")
    parser.add_argument("--slots", type=int, default=16)
    parser.add_argument("--alpha", type=int, default=64, help="fairness budget in steps")
    parser.add_argument("--limit", type=int, default=4096, help="context limit in tokens")
    parser.add_argument("--chunk", type=int, default=512, help="tokens of a prompt that a step reads")
    parser.add_argument("--quiet", type=float, default=20.0, help="seconds of silence between bursts")
    parser.add_argument("--at", type=float, default=0.0, help="second within the burst to draw")
    parser.add_argument("--margin", type=float, default=3.0, help="seconds to draw before and after")
    parser.add_argument("--out", type=Path, default=Path("bursts"))
    return parser


def _served(workload: Workload, slots: int, alpha: int) -> list[Outcome]:
    return [
        evaluate([simulate(workload, policy, slots=slots, alpha=alpha)])
        for policy in (FCFS(), ISJL(alpha=alpha))
    ]


def _print_bursts(
    outcomes: Sequence[Outcome], bursts: Sequence[Sequence[BurstOutcome]], second: float
) -> None:
    """The ten largest bursts in order of time, times in seconds."""
    largest = sorted(range(len(bursts[0])), key=lambda place: -bursts[0][place].requests)[:10]
    for outcome, each in zip(outcomes, bursts, strict=True):
        print(f"\n{outcome.policy}, largest gap {outcome.runs[0].max_gap} steps, {len(each)} bursts")
        print("   from to (s)  requests  most waiting  drained (s)  mean latency (s)  slots held empty")
        for place in sorted(largest):
            burst = each[place]
            print(
                f"{burst.first * second:6.0f} {burst.last * second:6.0f} {burst.requests:9,}"
                f" {burst.most_waiting:13,} {burst.drained * second:12.1f}"
                f" {burst.mean_latency * second:17.2f} {burst.idle_while_waiting:17.0%}"
            )


if __name__ == "__main__":
    main()
