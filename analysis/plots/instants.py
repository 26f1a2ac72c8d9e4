"""What happens up to each of many equally distant instants, among events in any order."""

from __future__ import annotations

import numpy as np

from serving_sim.request import FloatArray, IntArray


def count_until(events: FloatArray, instants: FloatArray) -> IntArray:
    """How many events there are at or before each instant.

    Parameters
    ----------
    events : ndarray of float, shape (n,)
        In time units.
    instants : ndarray of float, shape (m,), m >= 2
        Growing in equal steps. Rounding may count an event that is at one at its neighbour.

    Returns
    -------
    ndarray of int, shape (m,)
    """
    return _counted(_places(events, instants), len(instants))


def time_since(events: FloatArray, instants: FloatArray) -> FloatArray:
    """Sum over the events before each instant of the time since then.

    Parameters
    ----------
    events : ndarray of float, shape (n,)
        In time units.
    instants : ndarray of float, shape (m,), m >= 2
        Growing in equal steps.

    Returns
    -------
    ndarray of float, shape (m,)
        Of entries less that of departures it is the time that all who came have spent.
    """
    place = _places(events, instants)  # one that rounding puts at a neighbour has spent no time there
    sums = np.bincount(place, weights=events, minlength=len(instants) + 1)[:-1].cumsum()
    since: FloatArray = _counted(place, len(instants)) * instants - sums
    return since


def mean_level(spent: FloatArray, edges: FloatArray) -> FloatArray:
    """Time average, in each of m bins, of a number of requests.

    Parameters
    ----------
    spent : ndarray of float, shape (m + 1,)
        Time that all of them have spent up to each edge.
    edges : ndarray of float, shape (m + 1,)
        Ends of the bins, growing.

    Returns
    -------
    ndarray of float, shape (m,)
    """
    return np.maximum(np.diff(spent), 0) / np.diff(edges)  # rounding could leave -1e-16


def _places(events: FloatArray, instants: FloatArray) -> IntArray:
    """Where each event counts first; searching takes five times as long."""
    step = (instants[-1] - instants[0]) / (len(instants) - 1)
    place: IntArray = np.clip(np.ceil((events - instants[0]) / step), 0, len(instants)).astype(np.int64)
    return place


def _counted(place: IntArray, instants: int) -> IntArray:
    counts: IntArray = np.bincount(place, minlength=instants + 1)[:-1].cumsum()
    return counts
