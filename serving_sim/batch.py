"""The active set of the worker and the view of it that a policy gets."""

from __future__ import annotations

from collections import OrderedDict
from math import inf

FREE = -1
"""Occupant of a slot that serves nobody."""


class Batch:
    """Active requests in lockstep, with the fairness and cost accounts of the run.

    All requests advance by one token a step, so a request is described by the step at which it was
    admitted: its progress is the current step minus that. The order of admission is the order of
    progress; an ordered dictionary by slot gives both ends and forgets a slot in O(1).

    The accounts need no loop over steps. With s_i the admission step of request i, o_i its length
    and s(t) the oldest admission step in the batch of step t, the batching externality (Yao and
    Zhou, equation 6) is ``E = sum_t sum_i (s_i - s(t)) = sum_i o_i s_i - sum_t |S(t)| s(t)``; the first sum
    grows at admissions, the second is settled when the oldest request changes. The worker itself
    puts requests in and takes them out; what follows from it for the accounts is here.

    Attributes
    ----------
    occupant : list of int
        By slot, the request in it or `FREE`.
    admitted : OrderedDict of int to int
        By occupied slot the admission step, oldest first.
    oldest, newest : int
        Admission steps of both ends; equal while the batch is empty.
    """

    __slots__ = (
        "_alpha",
        "_gap_mark",
        "_work_mark",
        "admitted",
        "externality",
        "gap_steps",
        "max_gap",
        "newest",
        "occupant",
        "oldest",
        "violation_steps",
    )

    def __init__(self, slots: int, alpha: int | None) -> None:
        self._alpha = inf if alpha is None else alpha
        self.occupant = [FREE] * slots
        self.admitted: OrderedDict[int, int] = OrderedDict()
        self.oldest = 0
        self.newest = 0
        self.max_gap = 0
        self.gap_steps = 0
        self.violation_steps = 0
        self.externality = 0  # the part that is settled when the oldest request changes
        self._gap_mark = 0  # step up to which the gaps are settled
        self._work_mark = 0  # work up to which the externality is settled

    def newest_admitted(self, step: int, oldest: int) -> int:
        """Requests were admitted before the step that follows ``step``; returns the gap from now on.

        ``oldest`` is the oldest admission step of the batch that they are in now.
        """
        gap = self.newest - self.oldest
        if gap:
            self._settle_gap(step, gap)
        self._gap_mark = self.newest = step
        self.oldest = oldest
        gap = step - oldest
        if gap > self.max_gap:  # noqa: PLR1730  (max() costs a call an epoch)
            self.max_gap = gap
        return gap

    def end_retired(self, step: int, work: int) -> None:
        """The oldest or the newest request has left; ``work`` tokens were produced up to ``step``."""
        oldest = self.oldest
        gap = self.newest - oldest
        if gap:
            self._settle_gap(step, gap)
        self._gap_mark = step
        self.externality -= oldest * (work - self._work_mark)
        self._work_mark = work
        admitted = self.admitted
        if admitted:
            self.oldest = admitted[next(iter(admitted))]
            self.newest = admitted[next(reversed(admitted))]
        else:
            self.newest = oldest

    def _settle_gap(self, step: int, gap: int) -> None:
        span = step - self._gap_mark
        self.gap_steps += gap * span
        if gap > self._alpha:
            self.violation_steps += span
