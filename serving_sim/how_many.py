"""Counts with their nouns."""

from __future__ import annotations


def how_many(count: int, noun: str, several: str | None = None) -> str:
    """As in ``1 row`` and ``1,200 rows``; ``several`` is the plural of a noun that takes more than an s."""
    return f"{count:,} {noun if count == 1 else several or noun + 's'}"
