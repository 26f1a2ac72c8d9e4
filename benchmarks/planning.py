"""How long ISJL takes to plan a backlog, held against LPT on the same requests.

    python benchmarks/planning.py
    python benchmarks/planning.py --sizes 10000 100000 --repeat 3

LMSYS-like lengths, all there at time 0, 32 slots, alpha 100. The schedule of ISJL is a different one,
with more epochs; what is asked is that queue and plans cost no more than a few times those of LPT
(at most 4 times at a million requests) and grow like n log n (at most 12 times from 10^5 to 10^6 on the
SimPy engine; 10^5 requests of the compiled one fit into the cache of the processor and 10^6 do not, so
there LPT grows by more as well, and growth is printed without a limit).
Seconds are those of the processor, the least of several runs, so that other work on the machine counts
little. Events and decisions do not depend on the machine at all. Exit code 1 if a limit is passed.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from operator import itemgetter
from time import process_time

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
    """One of ``repeat`` equal runs and the processor seconds of the fastest."""
    return min((_timed(workload, policy, engine) for _ in range(repeat)), key=itemgetter(1))


def _timed(workload: Workload, policy: Policy, engine: str) -> tuple[Run, float]:
    begun = process_time()
    run = serve(workload, policy, engine)
    return run, process_time() - begun


def serve(workload: Workload, policy: Policy, engine: str) -> Run:
    """One run."""
    return simulate(workload, policy, slots=SLOTS, alpha=ALPHA, engine=engine)  # type: ignore[arg-type]


def _limited(seconds: Seconds, engine: str, sizes: list[int]) -> bool:
    largest = sizes[-1]
    over_lpt = seconds[engine, "isjl", largest] / seconds[engine, "lpt", largest]
    kept = over_lpt <= MOST_OVER_LPT
    print(f"\n{engine}: isjl / lpt at {largest:,} = {over_lpt:.2f}, at most {MOST_OVER_LPT:g}")
    tenth = largest // 10
    if tenth in sizes:
        lpt, isjl = (
            seconds[engine, name, largest] / seconds[engine, name, tenth] for name in ("lpt", "isjl")
        )
        limit = f", at most {MOST_GROWTH:g}" if engine == "simpy" else ""
        print(f"{engine}: {tenth:,} to {largest:,}: isjl {isjl:.2f}{limit}; lpt {lpt:.2f}")
        kept = kept and (engine != "simpy" or isjl <= MOST_GROWTH)
    return kept


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--repeat", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
