"""The wrapper for production runs: what it passes on, and what it says of a caller that errs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from plain_policy import Plain

from serving_sim import Admission, Epoch, Policy, PolicyError, Workload, simulate
from serving_sim.batch import Batch
from serving_sim.ledger import Knowledge
from serving_sim.testing import Checked

BLAMED = "likely cause: the worker or the wrapper that calls the policy, not the policy"


class Caller:
    """Calls a checked policy with two slots, as it likes."""

    def __init__(self) -> None:
        self.batch = Batch(2, None)
        self.free = [0, 1]
        self.policy = Checked(Plain())
        self.policy.begin(2)

    def ask(self, now: float, step: int = 0) -> Sequence[Admission]:
        epoch = Epoch(self.batch, self.free, Knowledge(), "plain")
        epoch.now, epoch.step = now, step
        return self.policy.decide(epoch)

    def put(self, request: int, slot: int) -> None:
        self.free.remove(slot)
        self.batch.occupant[slot] = request
        self.batch.admitted[slot] = 0


@pytest.fixture
def caller() -> Caller:
    return Caller()


def test_claims_and_name_are_those_of_the_policy() -> None:
    class Claims(Plain):
        alpha = 4
        needs_upper = True

        def describe(self) -> str:
            return "plain:depth=2"

    watched = Checked(Claims())
    assert (watched.name, watched.describe()) == ("plain", "plain:depth=2")
    assert (watched.alpha, watched.needs_upper) == (4, True)


def test_policy_sees_the_bounds_of_those_who_wait() -> None:
    seen: list[tuple[int, int]] = []

    class Looks(Plain):
        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            seen.extend(epoch.interval(request) for request, _ in self.waiting)
            return self.admit(epoch)

    workload = Workload([0, 0], [9, 3], lower=[4, 3], upper=[12, 5])
    simulate(workload, Checked(Looks()), slots=2, information="interval")
    assert seen == [(4, 12), (3, 5)]


def test_broken_rule_ends_the_run() -> None:
    class TakesSlotZero(Plain):
        name = "slot-zero"

        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            return [(self.waiting.pop(0)[0], 0)]

    with pytest.raises(PolicyError) as caught:
        simulate(Workload([0, 1.5], [9, 9]), Checked(TakesSlotZero()), slots=2)
    assert str(caught.value) == (
        "policy slot-zero at time 2.0: expected a free slot, found slot 0, which holds request 0, for "
        "request 1; likely cause: slots are counted by the policy, not taken from epoch.free or "
        "epoch.lowest(count)"
    )


def test_promise_is_held_against_the_furthest_request() -> None:
    class PromisesLate(Plain):
        def __init__(self, late: int) -> None:
            self.late = late

        def begin(self, slots: int) -> None:
            super().begin(slots)
            self.alpha = self.late

    workload = Workload([0, 2, 4], [9, 9, 9])
    assert simulate(workload, Checked(PromisesLate(4)), slots=3).max_gap == 4
    with pytest.raises(PolicyError) as caught:
        simulate(workload, Checked(PromisesLate(3)), slots=3)
    assert str(caught.value) == (
        "policy plain:late=3 at time 4.0: expected no admission while the largest progress exceeds alpha = 3"
        ", found request 2 admitted at a largest progress of 4 tokens; likely cause: alpha is set after the "
        "run has begun, so the worker does not hold the policy back"
    )


def test_steps_may_be_counted_while_the_batch_is_busy() -> None:
    class Pauses(Plain):
        """Admits at even steps only."""

        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            if epoch.active and epoch.max_progress % 2:
                epoch.wake_in(1)
                return ()
            return self.admit(epoch)

    run = simulate(Workload([0, 1], [9, 9]), Checked(Pauses()), slots=2)
    assert run.start.tolist() == [0, 2]


def test_requests_join_one_by_one(caller: Caller) -> None:
    caller.policy.join(0, 5, 0.0)
    assert refusal(caller.policy.join, 2, 5, 0.0) == (
        f"policy plain at time 0.0: expected request 1 to join next, found request 2; {BLAMED}"
    )


def test_requests_join_in_order_of_release(caller: Caller) -> None:
    caller.policy.join(0, 5, 2.5)
    assert refusal(caller.policy.join, 1, 5, 2.0) == (
        "policy plain at time 0.0: expected a release at or after 2.5, that of the request before, found "
        f"request 1 with 2.0; {BLAMED}"
    )


def test_requests_join_after_their_release(caller: Caller) -> None:
    caller.policy.join(0, 5, 2.5)
    assert refusal(caller.ask, 2.0) == (
        f"policy plain at time 2.0: expected requests released by now, found one released at 2.5; {BLAMED}"
    )


@pytest.mark.parametrize(("now", "step"), [(2.5, 4), (3.0, 2)])
def test_time_runs_forwards(caller: Caller, now: float, step: int) -> None:
    caller.ask(3.0, 3)
    assert refusal(caller.ask, now, step) == (
        f"policy plain at time {now}: expected time 3.0 and step 3 or later, found time {now} and step "
        f"{step}; {BLAMED}"
    )


def test_free_slots_are_those_nobody_holds(caller: Caller) -> None:
    caller.policy.join(0, 5, 0.0)
    assert caller.ask(0.0) == [(0, 0)]
    caller.put(0, 0)
    caller.free.remove(1)
    assert refusal(caller.ask, 1.0, 1) == (
        f"policy plain at time 1.0: expected free slots [1], found []; {BLAMED}"
    )


def test_slots_hold_whom_they_were_given(caller: Caller) -> None:
    caller.policy.join(0, 5, 0.0)
    caller.ask(0.0)
    caller.put(7, 0)
    assert refusal(caller.ask, 1.0, 1) == (
        f"policy plain at time 1.0: expected request 0 in slot 0, found request 7; {BLAMED}"
    )


def test_slot_is_free_again_once_it_is_shown_empty(caller: Caller) -> None:
    caller.policy.join(0, 5, 0.0)
    caller.policy.join(1, 5, 0.0)
    caller.policy.join(2, 5, 0.0)
    assert caller.ask(0.0) == [(0, 0), (1, 1)]
    caller.put(1, 1)
    assert caller.ask(5.0, 5) == [(2, 0)]


def test_every_run_has_new_books() -> None:
    watched: Policy = Checked(Plain())
    workload = Workload([0, 0, 1.5], [9, 3, 9])
    first = simulate(workload, watched, slots=2)
    assert simulate(workload, watched, slots=2).start.tolist() == first.start.tolist() == [0, 0, 3]


def refusal(call: Callable[..., object], *arguments: float) -> str:
    with pytest.raises(PolicyError) as caught:
        call(*arguments)
    return str(caught.value)


def test_a_wake_up_that_is_refused_is_none() -> None:
    class Asking(Plain):
        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            if epoch.now > 0:
                return self.admit(epoch)
            with pytest.raises(PolicyError):
                epoch.wake_in(0)
            epoch.wake_at(2.0)
            return []

    run = simulate(Workload([0], [3]), Checked(Asking()), slots=1)
    assert run.start.tolist() == [2.0]
