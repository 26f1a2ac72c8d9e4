"""Several slots, requests of one length."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats

from analysis.queueing.chain import stationary
from serving_sim.request import FloatArray


def equal_lengths(slots: int, length: int, rate: float) -> Callable[[float], FloatArray]:
    """P(D = m) for an arrival at an instant of its step, see `SlottedLatency`.

    The requests X in the system, seen every ``length`` steps: X' = (X - B)^+ + Poisson.

    Whoever is served at one instant is gone ``length`` later, and nobody else (Crommelin 1932, "Delay
    probability formulae when the holding times are constant"). A request has started r + q * length
    steps after the end of its step if fewer than (q + 1) B of those before it are in the system after
    r steps: those that were more than B at ``length`` steps earlier, and those that came since.
    """

    def moves(size: int) -> FloatArray:
        comes = stats.poisson.pmf(np.arange(size), rate * length)
        rows = np.zeros((size, size))
        for present in range(size):
            stays = max(present - slots, 0)
            rows[present, stays:] = comes[: size - stays]
        return rows

    present = stationary(moves, 4 * slots)
    stays = np.concatenate([[present[: slots + 1].sum()], present[slots + 1 :]])
    rounds = len(stays) // slots

    def delay(instant: float) -> FloatArray:
        beyond = np.empty((rounds, length))  # P(D > q * length + r)
        for steps in range(length):
            comes = stats.poisson.pmf(np.arange(len(stays)), rate * (length - steps - 1 + instant))
            ahead = np.cumsum(np.convolve(stays, comes))
            beyond[:, steps] = 1 - ahead[slots * np.arange(1, rounds + 1) - 1]
        return -np.diff(beyond.ravel(), prepend=1.0)

    return delay
