"""The waiting queue by size, with ties by arrival."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from serving_sim.compiled.bits import NONE, Bits, bits_of, exclude, highest_up_to, include, lowest_from
from serving_sim.compiled.jit import Words, inner, read_only

LINK = 15
"""Requests of a chunk, and the place in it where the next chunk is named: 16 words, two lines of a cache."""

SPARE, FRESH = range(2)
"""Places in `SizeQueue.chunks`: the spare chunk to take next, and where the unused room begins."""


class SizeQueue(NamedTuple):
    """First-in first-out buckets, one a size, over a set of the sizes that wait.

    A size is known by its rank, its place among the sizes that can occur. A bucket is a list of chunks of
    requests (an unrolled linked list; Shao, Reppy and Appel, 1994), so that those that follow each other
    lie side by side, and a chunk that was used up is the next to be taken: a short queue stays in the
    cache however many requests pass through it. `push` and `pop` are O(1) while a bucket stays non-empty
    and O(log d) to the base 64 otherwise, d ranks; a binary heap takes O(log n) to the base 2 for every
    pop, n waiting (``benchmarks/kernel.py`` has both).

    Attributes
    ----------
    sizes : ndarray of int64, shape (d,)
        Sizes by rank, increasing.
    waiting : ndarray of int64, shape (d,)
        Requests of each bucket.
    head, tail : ndarray of int64, shape (d,)
        Where in ``entries`` each non-empty bucket begins and ends.
    entries : ndarray of int64, shape (16 m,)
        Chunks of 15 requests and the start of the chunk that follows.
    chunks : ndarray of int64, shape (2,)
        Start of the first spare chunk, each of which names the next, or `NONE`; start of the chunks that
        were never used.
    filled : Bits
        Ranks with a non-empty bucket.
    """

    sizes: Words
    waiting: Words
    head: Words
    tail: Words
    entries: Words
    chunks: Words
    filled: Bits


def make_queue() -> SizeQueue:
    """An empty queue without room; `with_room` makes it."""
    nothing = np.empty(0, np.int64)
    return SizeQueue(
        read_only(nothing),
        nothing,
        nothing,
        nothing,
        nothing,
        np.array([NONE, 0]),
        bits_of(np.empty(0, bool)),
    )


def with_room(queue: SizeQueue, size: Words) -> tuple[SizeQueue, Words]:
    """The queue with room for more requests of the given sizes, and the rank of each.

    O(n + d) for n new requests while the largest size is below their number, with the sorting of the
    sizes in it otherwise.
    """
    held = np.flatnonzero(queue.waiting)
    sizes, rank = _ranks(queue.sizes[held], size)
    at = np.searchsorted(sizes, queue.sizes[held])

    def moved(column: Words) -> Words:
        place = np.zeros(len(sizes), np.int64)
        place[at] = column[held]
        return place

    waiting = moved(queue.waiting)
    words = _most_words(int(waiting.sum()) + len(size), len(sizes))
    longer = queue._replace(
        sizes=read_only(sizes),
        waiting=waiting,
        head=moved(queue.head),
        tail=moved(queue.tail),
        entries=_at_least(queue.entries, words),
        filled=bits_of(waiting > 0),
    )
    return longer, read_only(rank)


def _ranks(held: Words, size: Words) -> tuple[Words, Words]:
    largest = max(int(size.max()), int(held.max(initial=0)))
    if largest < len(size):  # a size is its own rank: empty buckets cost less than sorting
        return np.arange(largest + 1), size
    sizes, rank = np.unique(np.concatenate((held, size)), return_inverse=True)
    return sizes, rank[len(held) :]


def _most_words(waiting: int, buckets: int) -> int:
    # in each chunk somebody waits, and a bucket fills all but its first and its last one
    return min(waiting, waiting // LINK + 2 * buckets) * (LINK + 1)


def _at_least(entries: Words, words: int) -> Words:
    if len(entries) >= words:
        return entries
    longer = np.empty(max(words, 2 * len(entries)), np.int64)
    longer[: len(entries)] = entries
    return longer


@inner
def push(queue: SizeQueue, rank: int, request: int) -> None:
    """Add a request behind those of its rank."""
    place = queue.tail[rank]
    if queue.waiting[rank] == 0:
        place = _take_chunk(queue)
        queue.head[rank] = place
        include(queue.filled, rank)
    elif place & LINK == LINK:
        chunk = _take_chunk(queue)
        queue.entries[place] = chunk
        place = chunk
    queue.entries[place] = request
    queue.tail[rank] = place + 1
    queue.waiting[rank] += 1


@inner
def pop(queue: SizeQueue, rank: int) -> int:
    """Take out the earliest request of a rank that waits."""
    place = queue.head[rank]
    request: int = queue.entries[place]
    queue.waiting[rank] -= 1
    if queue.waiting[rank] == 0:
        _give_chunk(queue, place)
        exclude(queue.filled, rank)
    elif (place + 1) & LINK == LINK:
        queue.head[rank] = queue.entries[place + 1]
        _give_chunk(queue, place)
    else:
        queue.head[rank] = place + 1
    return request


@inner
def _take_chunk(queue: SizeQueue) -> int:
    chunk: int = queue.chunks[SPARE]
    if chunk == NONE:
        chunk = queue.chunks[FRESH]
        queue.chunks[FRESH] = chunk + LINK + 1
    else:
        queue.chunks[SPARE] = queue.entries[chunk + LINK]
    return chunk


@inner
def _give_chunk(queue: SizeQueue, place: int) -> None:
    chunk = place - (place & LINK)
    queue.entries[chunk + LINK] = queue.chunks[SPARE]
    queue.chunks[SPARE] = chunk


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
    if top == NONE or queue.waiting[top] > 1:
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
