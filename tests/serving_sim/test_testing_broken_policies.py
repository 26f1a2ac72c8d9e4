"""The conformance kit on policies that break one rule each: it says which, where and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import numpy as np
import pytest
from plain_policy import Plain

from serving_sim import Admission, Epoch, Policy
from serving_sim.testing import INSTANCES, check_fairness, check_policy

NO_LIST = "decide does not return a list on every path"
NUMBERS = "slots and requests are named by their numbers"
NOT_TOLD = "the number does not come from join"
IDLE = "decide keeps slots idle and asks for no wake-up, or for wake-ups without end"
COME = "what the policy waits for has come already"

_BROKEN: list[Any] = []


def fails(message: str) -> Callable[[type[Policy]], type[Policy]]:
    """Mark a policy with what `check_policy` must say of it."""

    def mark(broken: type[Policy]) -> type[Policy]:
        _BROKEN.append(pytest.param(broken, message, id=broken.__name__))
        return broken

    return mark


@fails(
    "check_capacity: instance 'one slot': policy plain at time 0.0: expected no more admissions than "
    "free slots, that is 1, found 2, with request 1 one too many; likely cause: the answer is not cut "
    "to epoch.free or epoch.lowest(count)"
)
class OverAdmits(Plain):
    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        return [(request, slot) for slot, (request, _) in enumerate(self.waiting)]


@fails(
    "check_waiting: instance 'one request': policy plain at time 0.0: expected a waiting request, "
    f"found request 1, which has not joined yet; likely cause: {NOT_TOLD}"
)
class AdmitsUnreleased(Plain):
    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        return [(request + 1, slot) for request, slot in self.admit(epoch)]


@fails(
    "check_waiting: instance 'one request': policy plain at time 0.0: expected a waiting request, "
    f"found request -1, which does not exist; likely cause: {NOT_TOLD}"
)
class AdmitsNobodyThereIs(Plain):
    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        return [(-1, 0)]


@fails(
    "check_waiting: instance 'one slot': policy plain at time 4.0: expected a waiting request, found "
    "request 0, which was admitted before; likely cause: decide leaves admitted requests in its queue"
)
class AdmitsTwice(Plain):
    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        return [(self.waiting[0][0], epoch.free[0])]


@fails(
    "check_slots: instance 'ties': policy plain at time 3.0: expected a free slot, found slot 0, which "
    "holds request 0, for request 1; likely cause: slots are counted by the policy, not taken from "
    "epoch.free or epoch.lowest(count)"
)
class TakesABusySlot(Plain):
    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        return [(self.waiting.pop(0)[0], 0)]


@fails(
    "check_slots: instance 'length 1': policy plain at time 0.0: expected a free slot, found slot 0, "
    "which holds request 0, for request 1; likely cause: slots are counted by the policy, not taken "
    "from epoch.free or epoch.lowest(count)"
)
class GivesASlotTwice(Plain):
    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        return [(request, epoch.free[0]) for request, _ in self.admit(epoch)]


@fails(
    "check_slots: instance 'one request': policy plain at time 0.0: expected a free slot, found slot 1, "
    "which does not exist, for request 0; likely cause: slots are numbered from 0"
)
class TakesNoSlotThereIs(Plain):
    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        return [(request, slot + 1) for request, slot in self.admit(epoch)]


@fails(
    "check_service: instance 'one request': expected every request to be served once arrivals stop, "
    "found 'policy plain at time 0.0: 1 request still wait, the worker is empty and nothing is left that "
    f"could wake the policy'; likely cause: {IDLE}"
)
class Starves(Plain):
    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        return self.admit(epoch) if len(self.waiting) > 1 else ()


@fails(
    "check_service: instance 'one request': expected every request to be served once arrivals stop, "
    f"found 'policy plain: not all are served after 200 questions'; likely cause: {IDLE}"
)
class Dreams(Plain):
    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        epoch.wake_at(epoch.now + 1)
        return ()


@fails(
    "check_epoch_use: instance 'one request': policy plain at time 0.0: expected the epoch to be left as "
    "it is, found epoch.now = 1.0; likely cause: what the policy wants to remember belongs on self"
)
class ChangesTheEpoch(Plain):
    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        epoch.now += 1
        return self.admit(epoch)


@fails(
    "check_epoch_use: instance 'one request': policy plain at time 0.0: expected the public part of the "
    "epoch to be used, found epoch._free; likely cause: the policy wants to know more than the contract "
    "shows"
)
class LooksBehindTheEpoch(Plain):
    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        epoch._free.clear()
        return ()


@fails(
    "check_epoch_use: instance 'one slot': policy plain at time 0.0: expected the epoch of this decision "
    "to be used during this decision only, found epoch.lowest after the answer; likely cause: the policy "
    "keeps the epoch instead of the numbers it needs"
)
class KeepsTheEpoch(Plain):
    def begin(self, slots: int) -> None:
        super().begin(slots)
        self.epoch: Epoch | None = None

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        if self.epoch is None:
            self.epoch = epoch
        return self.admit(self.epoch)


@fails(
    "check_epoch_use: instance 'one slot': policy plain at time 0.0: expected the epoch of this decision "
    "to be used during this decision only, found epoch.interval after the answer; likely cause: the policy "
    "keeps the epoch instead of the numbers it needs"
)
class AsksTheFirstEpoch(KeepsTheEpoch):
    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        self.epoch = self.epoch or epoch
        self.epoch.interval(0)
        return self.admit(epoch)


@fails(
    "check_epoch_use: instance 'one request': policy plain at time 0.0: expected the bounds of a request "
    "that has joined to be asked for, found epoch.interval(1); likely cause: the number does not come "
    "from join"
)
class AsksForTheNext(Plain):
    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        request, _ = self.waiting[-1]
        return self.admit(epoch) if sum(epoch.interval(request + 1)) > 9 else ()


@fails(
    "check_epoch_use: instance 'one slot': policy plain at time 4.0: expected the bounds of a request that "
    "waits or is served to be asked for, found epoch.interval(0); likely cause: the policy remembers a "
    "request that has finished"
)
class AsksForOneThatHasFinished(Plain):
    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        epoch.interval(0)
        return self.admit(epoch)


@fails(
    "check_wake_ups: instance 'one request': policy plain at time 0.0: expected a whole number of steps "
    f">= 1, found wake_in(0); likely cause: {COME}"
)
class WakesAtOnce(Plain):
    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        epoch.wake_in(0)
        return self.admit(epoch)


@fails(
    "check_wake_ups: instance 'one request': policy plain at time 0.0: expected an instant in the "
    f"future, found wake_at(0.0); likely cause: {COME}"
)
class WakesInThePast(Plain):
    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        epoch.wake_at(epoch.now)
        return self.admit(epoch)


@fails(
    "check_wake_ups: instance 'one request': policy plain at time 0.0: expected wake_at while the worker "
    "is empty, or an admission, found wake_in(3) and no admission; likely cause: an empty worker takes "
    "no steps that could be counted"
)
class CountsStepsOfAnEmptyWorker(Plain):
    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        epoch.wake_in(3)
        return ()


@fails(
    "check_claims: instance 'one request': expected the same alpha before and after a run, found alpha = "
    "None before and 3 after; likely cause: alpha is set in begin or decide instead of in the constructor"
)
class PromisesTooLate(Plain):
    def begin(self, slots: int) -> None:
        super().begin(slots)
        self.alpha = 3


@fails(
    "check_claims: instance 'one request': expected alpha to be None or a whole number of tokens >= 0, "
    "found alpha = 0.5; likely cause: the constructor does not check what it gets"
)
class PromisesAFraction(Plain):
    alpha = 0.5  # type: ignore[assignment]


@fails(
    "check_claims: instance 'one request': expected a name, found name = ''; likely cause: the class "
    "sets it to no text, or to an empty one"
)
class HasNoName(Plain):
    name = ""


@fails(
    "check_claims: instance 'one request': expected describe() to give the name and the parameters, found "
    "''; likely cause: a path of describe without a text"
)
class DescribesNothing(Plain):
    def describe(self) -> str:
        return ""


@pytest.mark.parametrize(("broken", "message"), _BROKEN)
def test_broken_rule_is_named(broken: type[Policy], message: str) -> None:
    assert failure(partial(check_policy, broken)) == message


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (lambda _: None, f"None; likely cause: {NO_LIST}"),
        (lambda _: False, f"an object of type bool; likely cause: {NO_LIST}"),
        (lambda _: "00", f"an object of type str; likely cause: {NO_LIST}"),
        (dict, f"an object of type dict; likely cause: {NO_LIST}"),
        (iter, f"an object of type list_iterator; likely cause: {NO_LIST}"),
        (np.array, f"an object of type ndarray; likely cause: {NO_LIST}"),
        (lambda admissions: admissions[0], f"0 in it; likely cause: {NUMBERS}"),
        (lambda _: [(0, 0.0)], f"(0, 0.0) in it; likely cause: {NUMBERS}"),
        (lambda _: [(0, 0, 0)], f"(0, 0, 0) in it; likely cause: {NUMBERS}"),
        (lambda _: [("a", "b")], f"('a', 'b') in it; likely cause: {NUMBERS}"),
    ],
)
def test_answer_of_a_wrong_form_is_refused(answer: Callable[[list[Admission]], object], found: str) -> None:
    class Answers(Plain):
        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            return cast("Sequence[Admission]", answer(self.admit(epoch)))

    assert failure(partial(check_policy, Answers)) == (
        "check_answers: instance 'one request': policy plain at time 0.0: expected a sequence of (request, "
        f"slot) pairs of whole numbers, found {found}"
    )


def test_numbers_of_numpy_are_whole_numbers_too() -> None:
    class AnswersWithNumpy(Plain):
        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            answer = [(np.int64(request), np.int32(slot)) for request, slot in self.admit(epoch)]
            return cast("Sequence[Admission]", answer)

    check_policy(AnswersWithNumpy)


def test_object_that_is_no_policy_is_refused() -> None:
    make = cast("Callable[[], Policy]", dict)
    assert failure(partial(check_policy, make)) == (
        "check_claims: instance 'one request': expected a serving_sim.Policy, found an object of type dict; "
        "likely cause: its class does not inherit from Policy"
    )


def test_stored_object_is_refused() -> None:
    stored = Plain()
    assert failure(partial(check_policy, lambda: stored)) == (
        "check_claims: instance 'one request': expected a new object from every call of make, found the "
        "same one twice; likely cause: make hands out an object that was made before"
    )


def test_policy_that_keeps_no_alpha_breaks_the_alpha_said_of_it() -> None:
    check_policy(Plain)
    assert failure(partial(check_policy, Plain, alpha=3)) == (
        "check_fairness: instance 'ties': expected gaps of at most 3 tokens, found 5 at time 7.0: request "
        "4 joins request 3; likely cause: decide admits while epoch.max_progress exceeds alpha"
    )


def test_promise_made_too_late_is_held_against_the_policy() -> None:
    (ties,) = (instance for instance in INSTANCES if instance.title == "ties")
    assert failure(partial(check_fairness, PromisesTooLate, ties)) == (
        "instance 'ties': policy plain at time 7.0: expected no admission while the largest progress "
        "exceeds alpha = 3, found request 4 admitted at a largest progress of 5 tokens; likely cause: "
        "alpha is set after the run has begun, so the worker does not hold the policy back"
    )


def test_error_of_the_policy_itself_keeps_its_traceback_and_names_the_instance() -> None:
    class Divides(Plain):
        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            return [(0, 1 // (len(self.waiting) - 1))]

    with pytest.raises(ZeroDivisionError) as caught:
        check_policy(Divides)
    assert caught.value.__notes__ == ["The run was that of instance 'one request'."]


def failure(check: Callable[[], None]) -> str:
    with pytest.raises(AssertionError) as caught:
        check()
    return str(caught.value)
