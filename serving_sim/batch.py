"""The active set of the worker and the view of it that a policy gets."""

from __future__ import annotations

from collections import OrderedDict
from math import inf

FREE = -1
"""Occupant of a slot that serves nobody."""


class Batch:
    """Active requests in lockstep, with the fairness and cost accounts of the run.

    All requests advance by one token a step, so a request is described by the step at which it was
    admitted: progress is the current step minus that. The order of admission is the order of
    progress; an ordered dictionary by slot gives both ends in O(1) and forgets a slot in O(1).

    Batching externality needs no loop over steps (Yao and Zhou, equation 6). With s_i the
    admission step of request i, o_i its length and s(t) the oldest admission step at step t,
    ``E = sum_t sum_i (s_i - s(t)) = sum_i o_i s_i - sum_t |S(t)| s(t)``, and the second sum changes
    its rate only when the oldest request changes.
    """

    __slots__ = (
        "_externality",
        "_mark",
        "_work_done",
        "_work_mark",
        "active",
        "admitted",
        "alpha",
        "gap_steps",
        "max_gap",
        "newest",
        "occupant",
        "oldest",
        "sum_admitted",
        "violation_steps",
    )

    def __init__(self, slots: int, alpha: int | None) -> None:
        self.alpha = inf if alpha is None else alpha
        self.occupant = [FREE] * slots
        self.admitted: OrderedDict[int, int] = OrderedDict()  # slot -> admission step, oldest first
        self.active = 0
        self.sum_admitted = 0
        self.oldest = 0  # admission steps of both ends; equal while the batch is empty
        self.newest = 0
        self.max_gap = 0
        self.gap_steps = 0
        self.violation_steps = 0
        self._mark = 0  # step up to which gap_steps is settled
        self._externality = 0
        self._work_done = 0
        self._work_mark = 0  # work up to which the externality is settled

    def admit(self, step: int, slot: int, request: int, length: int) -> None:
        """Put a request into a free slot before the step that follows ``step``."""
        if self.newest != step or not self.active:
            self._settle_gap(step)
            if not self.active:
                self.oldest = step
            self.newest = step
            gap = step - self.oldest
            if gap > self.max_gap:
                self.max_gap = gap
        self.occupant[slot] = request
        self.admitted[slot] = step
        self.active += 1
        self.sum_admitted += step
        self._externality += length * step

    def retire(self, step: int, slot: int) -> int:
        """Take a finished request out of its slot and return it."""
        request = self.occupant[slot]
        self.occupant[slot] = FREE
        since = self.admitted.pop(slot)
        if since == self.oldest or since == self.newest:
            self._settle_gap(step)
            work = self._work_done + self.active * step - self.sum_admitted
            self._externality -= self.oldest * (work - self._work_mark)
            self._work_mark = work
            if self.admitted:
                self.oldest = next(iter(self.admitted.values()))
                self.newest = next(reversed(self.admitted.values()))
            else:
                self.newest = self.oldest
        self.active -= 1
        self.sum_admitted -= since
        self._work_done += step - since
        return request

    def _settle_gap(self, step: int) -> None:
        gap = self.newest - self.oldest
        if gap:
            span = step - self._mark
            self.gap_steps += gap * span
            if gap > self.alpha:
                self.violation_steps += span
        self._mark = step

    @property
    def externality(self) -> int:
        """E up to the last retirement; exact once the batch is empty."""
        return self._externality
