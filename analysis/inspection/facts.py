"""Size, pace and peaks of a workload."""

from __future__ import annotations

import math

import numpy as np

from analysis.inspection.windows import windows_of
from analysis.statistic import squared_variation
from serving_sim import Workload
from serving_sim.request import FloatArray


def workload_facts(
    workload: Workload, *, slots: int, second: float = 1.0, span: float | None = None
) -> dict[str, float | int | None]:
    """Size, lengths, arrival rate and burstiness of a workload, by name.

    Parameters
    ----------
    workload : Workload
        n requests.
    slots : int
        Slots that the load counts on, with one step a time unit.
    second : float
        Time units in which the peak is counted.
    span : float, optional
        Time units from 0 on in which these requests came and no others, where that is known.

    Returns
    -------
    dict of str to float, int or None
        Lengths in tokens, times in time units. ``rate`` is n / span where the span is known, else
        (n - 1) / (last - first release), and
        ``gap_cv2`` the squared coefficient of variation of the gaps (1 for Poisson, above it
        bursty); both, and the load, are None where all requests come at once. ``peak_second`` is
        the largest number of requests in a second, counted from the first request on;
        ``same_release`` counts requests released with the one before them, ``most_at_once`` the
        largest number on one release.
    """
    release, length = np.sort(workload.release), workload.length
    counted = (len(workload) - 1, float(release[-1] - release[0])) if span is None else (len(workload), span)
    rate = _rate(*counted)
    gaps = np.diff(release)
    return {
        "requests": len(workload),
        "tokens": workload.total_length,
        **_lengths(length.astype(np.float64)),
        "first_release": float(release[0]),
        "last_release": float(release[-1]),
        "rate": rate,
        "peak_second": _most(windows_of(release, second)),
        "gap_cv2": squared_variation(gaps) if gaps.any() and rate is not None else None,
        "longest_gap": float(gaps.max()) if len(workload) > 1 else None,
        "same_release": int(np.count_nonzero(gaps == 0)),
        "most_at_once": _most(release),
        "load": None if rate is None else rate * float(np.mean(length)) / slots,
    }


def _rate(gaps: int, span: float) -> float | None:
    """Requests per time unit; None where all come at once, as far as floats can tell."""
    rate = gaps / span if span > 0 else math.inf
    return rate if rate < math.inf else None


def _lengths(length: FloatArray) -> dict[str, float | int | None]:
    quantiles = {f"length_p{share}": float(np.percentile(length, share)) for share in (50, 90, 99)}
    return {
        "length_mean": float(np.mean(length)),
        "length_min": int(length.min()),
        **quantiles,
        "length_max": int(length.max()),
    }


def _most(values: FloatArray) -> int:
    """How often the commonest value occurs."""
    return int(np.unique(values, return_counts=True)[1].max())
