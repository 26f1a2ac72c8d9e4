"""A set of small whole numbers that finds the next one up or down in a few instructions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from serving_sim.compiled.instructions import leading_zeros, trailing_zeros
from serving_sim.compiled.jit import Words, inner

NONE = -1
"""What a search that finds nothing returns."""


class Bits(NamedTuple):
    """A bitmap of 64-bit words under a bitmap of its words that are not 0, and so on up to one word.

    All operations are O(log n) to the base 64: two levels for 4,096 numbers, four for 16 million.

    Attributes
    ----------
    words : ndarray of int64
        All levels, the bitmap itself first.
    level : ndarray of int64
        Where each level starts, and the end.
    """

    words: Words
    level: Words


def bits_of(members: NDArray[np.bool_]) -> Bits:
    """The set of the numbers whose place in ``members`` holds True, and room for the others."""
    levels: list[Words] = []
    while not levels or len(levels[-1]) > 1:
        places = np.zeros(-(-len(members) // 64) * 64, bool)
        places[: len(members)] = members
        levels.append(np.packbits(places, bitorder="little").view("<i8"))
        members = levels[-1] != 0
    return Bits(np.concatenate(levels), np.cumsum([0, *map(len, levels)]))


@inner
def include(bits: Bits, number: int) -> None:
    """Put a number into the set."""
    for height in range(len(bits.level) - 1):
        at = bits.level[height] + (number >> 6)
        before = bits.words[at]
        bits.words[at] = before | (1 << (number & 63))
        if before != 0:  # the levels above know this word already
            return
        number >>= 6


@inner
def exclude(bits: Bits, number: int) -> None:
    """Take a number out of the set."""
    for height in range(len(bits.level) - 1):
        at = bits.level[height] + (number >> 6)
        left = bits.words[at] & ~(1 << (number & 63))
        bits.words[at] = left
        if left != 0:
            return
        number >>= 6


@inner
def lowest_from(bits: Bits, number: int) -> int:
    """The lowest member that is not below ``number``, `NONE` where there is none."""
    for height in range(len(bits.level) - 1):
        at = number >> 6
        if at >= bits.level[height + 1] - bits.level[height]:
            return NONE
        word = bits.words[bits.level[height] + at] & (-1 << (number & 63))
        if word != 0:
            number = (at << 6) + trailing_zeros(word)
            for below in range(height - 1, -1, -1):
                number = (number << 6) + trailing_zeros(bits.words[bits.level[below] + number])
            return number
        number = at + 1  # this word holds no more, so the search above starts behind it
    return NONE


@inner
def highest_up_to(bits: Bits, number: int) -> int:
    """The highest member that is not above ``number``, `NONE` where there is none."""
    for height in range(len(bits.level) - 1):
        if number < 0:
            return NONE
        at = number >> 6
        word = bits.words[bits.level[height] + at] & ((2 << (number & 63)) - 1)
        if word != 0:
            number = (at << 6) + 63 - leading_zeros(word)
            for below in range(height - 1, -1, -1):
                number = (number << 6) + 63 - leading_zeros(bits.words[bits.level[below] + number])
            return number
        number = at - 1
    return NONE
