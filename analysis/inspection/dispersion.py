"""How bursty arrivals are at each time scale."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from analysis.inspection.windows import round_widths, windows_of
from serving_sim.request import FloatArray

_LEAST_WINDOWS = 20
"""Windows below which a variance of counts says little: its relative error is sqrt(2 / 19) = 0.3."""


@dataclass(frozen=True)
class Dispersion:
    """Counts of arrivals in windows of one width.

    Attributes
    ----------
    width : float
        Time units.
    windows : int
        Disjoint windows, all of full width.
    mean : float
        Requests in a window.
    index : float
        Variance of the counts over their mean: 1 for Poisson at every width, 0 for a clockwork,
        above 1 where arrivals cluster on this scale.
    """

    width: float
    windows: int
    mean: float
    index: float


def dispersion_of_counts(
    release: FloatArray, *, seconds: float | None = None, span: float | None = None
) -> list[Dispersion]:
    """Index of dispersion of counts at round widths, from about a mean gap on.

    Parameters
    ----------
    release : ndarray of float, shape (n,)
        Release times in time units, sorted.
    seconds : float, optional
        Seconds in a time unit, where that is known: widths are then round numbers of seconds.
    span : float, optional
        Time units from 0 on in which these requests came and no others, where that is known: windows
        then begin at 0 and go on to its end. Without it they go from the first to the last request.

    Returns
    -------
    list of Dispersion
        The widest has at least 20 windows; what comes behind the last full window is not counted.
        Empty where the requests are too few or come at once.

    Notes
    -----
    Cox and Lewis (1966), "The statistical analysis of series of events", section 4.5. A renewal
    process levels off at the squared coefficient of variation of its gaps; where the curve goes on
    rising, gaps are correlated or the rate drifts.
    """
    scale = 1.0 if seconds is None else seconds
    begin, end = (float(release[0]), float(release[-1])) if span is None else (0.0, span)
    whole = (end - begin) * scale
    least, most = whole / len(release), whole / _LEAST_WINDOWS
    if not 0 < least < most < math.inf:
        return []
    widths = round_widths(least, most, seconds=seconds is not None)
    return [_dispersion(release, width / scale, begin, end) for width in widths]


def _dispersion(release: FloatArray, width: float, begin: float, end: float) -> Dispersion:
    place = windows_of(release, width, begin)
    windows = int(windows_of(np.array([end]), width, begin)[0])
    counts = np.bincount(place[place < windows].astype(np.int64), minlength=windows)
    mean = float(counts.mean())
    return Dispersion(width, windows, mean, float(counts.var(ddof=1)) / mean)
