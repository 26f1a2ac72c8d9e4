"""Probabilities of lengths."""

from __future__ import annotations

import math

import numpy as np

from serving_sim.request import FloatArray
from workloads.lengths import Fixed, Geometric, Lengths, Lognormal, Uniform

NEGLIGIBLE = 1e-14
"""Probability that is left out where a distribution has no end."""

_LONGEST = 2**22
"""Tokens up to which probabilities are listed."""


def length_probabilities(lengths: Lengths) -> FloatArray:
    """P(length = k) for k = 0, 1, .. in tokens.

    Raises
    ------
    ValueError
        If the distribution is none of fixed, uniform, geometric and lognormal, or a lognormal one so
        skewed that more than a negligible share lies beyond 2**22 tokens.
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
    if isinstance(lengths, Lognormal):
        return _lognormal(lengths)
    raise ValueError(f"lengths={lengths!r}: must be fixed, uniform, geometric or lognormal")


def _lognormal(lengths: Lognormal) -> FloatArray:
    longest = 1
    while lengths.probability_above(np.array([longest]))[0] > NEGLIGIBLE:
        longest *= 2
    if longest > _LONGEST:
        raise ValueError(f"lengths={lengths!r}: must hardly ever be above {_LONGEST:,} tokens")
    above = lengths.probability_above(np.arange(1, longest + 1))
    return np.concatenate([[0.0], -np.diff(above, prepend=1.0)])
