"""Values of a study file, each checked where it stands."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

from serving_sim.arguments import is_finite, unknown
from workloads.toml_file import read_toml

Value = TypeVar("Value")
Check = Callable[[str, Any], Value]
"""Turns what stands under a key into a value, or says in a ValueError why it cannot."""


class Entries:
    """The keys of a study file.

    Parameters
    ----------
    path : Path
        The file, in TOML.
    known : sequence of str
        Keys that a study may have.
    elsewhere : mapping of str to str
        Keys that it may not have, with where what they say has its place.

    Raises
    ------
    ValueError
        If the file is no TOML or has another key.
    """

    def __init__(self, path: Path, known: Collection[str], elsewhere: Mapping[str, str]) -> None:
        self._content = read_toml(path)
        for key in self._content:
            if key in elsewhere:
                raise ValueError(f"{key}: {elsewhere[key]}")
            if key not in known:
                raise ValueError(unknown("key", key, known))

    def __contains__(self, key: str) -> bool:
        return key in self._content

    def one(self, key: str, check: Check[Value], default: Value) -> Value:
        """The value under a key that takes one."""
        return check(key, self._content[key]) if key in self._content else default

    def several(
        self, key: str, check: Check[Value], meaning: Callable[[Value], object] = lambda value: value
    ) -> tuple[Value, ...]:
        """The values under a key that takes one or a list of them; none where the key is absent.

        No two may have the same ``meaning``, however they are spelled.
        """
        given = self._content.get(key, [])
        values = tuple(check(key, each) for each in (given if isinstance(given, list) else [given]))
        if key in self._content and not values:
            raise ValueError(f"{key}=[]: must hold at least one value")
        meanings = [meaning(value) for value in values]
        for place, found in enumerate(meanings):
            first = meanings.index(found)
            if first < place:
                raise ValueError(f"{key}={given[place]!r}: {_twice(given[place], given[first])}")
        return values


def _twice(value: object, first: object) -> str:
    return "must not come twice" if value == first else f"must not come twice, {first!r} says the same"


def text(key: str, value: object) -> str:
    """A text that is not empty."""
    if not (isinstance(value, str) and value):
        raise ValueError(f"{key}={value!r}: must be a text")
    return value


def whole(least: int, most: int | None = None) -> Check[int]:
    """A whole number from ``least`` on, up to ``most`` if there is such a limit."""

    def check(key: str, value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise ValueError(f"{key}={value!r}: must be a whole number >= {least}")
        if most is not None and value > most:
            raise ValueError(f"{key}={value!r}: must be at most {most:,}")
        return value

    return check


def positive(key: str, value: object) -> float:
    """A finite number above 0."""
    if not (is_finite(value) and value > 0):
        raise ValueError(f"{key}={value!r}: must be a finite number > 0")
    return float(value)


def word(*words: str) -> Check[Any]:
    """One of several words."""

    def check(key: str, value: object) -> str:
        if value not in words:
            raise ValueError(unknown(key, str(value), words))
        return str(value)

    return check


def numbers(key: str, value: object) -> tuple[float, ...]:
    """A list of numbers."""
    if not isinstance(value, list):
        raise ValueError(f"{key}={value!r}: must be a list of numbers")  # noqa: TRY004  (bad input)
    return tuple(positive(key, each) for each in value)


def table(known: Collection[str]) -> Check[Mapping[str, float]]:
    """A table of numbers under known names."""

    def check(key: str, value: object) -> Mapping[str, float]:
        if not isinstance(value, dict) or not value:
            raise ValueError(f"{key}={value!r}: must be a table as in {{ {next(iter(known))} = 1 }}")
        for name in value:
            if name not in known:
                raise ValueError(f"{key}: {unknown('name', name, known)}")
        return {name: _number(f"{key}.{name}", each) for name, each in value.items()}

    return check


def _number(key: str, value: object) -> float:
    if not is_finite(value):
        raise ValueError(f"{key}={value!r}: must be a finite number")
    return float(value)
