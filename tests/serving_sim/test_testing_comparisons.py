"""The conformance kit on policies whose answers depend on what they cannot know or should forget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from plain_policy import Plain

from serving_sim import Admission, Epoch, Explanation, Policy, Run, Workload, simulate
from serving_sim.testing import INSTANCES, check_non_clairvoyance, check_policy
from serving_sim.testing.instances import Instance, Row, rows
from serving_sim.testing.observing import observe


@pytest.fixture
def workload(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Workload]:
    """The workload of the run that goes on, as a script that makes both could reach it."""
    runs: list[Workload] = []

    def spied(source: Workload, policy: Policy, **options: Any) -> Run:  # noqa: ANN401  (simulate's)
        runs.append(source)
        return simulate(source, policy, **options)

    monkeypatch.setattr("serving_sim.testing.observing.simulate", spied)
    return lambda: runs[-1]


@pytest.mark.parametrize("instance", INSTANCES, ids=lambda instance: instance.title)
def test_an_instance_is_played_as_it_says(instance: Instance) -> None:
    run = observe(Plain(), instance).run
    assert run is not None
    assert (run.slots, run.step_time, run.slotted) == (instance.slots, instance.step_time, instance.slotted)


def test_intervals_reach_from_half_the_length_to_twice_the_length() -> None:
    assert rows((0, 7), (2.5, 6)) == (Row(0.0, 7, 4, 14), Row(2.5, 6, 3, 12))


def test_waiting_for_a_release_that_lies_ahead(workload: Callable[[], Workload]) -> None:
    class WaitsForTheNext(Plain):
        """Lets nobody in while somebody is about to come."""

        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            ahead = workload().release - epoch.now
            return () if ((ahead > 0) & (ahead < 4)).any() else self.admit(epoch)

    assert failure(WaitsForTheNext) == (
        "check_causality: instance 'one request': expected the same answers before time 0.5, whatever is "
        "released from then on, found [(0, 0)] at time 0.0 against [] at time 0.0; likely cause: the policy "
        "knows the workload, or more of it than join has told"
    )


def test_order_that_looks_at_true_lengths(workload: Callable[[], Workload]) -> None:
    class KnowsLengths(Plain):
        """Shortest first, by the length that only the workload tells."""

        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            length = workload().length
            self.waiting.sort(key=lambda waiting: length[waiting[0]])
            return self.admit(epoch)

    assert failure(KnowsLengths) == (
        "check_non_clairvoyance: instance 'one slot': expected the same answers whether request 1 takes 5 or "
        "18 tokens, until one of the two ends at time 11.0, found [(1, 0)] at time 6.0 against [(3, 0)] at "
        "time 6.0; likely cause: the policy knows true lengths; the size that join tells is the upper bound"
    )


def test_reason_that_changes_what_it_explains() -> None:
    class ForgetsWhileExplaining(Plain):
        def explain(self, epoch: Epoch, answer: Sequence[Admission]) -> Explanation:
            self.waiting.reverse()
            return Explanation("whoever comes first")

    assert failure(ForgetsWhileExplaining) == (
        "check_explanations: instance 'length 1': expected the same answers whether explain is asked or not, "
        "found [(6, 0), (5, 1)] at time 2.0 against [(4, 0), (5, 1)] at time 2.0; likely cause: explain "
        "changes what decide looks at, or asks for a wake-up"
    )


def test_reason_that_asks_for_a_wake_up() -> None:
    class WakesWhileExplaining(Plain):
        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            if epoch.now >= 2:
                return self.admit(epoch)
            epoch.wake_at(2.0)
            return ()

        def explain(self, epoch: Epoch, answer: Sequence[Admission]) -> None:
            epoch.wake_at(epoch.now + 0.5)

    assert failure(WakesWhileExplaining) == (
        "check_explanations: instance 'one request': expected the same answers whether explain is asked or "
        "not, found [] at time 0.5 against [(0, 0)] at time 2.0; likely cause: explain changes what decide "
        "looks at, or asks for a wake-up"
    )


@pytest.mark.parametrize(
    ("reason", "found"),
    [
        ("first come", "'first come' at time 0.0"),
        (Explanation(""), "Explanation(rule='', requests={}) at time 0.0"),
        (Explanation("first", {0: ""}), "Explanation(rule='first', requests={0: ''}) at time 0.0"),
        (Explanation("first", {7: "last"}), "Explanation(rule='first', requests={7: 'last'}) at time 0.0"),
    ],
)
def test_reason_of_a_wrong_form(reason: Explanation, found: str) -> None:
    class Explains(Plain):
        def explain(self, epoch: Epoch, answer: Sequence[Admission]) -> Explanation:
            return reason

    assert failure(Explains) == (
        "check_explanations: instance 'one request': expected explain to return None, or an Explanation with "
        f"texts about requests that wait or enter, found {found}; likely cause: a text is missing, or "
        "explain names requests that have entered before"
    )


def test_order_by_the_told_sizes_is_no_clairvoyance() -> None:
    class BySize(Plain):
        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            self.waiting.sort(key=lambda waiting: waiting[1])
            return self.admit(epoch)

    check_policy(BySize)


def test_a_counter_that_all_objects_share() -> None:
    class TakesTurns(Plain):
        runs = 0

        def begin(self, slots: int) -> None:
            super().begin(slots)
            type(self).runs += 1

        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            if self.runs % 2:
                self.waiting.reverse()
            return self.admit(epoch)

    assert failure(TakesTurns) == (
        "check_determinism: instance 'one slot': expected the same answers from two new objects, found "
        "[(1, 0)] at time 0.0 against [(0, 0)] at time 0.0; likely cause: state outside the object (a "
        "global, a class attribute) or random numbers without a seed"
    )


def test_a_queue_that_begin_does_not_empty() -> None:
    class KeepsTheQueue(Plain):
        """A whole run empties the queue; one that was stopped does not."""

        def __init__(self) -> None:
            super().begin(0)

        def begin(self, slots: int) -> None:
            pass

    assert failure(KeepsTheQueue) == (
        "check_begin_forgets: instance 'one request': expected the answers of a new object from one that "
        "was stopped in the middle of a run, found [(0, 0)] at time 0.0 against [(4, 0)] at time 0.0; "
        "likely cause: begin leaves something of the run before in place"
    )


def test_a_counter_that_outlives_the_run() -> None:
    class TakesTurns(Plain):
        """Every second decision of its life turns the queue round."""

        decisions = 0

        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            self.decisions += 1
            if self.decisions % 2:
                self.waiting.reverse()
            return self.admit(epoch)

    assert failure(TakesTurns) == (
        "check_begin_forgets: instance 'one slot': expected the answers of a new object from one that "
        "served a run before, found [(1, 0)] at time 0.0 against [(0, 0)] at time 0.0; likely cause: begin "
        "leaves something of the run before in place"
    )


def test_all_that_fails_on_an_instance_is_listed(workload: Callable[[], Workload]) -> None:
    class TwoFaults(Plain):
        """Knows true lengths, and begins with the longest from its second run on."""

        runs = 0

        def begin(self, slots: int) -> None:
            super().begin(slots)
            self.runs += 1

        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            length = workload().length
            self.waiting.sort(key=lambda waiting: length[waiting[0]], reverse=self.runs > 1)
            return self.admit(epoch)

    assert failure(TwoFaults) == (
        "check_begin_forgets: instance 'one slot': expected the answers of a new object from one that "
        "served a run before, found [(0, 0)] at time 0.0 against [(1, 0)] at time 0.0; likely cause: begin "
        "leaves something of the run before in place\n"
        "check_non_clairvoyance: instance 'one slot': expected the same answers whether request 1 takes 5 or "
        "18 tokens, until one of the two ends at time 11.0, found [(1, 0)] at time 6.0 against [(3, 0)] at "
        "time 6.0; likely cause: the policy knows true lengths; the size that join tells is the upper bound"
    )


def test_runs_that_come_to_no_end_are_not_compared() -> None:
    class LetsNobodyIn(Plain):
        """Another check says so."""

        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            return ()

    check_non_clairvoyance(LetsNobodyIn, INSTANCES[0])


def failure(make: Callable[[], Plain]) -> str:
    with pytest.raises(AssertionError) as caught:
        check_policy(make)
    return str(caught.value)
