"""Latency in slotted time, from the delay that a request meets."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.polynomial import legendre
from scipy.optimize import brentq

from serving_sim.request import FloatArray

_NODES = 10
"""Instants within a step at which arrivals are looked at; what happens is analytic in the instant."""


class SlottedLatency:
    """Distribution of waits and latencies where an empty worker, too, starts at whole times only.

    An arrival at the instant x within a step, uniform on (0, 1), waits 1 - x for the end of the step
    and D whole steps more; D depends on x, since others may have come before it in the same step.

    Parameters
    ----------
    delay : callable
        P(D = m) for m = 0, 1, .., given x.
    lengths : ndarray of float
        P(length = k) for k = 0, 1, ..
    """

    def __init__(self, delay: Callable[[float], FloatArray], lengths: FloatArray) -> None:
        self._delay = delay
        self._lengths = lengths
        roots, weights = legendre.leggauss(_NODES)
        self._instants, self._weights = (roots + 1) / 2, weights / 2

    @cached_property
    def _delays(self) -> FloatArray:
        """P(D = m) at each instant, shape (instants, most steps)."""
        rows = [self._delay(float(instant)) for instant in self._instants]
        most = max(map(len, rows))
        return np.stack([np.pad(row, (0, most - len(row))) for row in rows])

    @cached_property
    def _whole(self) -> FloatArray:
        """P(D + length = k) at each instant, shape (instants, most steps)."""
        return np.stack([np.convolve(row, self._lengths) for row in self._delays])

    @property
    def waits(self) -> SlottedLatency:
        """The distribution of the wait alone: the latency of requests of no length."""
        return SlottedLatency(self._delay, np.ones(1))

    @property
    def mean_wait(self) -> float:
        """Mean of start - release, in steps."""
        delays = self._weights @ self._delays
        return 0.5 + float(delays @ np.arange(len(delays)))

    @property
    def mean_latency(self) -> float:
        """Mean of finish - release, in steps."""
        return self.mean_wait + float(self._lengths @ np.arange(len(self._lengths)))

    @property
    def delayed(self) -> float:
        """Probability that a request does not start with the first step after its release."""
        return 1 - float(self._weights @ self._delays[:, 0])

    def quantile(self, probability: float) -> float:
        """The latency in steps that a share ``probability`` of the requests does not exceed.

        A latency is at most k + s, with k whole and 0 <= s < 1, if D + length is below k, or is k and
        the request came late in its step: 1 - x <= s.
        """
        below = np.cumsum(self._weights @ self._whole)
        whole = int(np.searchsorted(below, probability))
        missing = probability - (below[whole - 1] if whole else 0.0)
        # P(D + length = k | x) as a polynomial in 2 x - 1, and its integral over x from 1 - s to 1
        fitted = legendre.legfit(2 * self._instants - 1, self._whole[:, whole], _NODES - 1)
        integral = legendre.legint(fitted, scl=0.5)

        def excess(part: float) -> float:
            late = legendre.legval(1.0, integral) - legendre.legval(1 - 2 * part, integral)
            return float(late) - missing

        return whole + float(brentq(excess, 0.0, 1.0))
