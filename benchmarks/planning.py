"""How long ISJL takes to plan a backlog, held against LPT on the same requests.

    python benchmarks/planning.py
    python benchmarks/planning.py --sizes 10000 100000 --repeat 3

LMSYS-like lengths, all there at time 0, 32 slots, alpha 100. The schedule of ISJL is a different one,
with more epochs; what is asked is that queue and plans cost no more than a few times those of LPT
(at most 4 times at a million requests) and grow like n log n (at most 12 times from 10^5 to 10^6).
Events and decisions are counted as well: they do not depend on the machine. Exit code 1 if a limit is
passed.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from time import perf_counter

from policies import ISJL, LPT
from serving_sim import Policy, Run, Workload, simulate
from workloads import make_workload, parse_arrivals, parse_lengths

SLOTS = 32
ALPHA = 100
MOST_OVER_LPT = 4.0
MOST_GROWTH = 12.0
"""For ten times the requests; twice ten would be n log n with room for noise."""

Seconds = dict[tuple[str, str, int], float]
"""By engine, policy and number of requests."""


def main() -> int:
    """Print a table and the ratios that are limited."""
    options = _options()
    seconds: Seconds = {}
    engines = ["simpy"] if find_spec("numba") is None else ["simpy", "compiled"]
    print("| engine | policy | requests | seconds | requests/s | events | decisions |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for engine in engines:
        serve(backlog(1000), ISJL(ALPHA), engine)  # the compiled engine compiles, or loads what it compiled
        for n in options.sizes:
            workload = backlog(n)
            for policy in (LPT(), ISJL(ALPHA)):
                run, taken = fastest(workload, policy, engine, options.repeat)
                seconds[engine, policy.name, n] = taken
                counts = f"{run.totals.events:,} | {run.totals.decisions:,}"
                print(
                    f"| {engine} | {policy.name} | {n:,} | {taken:.3f} | {n / taken:,.0f} | {counts} |",
                    flush=True,
                )
    kept = [_limited(seconds, engine, sorted(options.sizes)) for engine in engines]
    return int(not all(kept))


def backlog(n: int) -> Workload:
    """Requests that are all there at time 0."""
    return make_workload(n, parse_lengths("lmsys-like"), parse_arrivals("backlog"), seed=0)


def fastest(workload: Workload, policy: Policy, engine: str, repeat: int) -> tuple[Run, float]:
    """The last of ``repeat`` equal runs and the seconds of the fastest."""
    taken = []
    for _ in range(repeat):
        begun = perf_counter()
        run = serve(workload, policy, engine)
        taken.append(perf_counter() - begun)
    return run, min(taken)


def serve(workload: Workload, policy: Policy, engine: str) -> Run:
    """One run."""
    return simulate(workload, policy, slots=SLOTS, alpha=ALPHA, engine=engine)  # type: ignore[arg-type]


def _limited(seconds: Seconds, engine: str, sizes: list[int]) -> bool:
    largest = sizes[-1]
    over_lpt = seconds[engine, "isjl", largest] / seconds[engine, "lpt", largest]
    kept = over_lpt <= MOST_OVER_LPT
    print(f"\n{engine}: isjl / lpt at {largest:,} = {over_lpt:.2f}, at most {MOST_OVER_LPT:g}")
    if largest // 10 in sizes:
        growth = seconds[engine, "isjl", largest] / seconds[engine, "isjl", largest // 10]
        kept = kept and growth <= MOST_GROWTH
        print(f"{engine}: isjl {largest // 10:,} to {largest:,} = {growth:.2f}, at most {MOST_GROWTH:g}")
    return kept


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--repeat", type=int, default=2)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
