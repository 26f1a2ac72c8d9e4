"""Books on one run, kept apart from the engine's own accounts."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import NoReturn

from serving_sim.epoch import Epoch
from serving_sim.policy import Admission
from serving_sim.testing.breaches import (
    AnswerError,
    BreachError,
    CallError,
    CapacityError,
    FairnessError,
    SlotError,
    WaitingError,
)

_CALLER = "the worker or the wrapper that calls the policy, not the policy"


class Books:
    """Who waits and who holds which slot since when, from the calls of one run alone.

    Sizes can be upper bounds, so a completion is seen by its slot and never computed.
    Complexity: O(1) a request, O(slots) a decision.

    Parameters
    ----------
    label : str
        The policy in messages.
    slots : int
        Slots of the worker.
    alpha : int or None
        Fairness budget in tokens that the policy promises.

    Attributes
    ----------
    joined : int
        Requests that have joined.
    """

    def __init__(self, label: str, slots: int, alpha: int | None) -> None:
        self._label = label
        self._slots = slots
        self._alpha = alpha
        self.joined = 0
        self._released = 0.0
        self._now = 0.0
        self._step = 0
        self._waiting: set[int] = set()
        self._held: dict[int, tuple[int, int]] = {}  # by slot, the request and its admission step

    def join(self, request: int, release: float) -> None:
        """Enter a request that joins the queue."""
        if request != self.joined:
            self._blame_caller(f"request {self.joined} to join next", f"request {request}")
        if release < self._released:
            order = f"a release at or after {self._released}, that of the request before"
            self._blame_caller(order, f"request {request} with {release}")
        self.joined += 1
        self._released = release
        self._waiting.add(request)

    def ask(self, epoch: Epoch) -> None:
        """Enter the completions that the epoch of a decision shows."""
        before, self._now = self._now, epoch.now
        if epoch.now < before or epoch.step < self._step:
            past = f"time {before} and step {self._step} or later"
            self._blame_caller(past, f"time {epoch.now} and step {epoch.step}")
        if self._released > epoch.now:
            self._blame_caller("requests released by now", f"one released at {self._released}")
        self._step = epoch.step
        for slot, (request, _) in list(self._held.items()):
            occupant = epoch.request(slot)
            if occupant is None:
                del self._held[slot]
            elif occupant != request:
                self._blame_caller(f"request {request} in slot {slot}", f"request {occupant}")
        free = [slot for slot in range(self._slots) if slot not in self._held]
        if list(epoch.free) != free:
            self._blame_caller(f"free slots {free}", f"{list(epoch.free)}")

    def answer(self, answer: Sequence[Admission]) -> None:
        """Enter the admissions of an answer, or raise the rule it breaks."""
        admissions = self._pairs(answer)
        free = self._slots - len(self._held)
        if len(admissions) > free:
            self._refuse(
                CapacityError,
                f"no more admissions than free slots, that is {free}",
                f"{len(admissions)}, with request {admissions[free][0]} one too many",
                "the answer is not cut to epoch.free or epoch.lowest(count)",
            )
        if admissions:
            self._check_gap(admissions[0][0])
        for request, slot in admissions:
            self._check_waits(request)
            self._check_free(request, slot)
            self._waiting.remove(request)
            self._held[slot] = (request, self._step)

    def _pairs(self, answer: object) -> list[Admission]:
        if not isinstance(answer, Sequence) or isinstance(answer, str):
            found = "None" if answer is None else f"an object of type {type(answer).__name__}"
            self._refuse_form(found, "decide does not return a list on every path")
        pairs = []
        for pair in answer:
            try:
                request, slot = pair
                pairs.append((index(request), index(slot)))
            except (TypeError, ValueError):
                self._refuse_form(f"{pair!r:.80} in it", "slots and requests are named by their numbers")
        return pairs

    def _check_gap(self, request: int) -> None:
        furthest = max((self._step - since for _, since in self._held.values()), default=0)
        if self._alpha is not None and furthest > self._alpha:
            self._refuse(
                FairnessError,
                f"no admission while the largest progress exceeds alpha = {self._alpha}",
                f"request {request} admitted at a largest progress of {furthest} tokens",
                "alpha is set after the run has begun, so the worker does not hold the policy back",
            )

    def _check_waits(self, request: int) -> None:
        if request in self._waiting:
            return
        if 0 <= request < self.joined:
            state, cause = "was admitted before", "decide leaves admitted requests in its queue"
        else:
            state = "does not exist" if request < 0 else "has not joined yet"
            cause = "the number does not come from join"
        self._refuse(WaitingError, "a waiting request", f"request {request}, which {state}", cause)

    def _check_free(self, request: int, slot: int) -> None:
        if not 0 <= slot < self._slots:
            state, cause = "does not exist", "slots are numbered from 0"
        elif slot in self._held:
            state = f"holds request {self._held[slot][0]}"
            cause = "slots are counted by the policy, not taken from epoch.free or epoch.lowest(count)"
        else:
            return
        found = f"slot {slot}, which {state}, for request {request}"
        self._refuse(SlotError, "a free slot", found, cause)

    def _refuse_form(self, found: str, cause: str) -> NoReturn:
        self._refuse(AnswerError, "a sequence of (request, slot) pairs of whole numbers", found, cause)

    def _blame_caller(self, expected: str, found: str) -> NoReturn:
        self._refuse(CallError, expected, found, _CALLER)

    def _refuse(self, rule: type[BreachError], expected: str, found: str, cause: str) -> NoReturn:
        where = f"policy {self._label} at time {self._now}"
        raise rule.at(where, expected=expected, found=found, cause=cause)
