"""Several slots, geometric lengths."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from analysis.queueing.chain import stationary
from analysis.queueing.lengths import NEGLIGIBLE
from serving_sim.request import FloatArray


def memoryless_lengths(slots: int, ends: float, rate: float) -> Callable[[float], FloatArray]:
    """P(D = m) for an arrival at an instant of its step, see `SlottedLatency`.

    The requests X in the system when a step begins: X' = X - Binomial(min(X, B), q) + Poisson.

    While a request waits, all slots are busy, so within m steps Binomial(m B, q) of those before it
    leave; it has not started yet if at least B of them are left.
    """
    present = stationary(partial(_moves, slots, ends, rate), 4 * slots)
    size = len(present)
    stays = present @ _remain(slots, ends, size)

    def ahead(instant: float) -> FloatArray:
        """P(slots + j requests are ahead), j = 0, 1, .."""
        comes = stats.poisson.pmf(np.arange(size), rate * instant)
        before: FloatArray = np.convolve(stays, comes)[slots:size]
        return before

    def waiting_after(steps: NDArray[np.int64]) -> FloatArray:
        """P(at most j of them leave), a row for each number of steps."""
        trials = slots * steps[:, np.newaxis]
        return np.array(stats.binom.cdf(np.arange(size - slots), trials, ends), dtype=np.float64)

    most = 16
    while float(waiting_after(np.array([most]))[0] @ ahead(1.0)) > NEGLIGIBLE * size:
        most *= 2
    waiting = waiting_after(np.arange(most + 1))

    def delay(instant: float) -> FloatArray:
        return -np.diff(waiting @ ahead(instant), prepend=1.0)

    return delay


def _moves(slots: int, ends: float, rate: float, size: int) -> FloatArray:
    """P(x requests become y) from the beginning of a step to that of the next."""
    comes = stats.poisson.pmf(np.arange(size), rate)
    joined = np.stack([np.concatenate([np.zeros(stays), comes[: size - stays]]) for stays in range(size)])
    moved: FloatArray = _remain(slots, ends, size) @ joined
    return moved


def _remain(slots: int, ends: float, size: int) -> FloatArray:
    """P(y of x requests remain after the step)."""
    rows = np.zeros((size, size))
    for present in range(size):
        served = min(present, slots)
        gone = stats.binom.pmf(np.arange(served + 1), served, ends)
        rows[present, present - served : present + 1] = gone[::-1]
    return rows
