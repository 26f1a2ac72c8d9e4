"""Requests like clockwork."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from serving_sim.columns import FloatArray
from workloads.parameters import check_positive


@dataclass(frozen=True)
class FixedGaps:
    """A request at 0 and one every ``1 / rate`` time units after it.

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
        """0: all gaps are equal."""
        return 0.0

    @property
    def dispersion(self) -> float:
        """0: a count is never further than 1 from its mean."""
        return 0.0

    @property
    def rhythm(self) -> float | None:
        """None: all gaps are alike."""
        return None

    def releases(self, n: int, rng: np.random.Generator) -> FloatArray:
        """``0, 1 / rate, 2 / rate, ..``; nothing is drawn from ``rng``."""
        return np.arange(n) / self.rate
