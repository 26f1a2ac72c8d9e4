"""What policies that queue by size share."""

from __future__ import annotations

from policies.queues import SizeQueue
from serving_sim import Policy


class BySize(Policy):
    """A policy whose waiting requests stand in a `SizeQueue`. O(log d) to join, d distinct sizes."""

    def begin(self, slots: int) -> None:
        self._queue = SizeQueue()

    def join(self, request: int, size: int, release: float) -> None:
        self._queue.push(request, size)
