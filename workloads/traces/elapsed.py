"""Times that a log counts from an origin of its own, as integer nanoseconds."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from workloads.tables.batch import MOST, Batch, IntArray

NANOSECOND = 1
MICROSECOND = 10**3
MILLISECOND = 10**6
SECOND = 10**9

_EXACT = 2**51  # below it, the nearest float to a whole number of nanoseconds, once scaled, rounds to it


def elapsed(batch: Batch, name: str, unit: int) -> IntArray:
    """A column of times, rounded to whole nanoseconds.

    Parameters
    ----------
    batch : Batch
        The rows.
    name : str
        A column of numbers.
    unit : int
        Nanoseconds in one of what the column counts.

    Returns
    -------
    ndarray of int, shape (rows,)
        Nanoseconds from the log's origin, exact where the column has no finer digits.
    """
    times = batch.real(name)
    inside = np.abs(times) <= MOST / unit  # false for NaN
    batch.refuse(name, ~inside, "must be within 2**62 nanoseconds (146 years) of 0")
    rounded: IntArray = np.rint(np.where(inside, times, 0) * unit).astype(np.int64)
    large = np.flatnonzero((np.abs(rounded) >= _EXACT) & (batch.broken < 0))
    digits = batch.columns[name].take(large).to_pylist()
    rounded[large] = [round(Decimal(str(text).strip()) * unit) for text in digits]
    return rounded
