"""Gaps with a stretched tail."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from serving_sim.arguments import is_finite
from serving_sim.columns import FloatArray
from workloads.arrivals.process import Renewal
from workloads.parameters import check_positive


@dataclass(frozen=True)
class Weibull(Renewal):
    """Independent Weibull gaps of mean ``1 / rate``: ``P(gap > x) = exp(-(x / scale)**shape)``.

    Parameters
    ----------
    rate : float
        Requests per time unit.
    shape : float
        1 is Poisson; below 1 the tail is heavier than exponential and arrivals are bursty, above 1
        they are smoother. At least 0.1, where the squared coefficient of variation is 184,755.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    rate: float
    shape: float

    def __post_init__(self) -> None:
        check_positive("rate", self.rate)
        if not (is_finite(self.shape) and self.shape >= 0.1):
            raise ValueError(f"shape={self.shape!r}: must be a finite number >= 0.1")

    @property
    def scv(self) -> float:
        """``G(1 + 2 / shape) / G(1 + 1 / shape)**2 - 1`` with G the gamma function."""
        return math.expm1(math.lgamma(1 + 2 / self.shape) - 2 * math.lgamma(1 + 1 / self.shape))

    def gaps(self, n: int, rng: np.random.Generator) -> FloatArray:
        scale = 1 / (self.rate * math.gamma(1 + 1 / self.shape))
        return scale * rng.weibull(self.shape, size=n)
