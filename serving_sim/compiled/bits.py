"""A set of small whole numbers that finds the next one up or down in a few instructions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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


def make_bits(room: int) -> Bits:
    """An empty set of numbers in 0..room-1."""
    level = [0]
    width = room
    while len(level) == 1 or width > 1:
        width = (width + 63) >> 6
        level.append(level[-1] + width)
    return Bits(np.zeros(level[-1], np.int64), np.array(level))


def all_bits(room: int) -> Bits:
    """The set of all numbers in 0..room-1."""
    bits = make_bits(room)
    members = room
    for start in bits.level[:-1]:
        full, rest = divmod(members, 64)
        bits.words[start : start + full] = -1
        if rest:
            bits.words[start + full] = (1 << rest) - 1
        members = full + (rest > 0)
    return bits


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
