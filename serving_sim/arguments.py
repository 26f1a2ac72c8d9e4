"""What arguments are, where several public names ask the same."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, TypeGuard


def is_whole(value: object) -> TypeGuard[int]:
    """Whether ``value`` is an integer of Python or numpy; a truth value is none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_real(value: object) -> TypeGuard[float]:
    """Whether ``value`` is a real number of Python or numpy; a truth value is none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_finite(value: object) -> TypeGuard[float]:
    """Whether ``value`` is a real number that fits a float."""
    try:
        return is_real(value) and math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def check_whole(name: str, value: object, least: int, rule: str) -> int:
    """A whole number >= ``least``, as Python's own: numpy's wrap around where they grow.

    Raises
    ------
    ValueError
        If it is none; the message names the argument, the value and the rule.
    """
    if not (is_whole(value) and value >= least):
        raise ValueError(f"{name}={value!r}: {rule}")
    return int(value)


def check_kind(name: str, value: object, kind: type[Any] | tuple[type[Any], ...], what: str) -> None:
    """Refuse an argument that is no instance of a class, or of one of several.

    Raises
    ------
    TypeError
        Naming the argument, what it must be and what it is.
    """
    if not isinstance(value, kind) or isinstance(value, type):  # a class has the methods of its instances
        found = f"the class {value.__name__}" if isinstance(value, type) else f"{value!r:.60}"
        raise TypeError(f"{name}={found}: must be {what}")


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """One line that says a name is unknown, which one may be meant, and which there are."""
    names = list(known)
    hint = did_you_mean(name, names)
    return f"{kind}={name!r}: is unknown; {hint and f'{hint} '}known: {', '.join(names) or 'none'}"


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """``did you mean 'fcfs'?`` with the name that comes closest, nothing where none comes close."""
    from difflib import get_close_matches  # only errors need it

    close = get_close_matches(str(name), list(known), n=1)
    return f"did you mean {close[0]!r}?" if close else ""
