"""Waiting queues: by size with ties by arrival, or by arrival alone."""

from __future__ import annotations

from collections import deque
from heapq import heapify, heappop, heapreplace

from sortedcontainers import SortedList


class SizeQueue:
    """Waiting requests by size; among equal sizes the earlier arrival comes first.

    Sizes are whole tokens and repeat a lot, so requests of one size share a first-in first-out
    bucket and only the distinct sizes are kept sorted: `push` and both pops are O(1) unless a size
    appears or disappears, then O(log d) for d distinct sizes. No operation looks at every request; two
    look at the first of every size, `earliest_size` and `pop_earliest`.

    Examples
    --------
    >>> queue = SizeQueue()
    >>> for request, size in enumerate([7, 10, 7]):
    ...     queue.push(request, size)
    >>> queue.largest(), queue.pop_largest(), queue.pop_largest(), queue.smallest()
    (10, 1, 0, 7)
    """

    __slots__ = ("_buckets", "_count", "_sizes")

    def __init__(self) -> None:
        self._buckets: dict[int, deque[int]] = {}
        self._sizes: SortedList[int] = SortedList()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def push(self, request: int, size: int) -> None:
        """Add a request behind those of its size."""
        bucket = self._buckets.get(size)
        if bucket is None:
            self._buckets[size] = bucket = deque()
            self._sizes.add(size)
        bucket.append(request)
        self._count += 1

    def smallest(self) -> int:
        """The smallest size; the queue must not be empty."""
        return self._sizes[0]

    def largest(self) -> int:
        """The largest size; the queue must not be empty."""
        return self._sizes[-1]

    def second_largest(self) -> int | None:
        """The size next in order after `largest`, equal to it for a tie; None below two requests."""
        if self._count < 2:
            return None
        largest = self._sizes[-1]
        return largest if len(self._buckets[largest]) > 1 else self._sizes[-2]

    def count(self, size: int) -> int:
        """How many requests of this size wait."""
        bucket = self._buckets.get(size)
        return 0 if bucket is None else len(bucket)

    def largest_up_to(self, size: int) -> int | None:
        """The largest size not above ``size``, None where there is none."""
        at = self._sizes.bisect_right(size)
        return self._sizes[at - 1] if at else None

    def earliest_size(self) -> int:
        """The size of the request that joined first; the queue must not be empty. O(d)."""
        return min(self._sizes, key=lambda size: self._buckets[size][0])

    def pop_earliest(self, low: int, high: int, count: int) -> list[int]:
        """Take out the at most ``count`` earliest requests of sizes low..high. O(d + count log d)."""
        heads = [(self._buckets[size][0], size) for size in self._sizes.irange(low, high)]
        heapify(heads)
        taken: list[int] = []
        while heads and len(taken) < count:
            size = heads[0][1]
            taken.append(self.pop(size))
            bucket = self._buckets.get(size)
            if bucket is None:
                heappop(heads)
            else:
                heapreplace(heads, (bucket[0], size))
        return taken

    def pop_smallest(self) -> int:
        """Take out the earliest request of the smallest size."""
        return self._pop_end(0)

    def pop_largest(self) -> int:
        """Take out the earliest request of the largest size."""
        return self._pop_end(-1)

    def pop(self, size: int) -> int:
        """Take out the earliest request of this size."""
        bucket = self._buckets[size]
        request = bucket.popleft()
        if not bucket:
            del self._buckets[size]
            self._sizes.remove(size)
        self._count -= 1
        return request

    def _pop_end(self, end: int) -> int:
        size = self._sizes[end]
        bucket = self._buckets[size]
        request = bucket.popleft()
        if not bucket:
            del self._buckets[size]
            del self._sizes[end]  # either end of the order is found without a search
        self._count -= 1
        return request
