"""Predict each step by a fit that has not seen it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.steptime.least_squares import least_squares
from serving_sim.request import FloatArray, IntArray

FOLDS = 10


def predictions_held_out(
    design: FloatArray, measured: FloatArray, blocks: Sequence[IntArray], rng: np.random.Generator
) -> FloatArray:
    """What each step is predicted to take by the fit to the other nine folds, shape (n,).

    Whole blocks are held out: the neighbours of a step know too much of it.

    Parameters
    ----------
    design : ndarray of float, shape (n, k)
        What the coefficients are multiplied with.
    measured : ndarray of float, shape (n,)
        What is fitted.
    blocks : sequence of ndarray of int, at least 10
        The rows of each block.
    rng : Generator
        Deals the blocks to the folds.
    """
    predicted = np.empty(len(measured))
    for fold in np.array_split(rng.permutation(len(blocks)), FOLDS):
        out = np.concatenate([blocks[block] for block in fold])
        values = least_squares(np.delete(design, out, axis=0), np.delete(measured, out))
        predicted[out] = design[out] @ values
    return predicted
