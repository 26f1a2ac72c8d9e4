"""Requests that know nothing of each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from serving_sim.columns import FloatArray
from workloads.arrivals.process import Renewal
from workloads.parameters import check_positive


@dataclass(frozen=True)
class Poisson(Renewal):
    """Independent exponential gaps of mean ``1 / rate``, the first one before the first request.

    Raises
    ------
    ValueError
        If the rate is not a finite number above 0.
    """

    rate: float

    def __post_init__(self) -> None:
        check_positive("rate", self.rate)

    @property
    def scv(self) -> float:
        """1."""
        return 1.0

    def gaps(self, n: int, rng: np.random.Generator) -> FloatArray:
        return rng.exponential(1 / self.rate, size=n)
