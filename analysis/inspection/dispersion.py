"""How bursty arrivals are at each time scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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


def dispersion_of_counts(release: FloatArray) -> list[Dispersion]:
    """Index of dispersion of counts at widths that double, from about a mean gap on.

    Parameters
    ----------
    release : ndarray of float, shape (n,)
        Release times in time units, sorted.

    Returns
    -------
    list of Dispersion
        The widest has at least 20 windows. Empty where the requests are too few or come at once.

    Notes
    -----
    Cox and Lewis (1966), "The statistical analysis of series of events", section 4.5. A renewal
    process levels off at the squared coefficient of variation of its gaps; where the curve goes on
    rising, gaps are correlated or the rate drifts.
    """
    since = release - release[0]
    span = float(since[-1])
    doublings = int(np.log2(max(len(release) / _LEAST_WINDOWS, 1)))
    numbers = [2**k * _LEAST_WINDOWS for k in range(doublings, -1, -1)] if doublings else []
    if not numbers or span / numbers[0] == 0:
        return []
    return [_dispersion(since, span / windows, windows) for windows in numbers]


def _dispersion(since: FloatArray, width: float, windows: int) -> Dispersion:
    # the last request ends the span, and belongs to its last window
    place = np.minimum((since / width).astype(np.int64), windows - 1)
    counts = np.bincount(place, minlength=windows)
    mean = float(counts.mean())
    return Dispersion(width, windows, mean, float(counts.var(ddof=1)) / mean)
