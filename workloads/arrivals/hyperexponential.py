"""Gaps that are either short or long."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from serving_sim.arguments import is_real
from serving_sim.columns import FloatArray
from workloads.arrivals.process import Renewal
from workloads.parameters import check_positive


@dataclass(frozen=True)
class Hyperexponential(Renewal):
    """Independent gaps, each exponential with one of two rates, by rate and variation.

    Two moments leave one parameter open; it is set by balanced means: both phases contribute half of
    the mean gap. A gap is short, of rate ``2 p rate``, with probability p and else of rate
    ``2 (1 - p) rate``, with ``p = (1 + sqrt((scv - 1) / (scv + 1))) / 2`` (Whitt 1982, "Approximating a
    point process by a renewal process, I", section 3).

    Parameters
    ----------
    rate : float
        Requests per time unit.
    scv : float
        Squared coefficient of variation of the gaps, >= 1; 1 is Poisson.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    rate: float
    scv: float

    def __post_init__(self) -> None:
        check_positive("rate", self.rate)
        if not (is_real(self.scv) and 1 <= self.scv <= 1e6):
            raise ValueError(f"scv={self.scv!r}: must be a number from 1 to 1e6")

    @property
    def short_share(self) -> float:
        """Probability p that a gap is a short one."""
        return (1 + math.sqrt((self.scv - 1) / (self.scv + 1))) / 2

    def gaps(self, n: int, rng: np.random.Generator) -> FloatArray:
        share = self.short_share
        short = rng.random(n) < share
        return rng.exponential(size=n) * np.where(short, 0.5 / share, 0.5 / (1 - share)) / self.rate
