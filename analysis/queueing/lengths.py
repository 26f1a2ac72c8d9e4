"""Probabilities of lengths."""

from __future__ import annotations

import math

import numpy as np

from serving_sim.request import FloatArray
from workloads.lengths import Fixed, Geometric, Lengths, Uniform

NEGLIGIBLE = 1e-14
"""Probability that is left out where a distribution has no end."""


def length_probabilities(lengths: Lengths) -> FloatArray:
    """P(length = k) for k = 0, 1, .. in tokens.

    Raises
    ------
    ValueError
        If the distribution is none of fixed, uniform and geometric.
    """
    if isinstance(lengths, Fixed):
        probabilities = np.zeros(lengths.length + 1)
        probabilities[-1] = 1.0
        return probabilities
    if isinstance(lengths, Uniform):
        probabilities = np.zeros(lengths.high + 1)
        probabilities[lengths.low :] = 1 / (lengths.high - lengths.low + 1)
        return probabilities
    if isinstance(lengths, Geometric):
        goes_on = 1 - 1 / lengths.mean
        longest = 1 if goes_on == 0 else math.ceil(math.log(NEGLIGIBLE) / math.log(goes_on))
        return np.concatenate([[0.0], goes_on ** np.arange(longest) / lengths.mean])
    raise ValueError(f"lengths={lengths!r}: must be fixed, uniform or geometric")
