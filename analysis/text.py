"""Numbers and estimates as people read them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from analysis.estimate import Estimate

ABSENT = "-"

_LOPSIDED = 1.1  # up to a tenth the two sides share one number

_DECIMALS = 6  # beyond so many a power of ten is easier to read

_HUGE = 1e15  # floats from there on no longer tell all whole numbers

_ROUNDING = 1e-12  # a relative width below it comes from floating point, not from chance


def number(value: float | None) -> str:
    """Four significant digits, or all digits before the point: ``12,345``, ``1.235``, ``-``.

    Floats from 10**15 on get four digits and the power: ``1.235e+18``.
    """
    if value is None:
        return ABSENT
    if abs(value) < 1000 or (isinstance(value, float) and abs(value) >= _HUGE):
        return f"{value:.4g}"
    return f"{value:,.0f}"


def with_interval(estimate: Estimate) -> str:
    """Value and ends of the interval, to two significant digits of it: ``12.35 ± 0.40``.

    Where it is lopsided both sides are told, and the value ends where the finer one does:
    ``12.35 +0.90 -0.32``.
    """
    half, value = estimate.half_width, estimate.value
    if half is None or value is None:
        return number(value)
    assert estimate.low is not None
    assert estimate.high is not None
    least = _ROUNDING * abs(value)
    if half <= least:
        return f"{number(value)} ± 0"
    up, down = estimate.high - value, value - estimate.low
    if max(up, down) <= _LOPSIDED * half:
        return f"{_as_fine_as(half, value)} ± {_as_fine_as(half, half)}"
    sides = [_as_fine_as(side, side) if side > least else "0" for side in (up, down)]
    finer = min(side for side in (up, down) if side > least)
    return f"{_as_fine_as(finer, value)} +{sides[0]} -{sides[1]}"


def spread(values: Sequence[float]) -> str:
    """The smallest and the largest of some numbers, one where they read the same: ``369 to 432``."""
    low, high = number(min(values)), number(max(values))
    return low if low == high else f"{low} to {high}"


def _as_fine_as(width: float, value: float) -> str:
    """A value to the second significant digit of a width > 0, or to the point where that comes first."""
    last = _power(width) - 1
    if last >= -_DECIMALS and abs(value) < _HUGE:
        places = max(0, -last)
        return f"{round(value, places) + 0.0:,.{places}f}"  # + 0.0: there is no -0
    return f"{value:.{max(0, _power(value) - last)}e}" if value else "0"


def _power(value: float) -> int:
    """Power of ten of the first of two significant digits of a number other than 0."""
    return int(f"{value:.1e}".partition("e")[2])


def two_digits(value: float) -> str:
    """Two significant digits of a number >= 0, or all before the point: ``0.041``, ``7.3``, ``1,250``."""
    return f"{value:.2g}" if value < 99.5 else f"{value:,.0f}"  # from there on .2g writes 1e+02


def visible(text: str) -> str:
    r"""The text with an escape for every character that has no shape, so that a terminal obeys none of them.

    Examples
    --------
    >>> visible("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text
    )


def shown_id(request_id: str) -> str:
    """The id of a request as people read it: `visible`, and in quotes where there would be nothing to see.

    Examples
    --------
    >>> shown_id("chat-7"), shown_id("")
    ('chat-7', "''")
    """
    return visible(request_id) if request_id.strip() else repr(request_id)


def file_name(text: str) -> str:
    """A name as part of a path: ``isjl:alpha=4`` is ``isjl-alpha-4``; it leads nowhere else.

    The sign of a number stays: ``x=-1`` is ``x--1``.
    """
    return re.sub(r"[^\w.]+?(?=-\d)|[^\w.]+", "-", text).strip("-.")


def file_names(names: Iterable[str]) -> dict[str, str]:
    """The `file_name` of each of several names, no two the same, on no system.

    Raises
    ------
    ValueError
        If a name has none of its own.
    """
    owners: dict[str, str] = {}
    files = {}
    for name in names:
        files[name] = file_name(name)
        owner = owners.setdefault(files[name].casefold(), name)
        if not files[name]:
            raise ValueError(f"{name!r}: has no letter or digit to name a file after")
        if owner != name:
            raise ValueError(f"{name!r}: would write to the same place as {owner!r}, {files[name]!r}")
    return files
