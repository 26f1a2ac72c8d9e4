"""Options by the names that users write, which refusals must name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


def flag(name: str) -> str:
    """The option of a field: ``--for`` of ``window_for``."""
    return "--" + name.removeprefix("window_").replace("_", "-")


@contextmanager
def named(option: str) -> Iterator[None]:
    """Say of which option a refusal is, whatever words the refused part has for itself.

    Raises
    ------
    ValueError
        If one is raised inside: with the option before its message.
    """
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from None
