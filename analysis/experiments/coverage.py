"""How often intervals of waiting times hold the exact value, where it is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from joblib import delayed

from analysis import sectioning, workers
from analysis.estimate import Estimate
from analysis.experiments.validation.system import System
from analysis.latency import arrival_series
from analysis.metric_memory import memory_of_metric
from analysis.queueing import slotted_fcfs
from analysis.stability import WorkRates, judge
from analysis.statistic import MEAN, quantiles

STATISTICS = (MEAN, *quantiles((50, 90, 99)))

_WARM_UP = 2000

_POISSON = 1.0  # index of dispersion


@dataclass(frozen=True)
class Coverage:
    """What became of the intervals of one statistic.

    Attributes
    ----------
    repetitions, reported, held : int
        Runs; those whose guard let an interval pass; those of them that held the exact value.
    """

    repetitions: int
    reported: int
    held: int

    @property
    def share(self) -> float | None:
        """Part of the reported intervals that held the exact value, None where none was reported."""
        return self.held / self.reported if self.reported else None


def exact_waits(system: System) -> dict[str, float]:
    """Mean and quantiles in steps of the wait under first come, first served, by name."""
    waits = slotted_fcfs(system.slots, system.distribution, system.rate).waits
    return {
        each.name: waits.mean_latency if each.probability is None else waits.quantile(each.probability)
        for each in STATISTICS
    }


def estimates(
    system: System, requests: Sequence[int], seed: int, repetition: int
) -> list[dict[str, Estimate]]:
    """The estimates of one run, from so many requests each behind its warm-up."""
    place = (system.slots, round(1000 * system.load), repetition)
    run = system.run(max(requests) + _WARM_UP, np.random.SeedSequence(seed, spawn_key=place))
    rates = WorkRates(system.rate * system.distribution.mean, dispersion=_POISSON)
    memory = memory_of_metric("queue_time", [run], judge(run, rates))
    waits = arrival_series(run, "queue_time", _WARM_UP)
    return [sectioning.estimates(STATISTICS, waits[:count], memory=memory) for count in requests]


def coverage(
    system: System, requests: Sequence[int], repetitions: int, *, seed: int = 0, jobs: int = 1
) -> dict[int, dict[str, Coverage]]:
    """Coverage of the nominal 95 % intervals of each statistic, over independent runs.

    Parameters
    ----------
    system : System
        First come, first served, Poisson arrivals.
    requests : sequence of int
        Requests behind the warm-up from which an interval is made. All are the first ones of the same runs.
    repetitions : int
        Runs.
    seed : int
        Where all randomness comes from.
    jobs : int
        Processes at most.

    Returns
    -------
    dict of int to dict of str to Coverage
        By number of requests and name of the statistic.
    """
    calls = [delayed(estimates)(system, requests, seed, repetition) for repetition in range(repetitions)]
    runs: list[list[dict[str, Estimate]]] = list(workers.results(calls, jobs))
    exact = exact_waits(system)
    return {
        count: {
            each.name: _count([of_run[place][each.name] for of_run in runs], exact[each.name])
            for each in STATISTICS
        }
        for place, count in enumerate(requests)
    }


def _count(found: list[Estimate], exact: float) -> Coverage:
    ends = [(each.low, each.high) for each in found if each.low is not None and each.high is not None]
    held = sum(low <= exact <= high for low, high in ends)
    return Coverage(len(found), len(ends), held)
