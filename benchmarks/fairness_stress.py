"""Does ISJL ever put two requests more than alpha tokens apart? Random instances, as many as you like.

    python benchmarks/fairness_stress.py                          # 100,000 instances
    python benchmarks/fairness_stress.py --instances 1000000 --seed 7 --workers 8

Each instance follows from the seed and its number alone: 1 to 8 slots, up to 48 requests, lengths
uniform, heavy-tailed or just around alpha and 2 alpha (where phase ONE decides), backlogs, bursts and
releases in the middle of steps, any beta, predictions from perfect to useless. Gaps are checked twice: by
the audit of the engine, and from the dates of the requests alone. `isjl-as-printed` serves the same
instances, to show how many of them are of the kind that the guard is for. Exit code 1 on a violation.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from time import perf_counter

import numpy as np

from policies import ISJL, ISJLAsPrinted, RobustISJL
from serving_sim import Run, Workload, simulate
from serving_sim.request import FloatArray, IntArray

CHUNK = 500


@dataclass(frozen=True)
class Trial:
    """An instance and the parameters of the policies."""

    workload: Workload
    slots: int
    alpha: int
    beta: float | str | None
    slotted: bool


def draw(seed: int, number: int) -> Trial:
    """The instance of that number."""
    rng = np.random.default_rng([seed, number])
    count = int(rng.integers(1, 49))
    alpha = int(rng.choice([0, 1, 2, 3, 5, 10, 30, 100]))
    length = _lengths(rng, count, alpha)
    upper = np.maximum(
        length, (length * (1 + rng.exponential(rng.choice([0, 0.2, 2]), count))).astype(np.int64)
    )
    beta: float | str | None = [None, "optimal", float(rng.uniform(0, 2 * alpha))][rng.integers(3)]
    slots = int(rng.integers(1, 9))
    release = _releases(rng, count, span=length.sum() / slots)
    return Trial(Workload(release, length, upper=upper), slots, alpha, beta, slotted=bool(rng.random() < 0.1))


def _lengths(rng: np.random.Generator, count: int, alpha: int) -> IntArray:
    longest = int(rng.choice([3, 10, 40, 200]))
    kind = rng.integers(3)
    if kind == 0:
        return rng.integers(1, longest, count, endpoint=True)
    if kind == 1:
        return np.ceil(longest / 4 * rng.pareto(1.2, count) + 1e-9).clip(1, 20 * longest).astype(np.int64)
    around = rng.choice([alpha // 2, alpha, 2 * alpha, 3 * alpha], count) + rng.integers(-2, 3, count)
    return np.maximum(around, 1)


def _releases(rng: np.random.Generator, count: int, span: float) -> FloatArray:
    kind = rng.integers(4)
    if kind == 0:
        return np.zeros(count)
    # in 64ths of a step all dates are exact, and so are their differences
    times = np.floor(64 * rng.uniform(0, span * rng.choice([0.2, 1, 3]), count)) / 64
    if kind == 1:
        return times
    if kind == 2:
        return np.floor(times)
    return rng.choice(times[: 1 + count // 8], count)  # bursts


def gap_of(run: Run) -> float:
    """Largest distance of starts of two requests that run together: a gap, since steps take one unit."""
    start, finish = run.start, run.finish
    together = (start[:, None] < finish) & (start < finish[:, None])
    return float(np.max(np.abs(start[:, None] - start), where=together, initial=0.0))


def run_chunk(numbers: range, *, seed: int, engine: str) -> Counter[str]:
    """Serve the instances of those numbers and count what happened."""
    counts: Counter[str] = Counter()
    for number in numbers:
        trial = draw(seed, number)
        counts.update(instances=1, requests=len(trial.workload))
        for policy in (ISJL(trial.alpha, trial.beta), RobustISJL(trial.alpha, trial.beta)):
            run = serve(trial, policy, engine)
            gap = max(run.max_gap, gap_of(run))
            if gap > trial.alpha or run.audit.violations:
                print(
                    f"violation: {policy.describe()}, gap {gap}, --seed {seed}, instance {number}", flush=True
                )
            counts[f"{policy.name} runs"] += 1
            counts[f"{policy.name} violations"] += gap > trial.alpha or run.audit.violations > 0
            counts[f"{policy.name} runs whose largest gap is alpha"] += gap == trial.alpha > 0
        printed = serve(trial, ISJLAsPrinted(trial.alpha), engine)
        counts["isjl-as-printed violations"] += printed.audit.violations > 0
    return counts


def serve(trial: Trial, policy: ISJL | ISJLAsPrinted, engine: str) -> Run:
    """One run of a policy."""
    return simulate(
        trial.workload,
        policy,
        slots=trial.slots,
        alpha=trial.alpha,
        slotted=trial.slotted,
        engine=engine,  # type: ignore[arg-type]
    )


def main() -> int:
    """Print the counts; 1 if there was a violation."""
    options = _options()
    begun = perf_counter()
    total: Counter[str] = Counter()
    job = partial(run_chunk, seed=options.seed, engine=options.engine)
    with ProcessPoolExecutor(options.workers) as pool:
        for counts in pool.map(job, _chunks(options.instances)):
            total += counts
    for name, count in total.items():
        print(f"{name:<50}{count:>12,}")
    violations = total["isjl violations"] + total["robust-isjl violations"]
    print(f"{'violations of isjl and robust-isjl':<50}{violations:>12,}")
    print(f"{'seconds':<50}{perf_counter() - begun:>12,.0f}")
    return int(violations > 0)


def _chunks(instances: int) -> Iterator[range]:
    for first in range(0, instances, CHUNK):
        yield range(first, min(first + CHUNK, instances))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--instances", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--engine", choices=("auto", "simpy", "compiled"), default="auto")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
