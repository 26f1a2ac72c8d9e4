"""How often intervals of waiting times hold the exact value, where it is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from analysis import sectioning
from analysis.estimate import Estimate
from analysis.latency import arrival_series
from analysis.queueing import slotted_fcfs
from analysis.statistic import MEAN, Statistic, quantiles
from policies import FCFS
from serving_sim import simulate
from workloads import make_workload, rate_for_load
from workloads.arrivals import Poisson
from workloads.lengths import Geometric

STATISTICS = (MEAN, *quantiles((50, 90, 99)))

LENGTHS = Geometric(10)

_WARM_UP = 2000


@dataclass(frozen=True)
class System:
    """First come, first served in slotted time, with geometric lengths of mean 10.

    Attributes
    ----------
    slots : int
        Most requests in a batch.
    load : float
        Fraction of the slots that is busy.
    requests : int
        Requests of a run behind its warm-up.
    """

    slots: int
    load: float
    requests: int

    @property
    def rate(self) -> float:
        """Requests per step."""
        return rate_for_load(self.load, slots=self.slots, mean_length=LENGTHS.mean)

    def exact(self) -> dict[str, float]:
        """The waiting time's mean and quantiles in steps, by name of the statistic."""
        waits = slotted_fcfs(self.slots, LENGTHS, self.rate).waits
        return {
            each.name: waits.mean_latency if each.probability is None else waits.quantile(each.probability)
            for each in STATISTICS
        }


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

    @property
    def wrong(self) -> float:
        """Part of all runs whose interval was reported and missed."""
        return (self.reported - self.held) / self.repetitions


def estimates(system: System, seed: int, repetition: int) -> list[Estimate]:
    """The estimates of one run, in the order of `STATISTICS`."""
    place = (system.slots, round(1000 * system.load), system.requests, repetition)
    workload = make_workload(
        system.requests + _WARM_UP,
        LENGTHS,
        Poisson(system.rate),
        np.random.SeedSequence(seed, spawn_key=place),
    )
    run = simulate(workload, FCFS(), slots=system.slots, slotted=True, engine="compiled")
    waits = arrival_series(run, "queue_time", _WARM_UP)
    return [sectioning.estimate(statistic, waits) for statistic in STATISTICS]


def coverage(
    system: System,
    repetitions: int,
    *,
    seed: int = 0,
    jobs: int = 1,
) -> dict[str, Coverage]:
    """Coverage of the nominal 95 % intervals of each statistic, over independent runs."""
    found: list[Any] = Parallel(n_jobs=jobs)(
        delayed(estimates)(system, seed, repetition) for repetition in range(repetitions)
    )
    exact = system.exact()
    return {
        statistic.name: _count([each[place] for each in found], statistic, exact)
        for place, statistic in enumerate(STATISTICS)
    }


def _count(found: list[Estimate], statistic: Statistic, exact: dict[str, float]) -> Coverage:
    ends = [(each.low, each.high) for each in found if each.low is not None and each.high is not None]
    held = sum(low <= exact[statistic.name] <= high for low, high in ends)
    return Coverage(len(found), len(ends), held)
