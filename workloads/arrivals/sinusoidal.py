"""Day and night."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from serving_sim.arguments import is_real
from serving_sim.columns import FloatArray
from workloads.arrivals.thinning import scv_of_periodic_gaps, thinned
from workloads.parameters import check_positive

_PARTS = 4096
"""Parts of a period in which the intensity counts as constant where a formula needs an integral."""


@dataclass(frozen=True)
class SinusoidalPoisson:
    """Poisson arrivals of intensity ``rate * (1 + swing * sin(2 pi t / period))``.

    Parameters
    ----------
    rate : float
        Requests per time unit over a whole period.
    swing : float
        From 0 (Poisson) to 1 (nobody at the quietest instant).
    period : float
        Duration of a day in time units.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    rate: float
    swing: float
    period: float

    def __post_init__(self) -> None:
        check_positive("rate", self.rate)
        check_positive("period", self.period)
        if not (is_real(self.swing) and 0 <= self.swing <= 1):
            raise ValueError(f"swing={self.swing!r}: must be a number from 0 to 1")

    @property
    def scv(self) -> float:
        """Over all gaps of a period; near ``2 / sqrt(1 - swing**2) - 1`` where a period has many.

        An integral over 4,096 parts of the period. The relative error is below 1e-4 up to 10**5
        requests a period; beyond, with a swing of 1, it rises to about 1e-3 at 10**7.
        """
        middles = (np.arange(_PARTS, dtype=np.float64) + 0.5) * (self.period / _PARTS)
        return scv_of_periodic_gaps(self._intensity(middles), self.period / _PARTS)

    @property
    def dispersion(self) -> float:
        """1: over many periods the ups and downs cancel; within one they do not."""
        return 1.0

    @property
    def rhythm(self) -> float | None:
        """The period; None without a swing."""
        return self.period if self.swing else None

    def releases(self, n: int, rng: np.random.Generator) -> FloatArray:
        """By thinning, from the mean intensity upwards at time 0."""
        peak = self.rate * (1 + self.swing)
        return thinned(n, rng, intensity=self._intensity, peak=peak, rate=self.rate)

    def _intensity(self, instants: FloatArray) -> FloatArray:
        wave: FloatArray = np.sin(instants * (2 * math.pi / self.period))
        return self.rate * (1 + self.swing * wave)
