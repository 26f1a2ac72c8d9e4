"""Chains on the whole numbers from 0."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from analysis.queueing.lengths import NEGLIGIBLE
from serving_sim.request import FloatArray


def stationary(moves: Callable[[int], FloatArray], size: int) -> FloatArray:
    """Stationary probabilities of a chain that is cut where they become negligible.

    Parameters
    ----------
    moves : callable
        P(x becomes y) for x and y below a number of states, as a square matrix.
    size : int
        Half of the states to begin with.
    """
    while True:
        size *= 2
        equations = moves(size).T - np.eye(size)
        equations[-1] = 1.0  # the last balance follows from the others; probabilities add up to 1 instead
        found: FloatArray = np.linalg.solve(equations, np.eye(1, size, size - 1)[0])
        if found[-size // 4 :].sum() < NEGLIGIBLE * size:
            return np.maximum(found, 0.0)
