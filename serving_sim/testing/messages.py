"""The one form that all messages of the kit have."""

from __future__ import annotations

from typing import NoReturn


def message(where: str, *, expected: str, found: str, cause: str) -> str:
    """Where it happened, what was expected, what was found, and the likely cause."""
    return f"{where}: expected {expected}, found {found}; likely cause: {cause}"


def fail(where: str, *, expected: str, found: str, cause: str) -> NoReturn:
    """Raise `AssertionError` with such a message."""
    raise AssertionError(message(where, expected=expected, found=found, cause=cause))
