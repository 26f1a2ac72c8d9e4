"""Gaps as the load generators of serving systems draw them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from serving_sim.columns import FloatArray
from workloads.arrivals.process import Renewal
from workloads.parameters import check_positive


@dataclass(frozen=True)
class Gamma(Renewal):
    """Independent gamma gaps of mean ``1 / rate``, the first one before the first request.

    Parameters
    ----------
    rate : float
        Requests per time unit.
    burstiness : float
        Shape of the gaps: their squared coefficient of variation is ``1 / burstiness``. 1 is Poisson,
        below 1 burstier, above 1 smoother, as in the load generators of serving systems.

    Raises
    ------
    ValueError
        If a parameter is not a finite number above 0.
    """

    rate: float
    burstiness: float = 1.0

    def __post_init__(self) -> None:
        check_positive("rate", self.rate)
        check_positive("burstiness", self.burstiness)

    @property
    def scv(self) -> float:
        """``1 / burstiness``."""
        return 1 / self.burstiness

    def gaps(self, n: int, rng: np.random.Generator) -> FloatArray:
        return rng.gamma(self.burstiness, 1 / (self.rate * self.burstiness), size=n)

    def residual(self, rng: np.random.Generator) -> float:
        """Time from an instant chosen without regard to the requests to the next one, in time units.

        The instant lies in a gap with odds in proportion to its size, and evenly within it (Cox 1962,
        "Renewal theory", section 5.4); gamma gaps so weighted have a shape larger by 1.
        """
        return rng.random() * rng.gamma(self.burstiness + 1, 1 / (self.rate * self.burstiness))
