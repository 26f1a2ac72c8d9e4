"""Requests that come together."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from workloads.arrivals.fixed import FixedGaps
from workloads.arrivals.poisson import Poisson
from workloads.arrivals.process import FloatArray, check_positive
from workloads.registry import unknown

_GROUPS: dict[str, type[Poisson | FixedGaps]] = {"poisson": Poisson, "fixed": FixedGaps}


@dataclass(frozen=True)
class Batch:
    """Requests in groups of ``size`` that share one release time.

    Parameters
    ----------
    size : int
        Requests in a group.
    rate : float
        Requests, not groups, per time unit.
    gaps : str
        ``poisson`` or ``fixed``: how the groups follow each other.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    size: int
    rate: float
    gaps: str = "poisson"

    def __post_init__(self) -> None:
        if not (isinstance(self.size, int | np.integer) and self.size >= 1):
            raise ValueError(f"size={self.size!r}: must be a whole number >= 1")
        check_positive("rate", self.rate)
        _check_gaps(self.gaps)

    @property
    def scv(self) -> float:
        """``size * (1 + g) - 1`` with g that of the gaps between groups: most gaps are 0."""
        return self.size * (1 + self._groups.scv) - 1

    @property
    def dispersion(self) -> float:
        """``size`` times that of the groups."""
        return self.size * self._groups.dispersion

    @property
    def _groups(self) -> Poisson | FixedGaps:
        return _GROUPS[self.gaps](self.rate / self.size)

    def releases(self, n: int, rng: np.random.Generator) -> FloatArray:
        """One release time per group, repeated; the last group may be cut short by ``n``."""
        return np.repeat(self._groups.releases(-(-n // self.size), rng), self.size)[:n]


@dataclass(frozen=True)
class GeometricBatch:
    """Requests in groups of random size that share one release time.

    Another member joins each group with the same probability again and again, so sizes are geometric
    on 1, 2, ..

    Parameters
    ----------
    mean_size : float
        Mean number of requests in a group.
    rate : float
        Requests, not groups, per time unit.
    gaps : str
        ``poisson`` or ``fixed``: how the groups follow each other.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    mean_size: float
    rate: float
    gaps: str = "poisson"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.mean_size) and 1 <= self.mean_size <= 1e9):
            raise ValueError(f"mean_size={self.mean_size!r}: must be a number from 1 to 1e9")
        check_positive("rate", self.rate)
        _check_gaps(self.gaps)

    @property
    def scv(self) -> float:
        """``mean_size * (1 + g) - 1`` with g that of the gaps between groups: most gaps are 0."""
        return self.mean_size * (1 + self._groups.scv) - 1

    @property
    def dispersion(self) -> float:
        """``mean_size`` times that of the groups, and ``mean_size - 1`` for the sizes.

        With G groups of mean size m and variance v up to t, Var N = E[G] v + Var(G) m^2, and
        v = m (m - 1).
        """
        return self.mean_size * self._groups.dispersion + self.mean_size - 1

    @property
    def _groups(self) -> Poisson | FixedGaps:
        return _GROUPS[self.gaps](self.rate / self.mean_size)

    def releases(self, n: int, rng: np.random.Generator) -> FloatArray:
        """One release time per group, repeated; the last group may be cut short by ``n``."""
        sizes = np.minimum(rng.geometric(1 / self.mean_size, size=n), n)  # n groups are always enough
        needed = int(np.searchsorted(np.cumsum(sizes), n)) + 1
        return np.repeat(self._groups.releases(needed, rng), sizes[:needed])[:n]


def _check_gaps(gaps: str) -> None:
    if gaps not in _GROUPS:
        raise ValueError(unknown("gaps", gaps, _GROUPS))
