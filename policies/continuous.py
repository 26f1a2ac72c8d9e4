"""Continuous batching in a fixed order of the queue: FCFS, SJF and LPT."""

from __future__ import annotations

from collections.abc import Sequence

from policies.by_size import BySize
from serving_sim import Admission, Epoch, Explanation, Order, Policy, Rule


class FCFS(Policy):
    """First come, first served: a free slot takes the request that waits longest.

    The admission rule of Orca (Yu et al., 2022) and vLLM (Kwon et al., 2023). Requests are numbered
    in arrival order, so the queue is a pair of counters. O(1) a request.
    """

    name = "fcfs"

    def begin(self, slots: int) -> None:
        self._head = 0
        self._tail = 0

    def join(self, request: int, size: int, release: float) -> None:
        self._tail += 1

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        slots = epoch.lowest(self._tail - self._head)
        admissions = list(enumerate(slots, self._head))
        self._head += len(slots)
        return admissions

    def explain(self, epoch: Epoch, answer: Sequence[Admission]) -> Explanation:
        return Explanation("first come, first served: the request that has waited longest goes first")

    def rule(self) -> Rule:
        return Rule(Order.ARRIVAL)


class _Sorted(BySize):
    """Continuous batching from a queue ordered by size. O(log d) a request, d distinct sizes."""

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        return [(self._next(), slot) for slot in epoch.lowest(len(self._queue))]

    def _next(self) -> int:
        raise NotImplementedError


class SJF(_Sorted):
    """Shortest job first: a free slot takes the smallest waiting request.

    Ties go to the earlier release, then input order (Yao and Zhou, example 2.5 and remark 2.6).
    """

    name = "sjf"

    def _next(self) -> int:
        return self._queue.pop_smallest()

    def explain(self, epoch: Epoch, answer: Sequence[Admission]) -> Explanation:
        return Explanation("shortest job first: the smallest waiting request goes first")

    def rule(self) -> Rule:
        return Rule(Order.SMALLEST)


class LPT(_Sorted):
    """Longest processing time: a free slot takes the largest waiting request (Graham, 1969).

    The natural reference for the makespan when fairness is not asked for; ties as in `SJF`.
    """

    name = "lpt"

    def _next(self) -> int:
        return self._queue.pop_largest()

    def explain(self, epoch: Epoch, answer: Sequence[Admission]) -> Explanation:
        return Explanation("longest processing time: the largest waiting request goes first")

    def rule(self) -> Rule:
        return Rule(Order.LARGEST)
