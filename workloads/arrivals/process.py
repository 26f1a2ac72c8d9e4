"""What an arrival process is, and what it states about itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol, runtime_checkable

import numpy as np

from serving_sim.columns import FloatArray


@runtime_checkable
class Arrivals(Protocol):
    """A process of arrivals from time 0 on."""

    def releases(self, n: int, rng: np.random.Generator) -> FloatArray:
        """The first ``n`` release times in time units, shape (n,), in increasing order."""


class PointProcess(Arrivals, Protocol):
    """Arrivals that go on for ever at a known pace: every built-in process but backlog and profile.

    The numbers are exact for the process in its steady state, where it has run for ever, but for
    what a process says of its own.
    """

    @property
    def rate(self) -> float:
        """Mean requests per time unit."""

    @property
    def scv(self) -> float:
        """Squared coefficient of variation of the gaps, their variance over their mean squared."""

    @property
    def dispersion(self) -> float:
        """Limiting index of dispersion of counts: Var N(t) / E N(t) as t grows without bound.

        It tells how bursty arrivals are over long times, where the gaps alone tell how bursty they
        are from one to the next (Cox and Lewis 1966, "The statistical analysis of series of events").
        """

    @property
    def rhythm(self) -> float | None:
        """Time units after which the rate begins anew, as a day does; None where it has no such pattern.

        Over less than many whole rounds a mean is that of the hours that were met. Of a rate that changes
        and never begins anew it is infinite: there is no long run.
        """


class Renewal(ABC):
    """Independent gaps of one distribution, the first one before the first request."""

    @abstractmethod
    def gaps(self, n: int, rng: np.random.Generator) -> FloatArray:
        """``n`` independent gaps in time units, shape (n,)."""

    @property
    def dispersion(self: PointProcess) -> float:
        """`scv`: counts of a renewal process have no other memory."""
        return self.scv

    @property
    def rhythm(self) -> float | None:
        """None: all gaps are alike."""
        return None

    def releases(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Sums of the gaps."""
        return np.cumsum(self.gaps(n, rng))


def requests_a_round(arrivals: Arrivals) -> float | None:
    """Requests that come in one round of the `PointProcess.rhythm`; None without one, or without a rate.

    Processes of one's own need state neither.
    """
    rate: float | None = getattr(arrivals, "rate", None)
    rhythm: float | None = getattr(arrivals, "rhythm", None)
    return None if rate is None or rhythm is None else rate * rhythm
