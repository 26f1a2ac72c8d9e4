"""Renewal processes that have run for ever before time 0, drawn as far as they are needed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from serving_sim.columns import FloatArray
from workloads.arrivals.gamma import Gamma

_FURTHER = 1.25
"""Growth of a horizon that was too near."""


class StationaryStream:
    """The requests of one process; how far they are asked for at a time does not change them."""

    def __init__(self, process: Gamma, rng: np.random.Generator) -> None:
        self._process = process
        self._rng = rng
        self._releases = np.array([process.residual(rng)])

    def until(self, horizon: float, most: int) -> FloatArray:
        """Releases up to ``horizon``, in time units, but no more than the first ``most``."""
        while self._releases[-1] <= horizon and len(self._releases) < most:
            expected = self._process.rate * (horizon - self._releases[-1])
            # at least doubled: gaps may be tiny for long and then huge
            more = min(most, max(expected, len(self._releases)) + 1)
            gaps = self._process.gaps(math.ceil(more), self._rng)
            # the sum goes on from the last release, so that its rounding does not depend on the horizon
            later = np.cumsum(np.concatenate([self._releases[-1:], gaps]))[1:]
            self._releases = np.concatenate([self._releases, later])
        return self._releases[: np.searchsorted(self._releases[:most], horizon, side="right")]


def superposed(
    processes: Sequence[Gamma], rngs: Sequence[np.random.Generator], n: int
) -> tuple[FloatArray, NDArray[np.int64]]:
    """The first ``n`` requests of several processes in one stream.

    Parameters
    ----------
    processes : sequence of Gamma
        At least one.
    rngs : sequence of Generator
        The random numbers of each.
    n : int
        Requests, >= 1.

    Returns
    -------
    release : ndarray of float, shape (n,)
        In time units, in increasing order.
    sender : ndarray of int, shape (n,)
        Place of the process that each comes from.
    """
    streams = [StationaryStream(process, rng) for process, rng in zip(processes, rngs, strict=True)]
    horizon = n / math.fsum(process.rate for process in processes)
    parts = [stream.until(horizon, n) for stream in streams]
    while sum(map(len, parts)) < n:
        horizon *= _FURTHER
        parts = [stream.until(horizon, n) for stream in streams]
    release = np.concatenate(parts)
    # equal releases, which have no chance but with rounding, come in the order of the processes
    first = np.argsort(release, kind="stable")[:n]
    return release[first], np.repeat(np.arange(len(parts)), [len(part) for part in parts])[first]
