"""The waiting queue by size, with ties by arrival."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from serving_sim.compiled.bits import NONE, Bits, exclude, highest_up_to, include, lowest_from, make_bits
from serving_sim.compiled.jit import Words, inner, read_only

Links = Words
"""Requests by number in 32 bits, which halves the memory of the queue; `NONE` ends a list."""


class SizeQueue(NamedTuple):
    """First-in first-out buckets, one a size, over a set of the sizes that wait.

    A size is known by its rank, its place among the sizes that occur. `push` and the pops are
    O(1) while a bucket stays non-empty and O(log d) to the base 64 otherwise, d ranks; a binary
    heap takes O(log n) to the base 2 for every pop, n waiting (``benchmarks/kernel.py`` has both).

    Attributes
    ----------
    sizes : ndarray of int64, shape (d,)
        Sizes by rank, increasing.
    rank : ndarray of int64, shape (n,)
        Rank of each request.
    first, last : ndarray of int32, shape (d,)
        Ends of each bucket.
    behind : ndarray of int32, shape (n,)
        The request behind each one.
    filled : Bits
        Ranks with a non-empty bucket.
    """

    sizes: Words
    rank: Words
    first: Links
    last: Links
    behind: Links
    filled: Bits


def ranks(size: Words) -> tuple[Words, Words]:
    """Sizes by rank, and the rank of each request.

    Where no size exceeds the number of requests, a size is its own rank: empty buckets cost less
    than sorting.
    """
    largest = int(size.max())
    if largest < len(size):
        return np.arange(largest + 1), size
    sizes, rank = np.unique(size, return_inverse=True)
    return sizes, rank


def make_queue(sizes: Words, rank: Words) -> SizeQueue:
    """An empty queue for requests of the given ranks."""
    buckets = len(sizes)
    return SizeQueue(
        sizes=read_only(sizes),
        rank=read_only(rank),
        first=np.full(buckets, NONE, np.int32),
        last=np.full(buckets, NONE, np.int32),
        behind=np.empty(len(rank), np.int32),
        filled=make_bits(buckets),
    )


@inner
def push(queue: SizeQueue, request: int) -> None:
    """Add a request behind those of its size."""
    rank = queue.rank[request]
    queue.behind[request] = NONE
    if queue.first[rank] == NONE:
        queue.first[rank] = request
        include(queue.filled, rank)
    else:
        queue.behind[queue.last[rank]] = request
    queue.last[rank] = request


@inner
def pop(queue: SizeQueue, rank: int) -> int:
    """Take out the earliest request of a rank that waits."""
    request: int = queue.first[rank]
    queue.first[rank] = queue.behind[request]
    if queue.first[rank] == NONE:
        exclude(queue.filled, rank)
    return request


@inner
def smallest(queue: SizeQueue) -> int:
    """Rank of the smallest size that waits, `NONE` in an empty queue."""
    return lowest_from(queue.filled, 0)


@inner
def largest(queue: SizeQueue) -> int:
    """Rank of the largest size that waits, `NONE` in an empty queue."""
    return highest_up_to(queue.filled, len(queue.sizes) - 1)


@inner
def second_largest(queue: SizeQueue) -> int:
    """Rank of the size next in order, equal to `largest` for a tie; `NONE` below two requests."""
    top = largest(queue)
    if top == NONE or queue.first[top] != queue.last[top]:
        return top
    return highest_up_to(queue.filled, top - 1)


@inner
def largest_up_to(queue: SizeQueue, size: int) -> int:
    """Rank of the largest waiting size that is not above ``size``, `NONE` where there is none."""
    low, high = 0, len(queue.sizes)
    while low < high:  # ranks below `low` have sizes not above `size`, those from `high` on larger ones
        middle = (low + high) >> 1
        if queue.sizes[middle] <= size:
            low = middle + 1
        else:
            high = middle
    return highest_up_to(queue.filled, low - 1)
