"""Columns of requests at the border: from whatever a caller has to checked arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from serving_sim.arguments import is_finite, is_whole

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
TextArray = NDArray[np.object_]

LARGEST_COUNT = 2**62
"""Most tokens or steps that a column holds; two of them still add up in int64."""

ALL_FLOATS = 2**53
"""The whole numbers up to here are floats; beyond, neighbours become one."""

BLURRED = "must not change as a float, as whole numbers beyond 2**53 can; subtract the first from all"

_TIME = "must be a finite number >= 0"


def instants(name: str, values: ArrayLike) -> FloatArray:
    """A column of times: finite and >= 0, none of which is a whole number that would change as a float.

    Raises
    ------
    ValueError
        If it is no flat sequence of numbers or a value breaks the rule; the message names it.
    """
    raw = _flat(name, values)
    if raw.dtype.kind == "O":
        good = [is_finite(value) and value >= 0 for value in raw]
        refuse(name, raw, ~np.array(good, bool), _TIME)
    elif raw.dtype.kind not in "iuf":
        raise ValueError(f"{name}: must hold numbers, found {raw.dtype} values")
    if raw.dtype.kind != "f":
        refuse(name, raw, _blurred(raw), BLURRED)
    with np.errstate(over="ignore"):  # a long double may be beyond all floats, and is then refused as inf
        column = raw.astype(np.float64, copy=not _frozen(raw))
    refuse(name, column, ~(np.isfinite(column) & (column >= 0)), _TIME)
    return column


def whole_numbers(name: str, values: ArrayLike, *, least: int) -> IntArray:
    """A column of whole numbers from ``least`` to 2**62; whole floats are fine.

    Raises
    ------
    ValueError
        If it is no flat sequence of numbers or a value breaks the rule; the message names it.
    """
    raw = _flat(name, values)
    rule = f"must be a whole number from {least} to 2**62"
    if raw.dtype.kind == "O":
        good = [_is_count(value, least) for value in raw]
        refuse(name, raw, ~np.array(good, bool), rule)
        return raw.astype(np.int64)
    if raw.dtype.kind not in "iuf":
        raise ValueError(f"{name}: must hold whole numbers, found {raw.dtype} values")
    if raw.dtype.kind == "f":
        raw = raw.astype(np.promote_types(raw.dtype, np.float64), copy=False)  # a float16 ends before 2**62
    bad = ~((raw >= least) & (raw <= LARGEST_COUNT))
    if raw.dtype.kind == "f":
        bad |= raw != np.floor(raw)
    refuse(name, raw, bad, rule)
    return raw.astype(np.int64, copy=not _frozen(raw))


def texts(name: str, values: ArrayLike) -> TextArray:
    """A column of names: texts; whole numbers become the texts that write them.

    Raises
    ------
    ValueError
        If it is no flat sequence or a value is something else; the message names it.
    """
    column = _flat(name, values, np.object_).copy()  # an array of texts would cut off zeros at their ends
    if not all(type(value) is str for value in column):  # the usual case, quickly
        good = [isinstance(value, str) or is_whole(value) for value in column]
        refuse(name, column, ~np.array(good, bool), "must be a text")
        column[:] = [str(value) for value in column]
    return column


def refuse(name: str, column: NDArray[Any], bad: NDArray[np.bool_], rule: str) -> None:
    """Raise for the first row that breaks a rule.

    Raises
    ------
    ValueError
        If there is one.
    """
    if bad.any():
        row = int(np.argmax(bad))
        value = column[row]
        shown = value.item() if isinstance(value, np.generic) else value
        raise ValueError(f"{name}[{row}]={shown!r}: {rule}")


def _blurred(raw: NDArray[Any]) -> NDArray[np.bool_]:
    """Which whole numbers would change as floats."""
    bad = np.asarray(raw > ALL_FLOATS, bool)
    bad[bad] = [is_whole(value) and int(value) != float(value) for value in raw[bad].tolist()]
    return bad


def _is_count(value: object, least: int) -> bool:
    return is_finite(value) and value == int(value) and least <= int(value) <= LARGEST_COUNT


def _frozen(values: NDArray[Any]) -> bool:
    """Whether values can be kept without a copy: an array that owns its memory and that nobody can write."""
    return values.flags.owndata and not values.flags.writeable


def _flat(name: str, values: ArrayLike, dtype: type[np.object_] | None = None) -> NDArray[Any]:
    if np.ma.is_masked(values):
        row = int(np.argmax(np.ma.asarray(values).mask))
        raise ValueError(f"{name}[{row}]: must be there, it is masked")
    try:
        raw = np.asarray(values, dtype)
    except ValueError:  # numpy speaks of inhomogeneous shapes
        raise ValueError(f"{name}: must be one-dimensional, found a nested sequence") from None
    if raw.ndim != 1:
        raise ValueError(f"{name}: must be one-dimensional, found shape {raw.shape}")
    return raw
