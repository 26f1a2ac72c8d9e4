"""Longest job first in static batches (Yao and Zhou, algorithm 1)."""

from __future__ import annotations

from collections.abc import Sequence

from policies.by_size import BySize
from serving_sim import Admission, Epoch, Explanation, Order, Rule


class LJF(BySize):
    """When the worker is empty, admit the largest waiting requests; nobody else until all finish.

    Static batching keeps every gap at 0, so it is alpha-fair for any alpha (proposition 3.1 of Yao
    and Zhou), at the price of idle slots. O(log d) a request, d distinct sizes.
    """

    name = "ljf"
    alpha = 0

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        if epoch.active:
            return ()
        return [(self._queue.pop_largest(), slot) for slot in epoch.lowest(len(self._queue))]

    def explain(self, epoch: Epoch, answer: Sequence[Admission]) -> Explanation:
        if epoch.active:
            return Explanation("static batches: nobody enters until all active requests have finished")
        return Explanation("static batches: the worker is empty, the largest waiting requests enter together")

    def rule(self) -> Rule:
        return Rule(Order.LARGEST)  # behind A_max <= 0 nobody joins a busy batch
