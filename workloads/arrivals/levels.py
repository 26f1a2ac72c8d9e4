"""Rates in proportion to each other, as text."""

from __future__ import annotations

import math

import numpy as np

from serving_sim.arguments import check_kind
from serving_sim.columns import FloatArray


def parse_levels(text: str) -> FloatArray:
    """Levels joined by ``+``, as in ``1+4+2.5``.

    Raises
    ------
    TypeError
        If it is no text.
    ValueError
        If one is not a finite number >= 0, or all are 0.
    """
    check_kind("levels", text, str, "a text such as '1+4+2.5'")
    levels = np.array([_level(text, part) for part in text.split("+")])
    if not levels.any():
        raise ValueError(f"levels={text!r}: must not all be 0")
    return levels


def round_of(levels: FloatArray, duration: float) -> float | None:
    """Time units that the shortest round of the levels lasts, None where all are alike.

    Parameters
    ----------
    levels : ndarray of float, shape (k,)
        Gone through over and over.
    duration : float
        Time units that each lasts.
    """
    sizes = (size for size in range(1, len(levels) + 1) if len(levels) % size == 0)
    shortest = next(size for size in sizes if np.array_equal(np.roll(levels, size), levels))
    return None if shortest == 1 else shortest * duration


def _level(levels: str, part: str) -> float:
    try:
        value = float(part)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(f"levels={levels!r}: must be finite numbers >= 0 joined by +, as in 1+4+2.5")
    return value
