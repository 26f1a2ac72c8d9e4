"""Windows of time in which requests are counted, of widths that one can say."""

from __future__ import annotations

import math

import numpy as np

from serving_sim.request import FloatArray

_ROUNDING = 1e-9
"""Of a window: a request on its border must not fall into the one before."""

_DIGITS = (1, 2, 5)
_OF_CLOCKS = (15, 30, 60, 120, 300, 900, 1800, 3600, 7200, 21_600, 43_200)
_DAY = 86_400

_STEP = 3.0
"""No round width is more than so many times the one before."""


def windows_of(release: FloatArray, width: float, begin: float | None = None) -> FloatArray:
    """Window of each request, counted in whole numbers from ``begin``, else from the first release on.

    Parameters
    ----------
    release : ndarray of float, shape (n,)
        Sorted release times.
    width : float
        Of a window, > 0, in the unit of the releases.
    begin : float, optional
        Where the first window begins.
    """
    place: FloatArray = np.floor((release - (release[0] if begin is None else begin)) / width + _ROUNDING)
    return place


def round_widths(least: float, most: float, *, seconds: bool) -> list[float]:
    """Round widths from ``least`` to ``most``, both > 0 and finite, in growing order.

    They are 1, 2 and 5 times powers of ten; of ``seconds`` those from 15 on divide minutes, hours or
    days, or are such numbers of days.
    """
    if not seconds:
        return _decimal(least, most)
    return [
        *_decimal(least, min(most, _DIGITS[-1])),
        *(float(width) for width in _OF_CLOCKS if least <= width <= most),
        *(_DAY * days for days in _decimal(max(least / _DAY, 1), most / _DAY)),
    ]


def round_width(least: float, *, seconds: bool) -> float:
    """The first of `round_widths` from ``least`` on."""
    return round_widths(least, _STEP * least, seconds=seconds)[0]


def _decimal(least: float, most: float) -> list[float]:
    powers = range(math.floor(math.log10(least)), math.floor(math.log10(most)) + 1)
    widths = (float(f"{digit}e{power}") for power in powers for digit in _DIGITS)
    return [width for width in widths if least <= width <= most]
