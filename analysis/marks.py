"""Bars of text: a mark stands for a number of tokens, begun ones count."""

from __future__ import annotations


def unit_for(most: int, width: int) -> int:
    """Tokens a mark, so that ``most`` tokens fit into ``width`` marks."""
    return max(1, -(-most // width))


def marks(tokens: int, unit: int) -> int:
    """Marks that ``tokens`` take."""
    return -(-tokens // unit)


def progress_bar(done: int, length: int, unit: int) -> str:
    """``#`` for tokens made and ``.`` for tokens to come.

    Examples
    --------
    >>> progress_bar(3, 10, 2)
    '##...'
    """
    made = marks(done, unit)
    return "#" * made + "." * (marks(length, unit) - made)
