"""Times that a log counts from an origin of its own, as integer nanoseconds.

Each function is a clock for `LogFormat`: called once for a log, it gives what reads a column of times.
"""

from __future__ import annotations

from decimal import Decimal
from functools import partial

import numpy as np
import pyarrow as pa

from serving_sim.columns import LARGEST_COUNT, FloatArray, IntArray
from workloads.tables.batch import Batch
from workloads.traces.request_log import SECOND, Clock

_EXACT = 2**51  # below it, the nearest float to a whole number of nanoseconds, once scaled, rounds to it
_MILLISECOND = 10**6


def seconds() -> Clock:
    """Times in seconds."""
    return partial(_elapsed, unit=SECOND)


def milliseconds() -> Clock:
    """Times in milliseconds."""
    return partial(_elapsed, unit=_MILLISECOND)


def microseconds() -> Clock:
    """Times in microseconds."""
    return partial(_elapsed, unit=10**3)


def nanoseconds() -> Clock:
    """Times in nanoseconds."""
    return partial(_elapsed, unit=1)


def _elapsed(batch: Batch, name: str, *, unit: int) -> IntArray:
    """A column of times in nanoseconds, exact where it has no finer digits, else rounded."""
    times = batch.real(name)
    _refuse_coarse(batch, name, times, unit)
    inside = np.abs(times) < LARGEST_COUNT / unit  # false for NaN; the difference of two still fits in int64
    batch.refuse(name, ~inside, "must be within 2**62 nanoseconds (146 years) of 0")
    rounded: IntArray = np.rint(np.where(inside, times, 0) * unit).astype(np.int64)
    large = np.flatnonzero((np.abs(rounded) >= _EXACT) & (batch.broken < 0))
    digits = batch.columns[name].take(large).to_pylist()
    rounded[large] = [round(Decimal(str(text).strip()) * unit) for text in digits]
    return rounded


def _refuse_coarse(batch: Batch, name: str, times: FloatArray, unit: int) -> None:
    """Refuse times that have lost their digits: 32-bit seconds since 1970 are 128 seconds apart."""
    if batch.columns[name].type in (pa.float16(), pa.float32()):
        coarse = np.spacing(np.abs(times).astype(np.float32)) > _MILLISECOND / unit
        batch.refuse(name, coarse, "must have 64 bits, as with 32 such times are more than 1 ms apart")
