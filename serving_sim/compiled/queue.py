"""The waiting queue by size, with ties by arrival."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from serving_sim.compiled.bits import NONE, Bits, exclude, highest_up_to, include, lowest_from, make_bits
from serving_sim.compiled.jit import Words, inner, read_only


class SizeQueue(NamedTuple):
    """First-in first-out buckets, one a size, over a set of the sizes that wait.

    A size is known by its rank, its place among the sizes that occur. All requests of a run are known
    before it starts, so each bucket has room of its own in one array, and its requests lie side by
    side: a long queue costs few cache misses. `push` and `pop` are O(1) while a bucket stays
    non-empty and O(log d) to the base 64 otherwise, d ranks; a binary heap takes O(log n) to the
    base 2 for every pop, n waiting (``benchmarks/kernel.py`` has both).

    Attributes
    ----------
    sizes : ndarray of int64, shape (d,)
        Sizes by rank, increasing.
    rank : ndarray of int64, shape (n,)
        Rank of each request.
    head, tail : ndarray of int32, shape (d,)
        Where each bucket begins and ends in ``requests``.
    requests : ndarray of int32, shape (n,)
        Requests, bucket by bucket; 32 bits halve the memory.
    filled : Bits
        Ranks with a non-empty bucket.
    """

    sizes: Words
    rank: Words
    head: Words
    tail: Words
    requests: Words
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
    head = np.zeros(buckets, np.int32)
    if buckets:
        np.cumsum(np.bincount(rank, minlength=buckets)[:-1], out=head[1:])
    return SizeQueue(
        sizes=read_only(sizes),
        rank=read_only(rank),
        head=head,
        tail=head.copy(),
        requests=np.empty(len(rank), np.int32),
        filled=make_bits(buckets),
    )


@inner
def push(queue: SizeQueue, request: int) -> None:
    """Add a request behind those of its size."""
    rank = queue.rank[request]
    place = queue.tail[rank]
    queue.requests[place] = request
    queue.tail[rank] = place + 1
    if place == queue.head[rank]:
        include(queue.filled, rank)


@inner
def pop(queue: SizeQueue, rank: int) -> int:
    """Take out the earliest request of a rank that waits."""
    place = queue.head[rank]
    queue.head[rank] = place + 1
    if place + 1 == queue.tail[rank]:
        exclude(queue.filled, rank)
    request: int = queue.requests[place]
    return request


@inner
def count(queue: SizeQueue, rank: int) -> int:
    """How many requests of a rank wait."""
    waiting: int = queue.tail[rank] - queue.head[rank]
    return waiting


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
    if top == NONE or count(queue, top) > 1:
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
