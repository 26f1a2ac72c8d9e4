"""Other gaps between the same requests."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from serving_sim import Workload
from workloads.arrivals import rate_for_load
from workloads.parameters import check_positive
from workloads.shaping.shaping import Shaped, in_arrival_order


@dataclass(frozen=True)
class Rate:
    """All times stretched or squeezed by one factor, so that requests come at the given mean rate.

    The rate is (n - 1) / (last - first release): the pattern stays, lulls and bursts alike.

    Parameters
    ----------
    rate : float
        Requests per time unit, > 0.

    Raises
    ------
    ValueError
        If the rate is out of range or, when applied, all requests come at once or times grow beyond
        the largest number.
    """

    random: ClassVar[bool] = False
    rate: float

    def __post_init__(self) -> None:
        check_positive("rate", self.rate)

    def describe(self) -> str:
        return f"rate {self.rate:.4g}"

    def apply(self, workload: Workload, rng: np.random.Generator) -> Shaped:
        return _stretched(workload, self.rate, by=self.describe())


@dataclass(frozen=True)
class Load:
    """All times stretched or squeezed by one factor, so that the requests fill a share of the slots.

    Parameters
    ----------
    load : float
        Fraction of the slots that is busy, rate x mean length x step / slots, > 0.
    slots : int
        Requests served at once.
    step_duration : float
        Time units a step takes.

    Raises
    ------
    ValueError
        If a parameter is out of range or, when applied, all requests come at once.
    """

    random: ClassVar[bool] = False
    load: float
    slots: int
    step_duration: float = 1.0

    def __post_init__(self) -> None:
        self._rate(mean_length=1.0)

    def describe(self) -> str:
        return f"load {self.load:g} on {self.slots} slots"

    def apply(self, workload: Workload, rng: np.random.Generator) -> Shaped:
        rate = self._rate(workload.total_length / len(workload))
        shaped = _stretched(workload, rate, by=self.describe())
        return replace(shaped, note=f"rate {rate:.4g}, {shaped.note}")

    def _rate(self, mean_length: float) -> float:
        return rate_for_load(
            self.load, slots=self.slots, mean_length=mean_length, step_duration=self.step_duration
        )


@dataclass(frozen=True)
class ShuffleGaps:
    """The same gaps in random order before the same requests in their order.

    What is left of burstiness is in the distribution of single gaps: correlation between successive
    gaps, and between gaps and lengths, is gone. Served beside the workload as it came, it tells what
    that correlation costs.
    """

    random: ClassVar[bool] = True

    def describe(self) -> str:
        return "gaps shuffled"

    def apply(self, workload: Workload, rng: np.random.Generator) -> Shaped:
        ordered = in_arrival_order(workload)
        gaps = rng.permutation(np.diff(ordered.release))
        release = ordered.release[0] + np.concatenate([[0.0], np.cumsum(gaps)])
        return Shaped(replace(ordered, release=release))


def _stretched(workload: Workload, rate: float, by: str) -> Shaped:
    span = float(np.ptp(workload.release))
    if span == 0:
        raise ValueError(f"{by}: all requests come at once, there are no gaps to stretch")
    factor = (len(workload) - 1) / span / rate
    if not float(workload.release.max()) * factor < math.inf:
        raise ValueError(f"{by}: stretches times beyond the largest number")
    return Shaped(replace(workload, release=workload.release * factor), note=f"times x {factor:.4g}")
