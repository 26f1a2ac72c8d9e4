"""Checks of parameters, shared by all that makes or shapes workloads."""

from __future__ import annotations

from serving_sim.arguments import is_finite, is_whole
from serving_sim.columns import LARGEST_COUNT


def check_count(name: str, value: int) -> None:
    """Refuse what is not a whole number from 1 to 2**62.

    Raises
    ------
    ValueError
        If it is not.
    """
    if not (is_whole(value) and value >= 1):
        raise ValueError(f"{name}={value!r}: must be a whole number >= 1")
    if value > LARGEST_COUNT:
        raise ValueError(f"{name}={value!r}: must be at most 2**62")


def check_positive(name: str, value: float, unit: str = "") -> None:
    """Refuse what is not a finite number above 0; the message says of which unit it must be, if any.

    Raises
    ------
    ValueError
        If it is not.
    """
    if not (is_finite(value) and value > 0):
        raise ValueError(f"{name}={value!r}: must be a finite number {unit and f'of {unit} '}> 0")
