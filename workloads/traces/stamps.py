"""Dates and times as integer nanoseconds: a clock for `LogFormat`."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from serving_sim.columns import LARGEST_COUNT, IntArray
from workloads.tables.batch import Batch, BoolArray, is_text, mask, parsed, trimmed
from workloads.traces.request_log import Clock

_NAIVE = pa.timestamp("ns")
_AWARE = pa.timestamp("ns", "UTC")
_SPREADSHEET = r"^\d+:\d\d\.\d+$"


def dates() -> Clock:
    """Times as dates with hours, minutes and seconds."""
    return Stamps().read


class Stamps:
    """Reads a column of dates and times, batch by batch, with or without an offset from UTC.

    The first stamp says whether stamps have an offset; the others must do as it does, as local times
    and instants cannot be subtracted.
    """

    def __init__(self) -> None:
        self._kind: pa.DataType | None = None

    def read(self, batch: Batch, name: str) -> IntArray:
        """Nanoseconds since 1970, of the clock on the wall where there is no offset."""
        texts = _texts(batch.columns[name])
        kinds = [self._kind] if self._kind is not None else [_NAIVE, _AWARE]
        for kind in kinds:
            try:
                stamps = texts.cast(kind)
            except pa.ArrowInvalid:
                continue
            if not stamps.null_count and _to_the_second(texts).all():
                self._kind = kind
                return _near(batch, name, stamps.cast(pa.int64()).to_numpy())
        return self._inspect(batch, name, trimmed(texts))

    def _inspect(self, batch: Batch, name: str, texts: pa.Array) -> IntArray:
        """Read a batch in which something is wrong, row by row where need be."""
        naive, aware = parsed(texts, _NAIVE), parsed(texts, _AWARE)
        is_naive, is_aware = mask(naive.is_valid()), mask(aware.is_valid())
        is_stamp = (is_naive | is_aware) & _to_the_second(texts)
        if self._kind is None and is_stamp.any():
            self._kind = _NAIVE if is_naive[np.argmax(is_stamp)] else _AWARE
        cut_off = mask(pc.match_substring_regex(texts, _SPREADSHEET).fill_null(pa.scalar(False)))  # noqa: FBT003
        batch.refuse(name, cut_off, "must hold date and hour, which a spreadsheet program has cut off")
        batch.refuse(name, ~is_stamp, "must be a date and time such as 2023-11-16 18:15:46.6805900")
        if self._kind == _AWARE:
            batch.refuse(name, is_naive, "must have an offset from UTC, as the first stamp has")
        else:
            batch.refuse(name, is_aware, "must have no offset from UTC, as the first stamp has none")
        stamps = aware if self._kind == _AWARE else naive
        return _near(batch, name, stamps.cast(pa.int64()).fill_null(0).to_numpy())


def _texts(raw: pa.Array) -> pa.Array:
    """The stamps as texts, null for numbers and the like; Parquet files have dates of their own kind."""
    if is_text(raw):
        return raw
    return raw.cast(pa.string()) if pa.types.is_timestamp(raw.type) else pa.nulls(len(raw), pa.string())


def _to_the_second(texts: pa.Array) -> BoolArray:
    """Whether a colon stands before the seconds: Arrow takes a day, an hour or a minute for a stamp too."""
    colons = pc.binary_slice(texts.cast(pa.binary()), 16, 17)
    return mask(pc.equal(colons, b":").fill_null(pa.scalar(False)))  # noqa: FBT003


def _near(batch: Batch, name: str, stamps: IntArray) -> IntArray:
    """Stamps so near to 1970 that the difference of two fits in int64."""
    batch.refuse(name, np.abs(stamps) >= LARGEST_COUNT, "must lie within 146 years of 1970")
    return stamps
