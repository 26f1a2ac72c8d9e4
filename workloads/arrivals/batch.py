"""Requests that come together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from serving_sim.arguments import is_real, unknown
from serving_sim.columns import FloatArray
from workloads.arrivals.fixed import FixedGaps
from workloads.arrivals.poisson import Poisson
from workloads.parameters import check_count, check_positive

_GROUPS: dict[str, type[Poisson | FixedGaps]] = {"poisson": Poisson, "fixed": FixedGaps}


class GroupedArrivals(ABC):
    """Requests in groups that share one release time; subclasses say how large they are."""

    rate: float
    gaps: str

    def __post_init__(self) -> None:
        check_positive("rate", self.rate)
        if self.gaps not in _GROUPS:
            raise ValueError(unknown("gaps", self.gaps, _GROUPS))

    @property
    @abstractmethod
    def _mean(self) -> float:
        """Mean size of a group."""

    @property
    @abstractmethod
    def _spread(self) -> float:
        """Variance of the sizes over their mean."""

    @abstractmethod
    def _sizes(self, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Sizes of groups that hold at least ``n`` requests together."""

    @property
    def scv(self) -> float:
        """``m * (1 + g) - 1`` with m the mean size and g that of the gaps between groups: most gaps are 0."""
        return self._mean * (1 + self._groups.scv) - 1

    @property
    def dispersion(self) -> float:
        """The mean size times that of the groups, and the variance of the sizes over their mean.

        With G groups of mean size m and variance v up to t, Var N = E[G] v + Var(G) m^2.
        """
        return self._mean * self._groups.dispersion + self._spread

    @property
    def rhythm(self) -> float | None:
        """None: all gaps between groups are alike."""
        return None

    @property
    def _groups(self) -> Poisson | FixedGaps:
        return _GROUPS[self.gaps](self.rate / self._mean)

    def releases(self, n: int, rng: np.random.Generator) -> FloatArray:
        """One release time per group, repeated; the last group may be cut short by ``n``."""
        sizes = self._sizes(n, rng)
        needed = int(np.searchsorted(np.cumsum(sizes), n)) + 1
        return np.repeat(self._groups.releases(needed, rng), sizes[:needed])[:n]


@dataclass(frozen=True)
class Batch(GroupedArrivals):
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
        check_count("size", self.size)
        super().__post_init__()

    @property
    def _mean(self) -> float:
        return self.size

    @property
    def _spread(self) -> float:
        return 0

    def _sizes(self, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
        return np.full(-(-n // self.size), min(self.size, n), dtype=np.int64)


@dataclass(frozen=True)
class GeometricBatch(GroupedArrivals):
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
        if not (is_real(self.mean_size) and 1 <= self.mean_size <= 1e9):
            raise ValueError(f"mean_size={self.mean_size!r}: must be a number from 1 to 1e9")
        super().__post_init__()

    @property
    def _mean(self) -> float:
        return self.mean_size

    @property
    def _spread(self) -> float:
        return self.mean_size - 1  # the variance is m (m - 1)

    def _sizes(self, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
        return np.minimum(rng.geometric(1 / self.mean_size, size=n), n)  # n groups are always enough
