"""When requests arrive: release times in time units.

The processes are the true ones: gaps are drawn and added up, and nothing is rescaled afterwards to
make the last arrival fall where the rate would like it, which would no longer be Poisson.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from workloads.registry import Registry, unknown
from workloads.spec import parse

FloatArray = NDArray[np.float64]

ARRIVALS = Registry(
    kind="arrival process",
    prefix="arrivals",
    builtin={
        "backlog": "workloads.arrivals:Backlog",
        "fixed": "workloads.arrivals:FixedGaps",
        "poisson": "workloads.arrivals:Poisson",
        "gamma": "workloads.arrivals:Gamma",
        "batch": "workloads.arrivals:Batch",
    },
)


class Arrivals(Protocol):
    """A process of arrivals from time 0 on."""

    def releases(self, n: int, rng: np.random.Generator) -> FloatArray:
        """The first ``n`` release times in time units, shape (n,), in increasing order."""


def parse_arrivals(text: str, *, rate: float | None = None, burstiness: float | None = None) -> Arrivals:
    """The process that ``NAME:key=value,..`` names, such as ``gamma:rate=0.5,burstiness=0.25``.

    Parameters
    ----------
    text : str
        Name and parameters.
    rate, burstiness : float, optional
        Used where the process has such a parameter and the text does not give it.

    Raises
    ------
    ValueError
        If the text does not name a process with its parameters.
    """
    given = {"rate": rate, "burstiness": burstiness}
    defaults = {key: value for key, value in given.items() if value is not None}
    return cast("Arrivals", parse(text, ARRIVALS, defaults))


def rate_for_load(load: float, *, slots: int, mean_length: float, step_duration: float = 1.0) -> float:
    """Requests per time unit that keep the given fraction of the slots busy.

    Parameters
    ----------
    load : float
        Fraction of the slots, > 0; from 1 on the queue grows without bound.
    slots : int
        Requests served at once.
    mean_length : float
        Mean length in tokens.
    step_duration : float
        Time units a step takes, whatever the batch.

    Raises
    ------
    ValueError
        If an argument is not a finite number above 0.
    """
    for name, value in (("load", load), ("slots", slots), ("mean_length", mean_length)):
        _positive(name, value)
    _positive("step_duration", step_duration)
    return load * slots / (mean_length * step_duration)


@dataclass(frozen=True)
class Backlog:
    """All requests are there at time 0."""

    def releases(self, n: int, rng: np.random.Generator) -> FloatArray:
        """``n`` zeros; nothing is drawn from ``rng``."""
        return np.zeros(n)


@dataclass(frozen=True)
class FixedGaps:
    """A request at 0 and one every ``1 / rate`` time units after it."""

    rate: float

    def __post_init__(self) -> None:
        _positive("rate", self.rate)

    def releases(self, n: int, rng: np.random.Generator) -> FloatArray:
        """``0, 1 / rate, 2 / rate, ..``; nothing is drawn from ``rng``."""
        return np.arange(n) / self.rate


@dataclass(frozen=True)
class Poisson:
    """Independent exponential gaps of mean ``1 / rate``, the first one before the first request."""

    rate: float

    def __post_init__(self) -> None:
        _positive("rate", self.rate)

    def releases(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Sums of the gaps."""
        return np.cumsum(rng.exponential(1 / self.rate, size=n))


@dataclass(frozen=True)
class Gamma:
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
        _positive("rate", self.rate)
        _positive("burstiness", self.burstiness)

    def releases(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Sums of the gaps."""
        return np.cumsum(rng.gamma(self.burstiness, 1 / (self.rate * self.burstiness), size=n))


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
        _positive("rate", self.rate)
        if self.gaps not in _GROUPS:
            raise ValueError(unknown("gaps", self.gaps, _GROUPS))

    def releases(self, n: int, rng: np.random.Generator) -> FloatArray:
        """One release time per group, repeated; the last group may be cut short by ``n``."""
        groups = _GROUPS[self.gaps](self.rate / self.size)
        return np.repeat(groups.releases(-(-n // self.size), rng), self.size)[:n]


_GROUPS: dict[str, type[Poisson | FixedGaps]] = {"poisson": Poisson, "fixed": FixedGaps}


def _positive(name: str, value: float) -> None:
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"{name}={value!r}: must be a finite number > 0")
