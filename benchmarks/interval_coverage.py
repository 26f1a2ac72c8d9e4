"""Do the 95 % intervals of one run hold the exact value in 95 % of the cases.

    python benchmarks/interval_coverage.py                     # as in docs/explanation/intervals.md
    python benchmarks/interval_coverage.py --repetitions 100 --slots 4 --loads 0.7 0.95 --requests 400000
    python benchmarks/interval_coverage.py --slots 1 --lengths lognormal:mean=10,cv=1.7

First come, first served in slotted time, geometric lengths of mean 10 unless others are asked for (on several
slots equal or geometric ones): the exact mean and quantiles of the waiting time are known. Each system is
simulated independently many times; the shorter runs are the first requests of the longest. Of the intervals
that the guard lets pass 92 to 98 % must hold the exact value. One standard error of a share over 400 runs is
1.1 %, so one entry in twenty may miss by chance. Exit code 1 if more do.
"""

from __future__ import annotations

import argparse
import sys
from itertools import product

from analysis.experiments.coverage import STATISTICS, Coverage, coverage
from analysis.experiments.validation.system import System

SLOTS = (1, 4, 32)
LENGTHS = "geometric:mean=10"
LOADS = (0.5, 0.8, 0.9)
REQUESTS = (5_000, 20_000, 50_000, 200_000)
LEAST, MOST = 0.92, 0.98
BY_CHANCE = 0.05


def main() -> int:
    """Print one row a system and run length."""
    options = _options()
    print(f"reported % / coverage % over {options.repetitions} repetitions; * misses the limits")
    print("| B | load | requests | " + " | ".join(each.name for each in STATISTICS) + " |")
    print("| --- " * (3 + len(STATISTICS)) + "|")
    entries: list[Coverage] = []
    for slots, load in product(options.slots, options.loads):
        system = System(slots, options.lengths, load)
        every = coverage(system, options.requests, options.repetitions, jobs=options.jobs)
        for requests, found in every.items():
            entries += found.values()
            cells = " | ".join(map(_cell, found.values()))
            print(f"| {slots} | {load:g} | {requests:,} | {cells} |", flush=True)
    reported = [each for each in entries if each.reported]
    missed = sum(not kept(each) for each in reported)
    print(f"{missed} of {len(reported)} entries with intervals miss the limits")
    return int(missed > BY_CHANCE * len(reported))


def kept(found: Coverage) -> bool:
    """Whether as many intervals as should hold the exact value, where there are any."""
    return found.share is None or LEAST <= found.share <= MOST


def _cell(found: Coverage) -> str:
    reported = f"{100 * found.reported / found.repetitions:.0f}"
    if found.share is None:
        return reported
    return f"{reported} / {100 * found.share:.1f}" + ("" if kept(found) else " *")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--slots", type=int, nargs="+", default=SLOTS)
    parser.add_argument("--lengths", default=LENGTHS)
    parser.add_argument("--loads", type=float, nargs="+", default=LOADS)
    parser.add_argument("--requests", type=int, nargs="+", default=REQUESTS)
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
