"""Least squares with coefficients that are not negative."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from serving_sim.request import FloatArray

_ITERATIONS = 100  # the 16 sets of coefficients that can be 0, and to spare

_ROUNDING = 1e-12  # of the largest term: what is below it no measurement has said


def least_squares(design: FloatArray, target: FloatArray) -> FloatArray:
    """The x >= 0 that minimises ``|design @ x - target|``, shape (k,).

    Lawson and Hanson (1974), "Solving least squares problems", chapter 23: a coefficient that would be
    negative is exactly 0.

    Parameters
    ----------
    design : ndarray of float, shape (n, k)
        Positive numbers.
    target : ndarray of float, shape (n,)
        Positive numbers.
    """
    # caches count thousands of tokens where batches count requests; one tolerance must do for both
    scale, unit = design.max(axis=0), target.max()
    # the triangle has the same solutions in at most k + 1 rows
    rows: FloatArray = np.column_stack([design / scale, target / unit])
    triangle = np.linalg.qr(rows).R
    solution, _ = nnls(triangle[:, :-1], triangle[:, -1], maxiter=_ITERATIONS)
    solution[solution < _ROUNDING * solution.max()] = 0
    return solution * unit / scale  # type: ignore[no-any-return]
