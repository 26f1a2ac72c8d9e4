"""Exact sums of products of steps and tokens, which exceed 64 bits in long runs.

A sum is a pair ``(high, low)`` that stands for ``high * 2**56 + low`` with ``0 <= low < 2**56``. Factors
are below 2**56, so their halves of 28 bits multiply without overflow. ``high`` holds sums up to 2**119;
a sum over the steps of a run is at most the square of its tokens, below 2**112.
"""

from __future__ import annotations

from serving_sim.compiled.jit import Words, inner

WIDTH = 56
"""Bits of a factor and of the low part of a sum."""

_HALF = WIDTH // 2
_LOW_HALF = (1 << _HALF) - 1
_LOW = (1 << WIDTH) - 1


@inner
def add_product(total: Words, left: int, right: int) -> None:
    """Add ``left * right``, two whole numbers in 0..2**56-1, to the pair ``total``."""
    left_high, left_low = left >> _HALF, left & _LOW_HALF
    right_high, right_low = right >> _HALF, right & _LOW_HALF
    middle = left_high * right_low + left_low * right_high
    low = total[1] + left_low * right_low + ((middle & _LOW_HALF) << _HALF)
    total[0] += left_high * right_high + (middle >> _HALF) + (low >> WIDTH)
    total[1] = low & _LOW


def exact(total: Words) -> int:
    """The sum as a Python integer."""
    return (int(total[0]) << WIDTH) + int(total[1])
