"""How many optima are proved in time, and how close the lower bounds come.

    python benchmarks/optimum.py                      # a table by n, slots and alpha
    python benchmarks/optimum.py --solver milp --sizes 6 8 10

Lengths are uniform on 1 .. 30; releases are 0 or, in the second table, uniform up to the time that all
slots together need for the work. Each instance follows from n, slots, alpha and its number alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median

import numpy as np

from analysis.bounds import Pool, best_lower_bound
from analysis.bounds.steps import BOUNDS
from analysis.optimum import Optimum, optimum
from analysis.optimum.deadline import Deadline
from analysis.optimum.instance import Instance
from analysis.optimum.solve import first_bracket

LONGEST = 30


@dataclass(frozen=True)
class Trial:
    """One instance and what is known about it."""

    instance: Instance
    found: Optimum
    heuristic: int
    best: int
    bounds: dict[str, int]


def main() -> None:
    """Print both tables, each with the tightness of the bounds below it."""
    options = _options()
    for released in (False, True):
        print("\n## Releases over the time of the work\n" if released else "## All released at 0\n")
        print("| n | slots | alpha | proved | median seconds | largest gap left |")
        print("| ---: | ---: | ---: | ---: | ---: | ---: |")
        trials = []
        for n, slots, alpha in _grid(options.sizes):
            cell = [_trial(n, slots, alpha, k, options, released=released) for k in range(options.instances)]
            print(_row(n, slots, alpha, cell), flush=True)
            trials += cell
        print(_tightness([trial for trial in trials if trial.found.proven], released=released))


def _grid(sizes: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    for n in sizes:
        for slots in (2, 3, 4):
            for alpha in (3, 8, 15):
                yield n, slots, alpha


def _trial(
    n: int, slots: int, alpha: int, number: int, options: argparse.Namespace, *, released: bool
) -> Trial:
    rng = np.random.default_rng([n, slots, alpha, number, released])
    lengths = rng.integers(1, LONGEST + 1, n)
    latest = int(lengths.sum()) // slots if released else 0
    instance = Instance.of(lengths, slots, alpha, rng.integers(0, latest + 1, n))
    found = optimum(
        instance.lengths,
        slots,
        alpha,
        instance.releases,
        solver=options.solver,
        time_limit=options.seconds,
        workers=options.workers,
    )
    best = best_lower_bound(instance.lengths, slots, alpha, instance.releases)
    pool = Pool(lengths, slots, alpha)
    return Trial(
        instance,
        found,
        heuristic=first_bracket(instance, Deadline(options.seconds)).upper,
        best=int(best.value),
        bounds={name: bound(pool) for name, bound in BOUNDS.items()},
    )


def _row(n: int, slots: int, alpha: int, cell: list[Trial]) -> str:
    proved = [trial.found for trial in cell if trial.found.proven]
    gap = max(trial.found.upper - trial.found.lower for trial in cell)
    seconds = median(trial.found.seconds for trial in cell)
    return f"| {n} | {slots} | {alpha} | {len(proved)} of {len(cell)} | {seconds:.2f} | {gap or ''} |"


def _tightness(proved: list[Trial], *, released: bool) -> str:
    ratios = {"best": [trial.best / trial.found.upper for trial in proved]}
    if not released:
        ratios |= {name: [trial.bounds[name] / trial.found.upper for trial in proved] for name in BOUNDS}
    ratios["optimum / quick schedule"] = [trial.found.upper / trial.heuristic for trial in proved]
    return "\n".join(
        [
            f"\nAgainst {len(proved)} proved optima:\n",
            "| bound | equal | bound / optimum, mean | least |",
            "| --- | ---: | ---: | ---: |",
            *(_share(name, values) for name, values in ratios.items()),
        ]
    )


def _share(name: str, ratios: list[float]) -> str:
    equal = fmean(ratio == 1 for ratio in ratios)
    return f"| {name} | {equal:.0%} | {fmean(ratios):.4f} | {min(ratios):.3f} |"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[8, 10, 12, 14, 16, 20], metavar="N")
    parser.add_argument("--instances", type=int, default=10, help="instances of each kind")
    parser.add_argument("--solver", choices=["cp-sat", "milp"], default="cp-sat")
    parser.add_argument("--seconds", type=float, default=10.0, help="time limit of one instance")
    parser.add_argument("--workers", type=int, default=1, help="threads of CP-SAT")
    return parser.parse_args()


if __name__ == "__main__":
    main()
