"""What a workload looks like before anyone serves it."""

from __future__ import annotations

import numpy as np

from serving_sim import Workload
from serving_sim.request import FloatArray


def workload_facts(workload: Workload, *, slots: int) -> dict[str, float | int | None]:
    """Size, lengths, arrival rate and burstiness of a workload, by name.

    Parameters
    ----------
    workload : Workload
        n requests.
    slots : int
        Slots that the load counts on, with one step a time unit.

    Returns
    -------
    dict of str to float, int or None
        Lengths in tokens, times in time units. ``rate`` is (n - 1) / (last - first release) and
        ``gap_cv2`` the squared coefficient of variation of the gaps (1 for Poisson, above it
        bursty); both, and the load, are None where all requests come at once.
    """
    release, length = np.sort(workload.release), workload.length
    span = float(release[-1] - release[0])
    rate = (len(workload) - 1) / span if span > 0 else None
    return {
        "requests": len(workload),
        "tokens": workload.total_length,
        **_lengths(length.astype(np.float64)),
        "first_release": float(release[0]),
        "last_release": float(release[-1]),
        "rate": rate,
        "gap_cv2": _squared_variation(np.diff(release)) if span > 0 else None,
        "longest_gap": float(np.diff(release).max()) if len(workload) > 1 else None,
        "load": None if rate is None else rate * float(np.mean(length)) / slots,
    }


def _lengths(length: FloatArray) -> dict[str, float | int | None]:
    quantiles = {f"length_p{share}": float(np.percentile(length, share)) for share in (50, 90, 99)}
    return {
        "length_mean": float(np.mean(length)),
        "length_min": int(length.min()),
        **quantiles,
        "length_max": int(length.max()),
    }


def _squared_variation(gaps: FloatArray) -> float:
    return float(np.var(gaps) / np.mean(gaps) ** 2)
