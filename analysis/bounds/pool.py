"""Requests that are all there at once: what the bounds on steps look at."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from policies.parameters import check_alpha, check_count
from serving_sim.request import IntArray, Workload, exact_sum, intrinsic_work

_MOST = 2**62  # partial sums of lengths and thresholds stay within int64


class Pool:
    """Requests released together, sorted from the longest.

    Parameters
    ----------
    lengths : array_like of int, shape (n,)
        Steps each request needs, whole and >= 1, n >= 1, in any order.
    slots : int
        Requests that fit into a batch (the paper's B), >= 1.
    alpha : int or None
        Fairness budget in tokens, >= 0; None asks for no fairness.

    Raises
    ------
    ValueError
        If a value breaks a rule, or the lengths sum up to 2**62 or more.

    Attributes
    ----------
    descending : ndarray of int, shape (n,)
        The lengths from the longest.
    alpha : int
        The budget, or the longest length where that is smaller: no gap can exceed it.
    """

    def __init__(self, lengths: ArrayLike, slots: int, alpha: int | None = None) -> None:
        checked = Workload(np.zeros(np.shape(lengths)), lengths).length
        if exact_sum(checked) >= _MOST:
            raise ValueError("lengths: their sum must stay below 2**62")
        self.descending: IntArray = np.sort(checked)[::-1]
        self.slots = check_count("slots", slots)
        self.alpha = self.longest if alpha is None else min(check_alpha(alpha), self.longest)

    def keep(self, rows: NDArray[np.bool_]) -> Pool:
        """The pool of those of the sorted requests that ``rows`` marks, without checking again."""
        part = object.__new__(Pool)
        part.descending = self.descending[rows]
        part.slots, part.alpha = self.slots, self.alpha
        return part

    @property
    def longest(self) -> int:
        """The longest length."""
        return int(self.descending[0])

    @cached_property
    def tokens(self) -> int:
        """Sum of the lengths."""
        return int(self.descending.sum())

    @cached_property
    def intrinsic(self) -> int:
        """Intrinsic work Q = sum o (o + 1) / 2 (Yao and Zhou, equation 5)."""
        return intrinsic_work(self.descending)

    @cached_property
    def leaders(self) -> IntArray:
        """Every ``slots``-th length from the longest: the first of each batch LJF would form."""
        return self.descending[:: self.slots]

    def leaders_above(self, level: int) -> IntArray:
        """The leaders longer than ``level``, ceil(N(level) / slots) of them."""
        count = len(self.leaders) - int(np.searchsorted(self.leaders[::-1], level, side="right"))
        return self.leaders[:count]
