"""Rows under inspection: values by column, and the first rule each row breaks."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from serving_sim.columns import ALL_FLOATS, LARGEST_COUNT, FloatArray, IntArray
from workloads.tables.table import Columns

BoolArray = NDArray[np.bool_]
TextArray = NDArray[np.object_]


@dataclass(frozen=True)
class Rule:
    """A rule about the values of a column."""

    name: str
    text: str
    column: pa.Array

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


class Batch:
    """Consecutive rows of a table.

    Reading a column returns an array with one value per row, and marks the rows whose value breaks a
    rule; what stands in the array for those is without meaning.

    Attributes
    ----------
    columns : mapping of str to Array
        The raw values.
    rules : list of Rule
        The checks that some row failed.
    broken : ndarray of int, shape (rows,)
        Position in ``rules`` of the first rule a row breaks, -1 for a good row.
    """

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.rules: list[Rule] = []
        self.broken = np.full(len(next(iter(columns.values()))), -1, dtype=np.int64)

    def refuse(self, name: str, bad: BoolArray, text: str, *, shown: NDArray[Any] | None = None) -> None:
        """Mark rows as bad for a rule; rows already bad keep their first rule.

        Parameters
        ----------
        name : str
            The column that the rule is about.
        bad : ndarray of bool, shape (rows,)
            Rows that break it.
        text : str
            The rule.
        shown : ndarray, shape (rows,), optional
            Values to show instead of the column's, for a rule about something derived.
        """
        bad = bad & (self.broken < 0)
        if bad.any():
            self.broken[bad] = len(self.rules)
            self.rules.append(Rule(name, text, self.columns[name] if shown is None else pa.array(shown)))

    def real(self, name: str) -> FloatArray:
        """A column of finite numbers."""
        values, missing = _floats(self.columns[name])
        self.refuse(name, missing, "must be a number")
        self.refuse(name, ~np.isfinite(values), "must be finite")
        return values

    def whole(self, name: str, *, least: int) -> IntArray:
        """A column of whole numbers from ``least`` to ``LARGEST_COUNT``, exact to the last digit."""
        raw = self.columns[name]
        fast = _integers(raw)
        if fast is None:
            values, missing = _floats(raw)
            self.refuse(name, missing, "must be a number")
            self.refuse(name, ~(values == np.floor(values)), "must be a whole number")
            self.refuse(name, values > LARGEST_COUNT, "must be at most 2**62")
            fast = _whole(values, raw, ~missing)
        self.refuse(name, fast < least, f"must be >= {least}")
        self.refuse(name, fast > LARGEST_COUNT, "must be at most 2**62")
        return fast

    def text(self, name: str) -> TextArray:
        """A column of texts; numbers are taken as the text that writes them."""
        texts = _texts(self.columns[name])
        self.refuse(name, mask(texts.is_null()), "must be a text")
        return texts.to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]

    def label(self, name: str) -> TextArray:
        """A column of texts that recur, without the blanks around them; empty where there is none."""
        raw = self.columns[name]
        texts = _texts(raw)
        self.refuse(name, mask(texts.is_null()) & mask(raw.is_valid()), "must be a text")
        coded = trimmed(texts).fill_null("").dictionary_encode()
        # Each label becomes one object, however many rows have it.
        return coded.dictionary.to_numpy(zero_copy_only=False)[coded.indices.to_numpy()]  # type: ignore[no-any-return]

    def blank(self, name: str) -> BoolArray:
        """Which rows hold nothing in a column, or nothing but spaces."""
        raw = self.columns[name]
        if is_text(raw):
            return mask(pc.equal(trimmed(raw), "").fill_null(True))  # noqa: FBT003
        return mask(raw.is_null())


def _texts(raw: pa.Array) -> pa.Array:
    """The text that writes each value, null for what has none."""
    try:
        return raw.cast(pa.string())
    except pa.ArrowException:
        return pa.nulls(len(raw), pa.string())


def parsed(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    """Texts read as another type, null where they cannot be.

    The whole array is tried at once; only where that fails is it halved, so that a few bad rows among
    many cost a few more tries.
    """
    try:
        return texts.cast(kind)
    except pa.ArrowInvalid:
        if len(texts) == 1:
            return pa.nulls(1, kind)
        half = len(texts) // 2
        return pa.concat_arrays([parsed(texts[:half], kind), parsed(texts[half:], kind)])


def is_text(raw: pa.Array) -> bool:
    """Whether a column holds texts."""
    return raw.type in (pa.string(), pa.large_string())


def trimmed(texts: pa.Array) -> pa.Array:
    """Texts without the blanks around them."""
    return pc.utf8_trim_whitespace(texts)


def mask(flags: pa.Array) -> BoolArray:
    """A column of truth values as numpy knows it."""
    return flags.to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def _integers(raw: pa.Array) -> IntArray | None:
    """The column if all of it is plain integers, without a detour through floats."""
    if raw.null_count or not (is_text(raw) or pa.types.is_integer(raw.type)):
        return None
    if is_text(raw) and _maybe_hexadecimal(raw):
        return None
    try:
        return raw.cast(pa.int64()).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
    except pa.ArrowInvalid:
        return None


def _maybe_hexadecimal(raw: pa.Array) -> bool:
    """Whether an x may stand in one of the texts: Arrow would take ``0x10`` for 16."""
    letters = raw.buffers()[2]  # of the rows around as well, where these are a part of more
    return letters is not None and any(sign in letters.to_pybytes() for sign in (b"x", b"X"))


def _floats(raw: pa.Array) -> tuple[FloatArray, BoolArray]:
    """The column as floats, and where it holds no number."""
    if is_text(raw):
        try:
            values = raw.cast(pa.float64())
        except pa.ArrowInvalid:
            values = parsed(trimmed(raw), pa.float64())
    elif pa.types.is_integer(raw.type) or pa.types.is_floating(raw.type) or pa.types.is_decimal(raw.type):
        values = raw.cast(pa.float64(), safe=False)
    else:
        values = pa.nulls(len(raw), pa.float64())
    missing = mask(values.is_null())
    return values.fill_null(0.0).to_numpy(zero_copy_only=False), missing


def _whole(values: FloatArray, raw: pa.Array, present: BoolArray) -> IntArray:
    """Whole floats as integers; large ones are read once more, digit by digit."""
    inside = np.abs(values) <= LARGEST_COUNT  # false for NaN
    whole = np.where(inside, values, 0).astype(np.int64)
    if not pa.types.is_floating(raw.type):  # a column of floats never had more digits
        for row in np.flatnonzero(inside & present & (np.abs(values) >= ALL_FLOATS)):
            whole[row] = int(Decimal(str(raw[int(row)])))
    return whole
