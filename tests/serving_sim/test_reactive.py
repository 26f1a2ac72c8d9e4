"""Reactive sources: what they see, and when the worker sees what they release."""

from __future__ import annotations

import re
from asyncio import CancelledError
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import pytest
import simpy

from policies import FCFS, Delayed, Fair
from serving_sim import (
    Admission,
    Epoch,
    Policy,
    PolicyError,
    ReactiveSource,
    SourceError,
    StepTime,
    Workload,
    simulate,
)
from serving_sim.arrivals import Desk
from serving_sim.source import Process


class Scripted(ReactiveSource):
    """A source whose process is the function it is given; keeps a log of what it saw."""

    def __init__(self, script: Callable[[Desk, list[object]], Process]) -> None:
        self.script = script
        self.log: list[object] = []

    def process(self, desk: Desk) -> Process:
        return self.script(desk, self.log)


def test_a_source_hears_of_starts_and_finishes_at_their_instants() -> None:
    def script(desk: Desk, log: list[object]) -> Process:
        log.append(("rang", (yield desk.at(0.5)), desk.now))
        first = desk.release(3)
        log.append(("started", (yield desk.started(first)), desk.now))
        log.append(("finished", (yield desk.finished(first)), desk.now))
        log.append(("started long ago", (yield desk.started(first)), desk.now))

    source = Scripted(script)
    simulate(source, FCFS(), slots=1)
    assert source.log == [
        ("rang", None, 0.5),
        ("started", 0.5, 0.5),
        ("finished", 3.5, 3.5),
        ("started long ago", 0.5, 3.5),
    ]


def test_a_request_released_on_a_completion_joins_before_the_policy_decides() -> None:
    # one slot, an answer of length 1 waits since 0; the user's next request is released at 4 as its
    # first one ends, joins at 4 and, being earlier in nobody's eyes, waits behind the other
    def script(desk: Desk, log: list[object]) -> Process:
        first = desk.release(4)
        desk.release(1)
        yield desk.finished(first)
        log.append(desk.release(2))

    class LastComeFirstServed(Policy):
        name = "lcfs"

        def begin(self, slots: int) -> None:
            self.stack: list[int] = []

        def join(self, request: int, size: int, release: float) -> None:
            self.stack.append(request)

        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            return [(self.stack.pop(), slot) for slot in epoch.lowest(len(self.stack))]

    run = simulate(Scripted(script), LastComeFirstServed(), slots=1)
    # 1 was the last to come at 0 and goes first; 0 at 1..5; its successor, released at 5, at 5..7
    assert run.start.tolist() == [1.0, 0.0, 5.0]


def test_a_release_in_mid_step_is_seen_at_the_end_of_the_step() -> None:
    def script(desk: Desk, _log: list[object]) -> Process:
        desk.release(9)
        yield desk.at(1.25)
        desk.release(2)
        desk.release(1)
        yield desk.at(8.0)
        desk.release(5)

    run = simulate(Scripted(script), FCFS(), slots=3)
    assert run.start.tolist() == [0.0, 2.0, 2.0, 8.0]
    assert run.finish.tolist() == [9.0, 4.0, 3.0, 13.0]


def test_a_release_in_answer_to_an_admission_waits_for_the_next_epoch() -> None:
    def script(desk: Desk, _log: list[object]) -> Process:
        yield desk.started(desk.release(3))
        desk.release(1)

    run = simulate(Scripted(script), FCFS(), slots=2, step_time=StepTime(base=0.5))
    assert run.requests is not None
    assert run.requests.release.tolist() == [0.0, 0.0]
    assert run.start.tolist() == [0.0, 0.5]


def test_a_release_while_the_policy_keeps_the_worker_empty_is_an_epoch_at_once() -> None:
    def script(desk: Desk, _log: list[object]) -> Process:
        desk.release(10)
        yield desk.at(2.25)
        desk.release(1)

    run = simulate(Scripted(script), Delayed(FCFS(), x=0.5), slots=2)
    # 0 is due at 5; 1 is due at 2.75 and runs to 3.75
    assert run.start.tolist() == [5.0, 2.75]


def test_all_that_a_source_says_of_a_request_is_kept() -> None:
    said: dict[str, Any] = {
        "request_id": "a",
        "prompt_tokens": 70,
        "output_tokens": 3,
        "lower": 4,
        "upper": 9,
        "tenant": "t",
        "prompt_steps": 2,
        "model": "m",
    }

    def script(desk: Desk, _log: list[object]) -> Process:
        yield desk.at(1.5)
        desk.release(5, **said)

    run = simulate(Scripted(script), FCFS(), slots=1)
    assert run.requests is not None
    assert run.requests.release.tolist() == [1.5]
    assert run.requests.row(0) == {"length": 5, **said}


def test_a_source_acts_before_the_policy_that_wakes_at_the_same_instant() -> None:
    # the wake-up for 0 at 5 is set at 0, the alarm of the source for 5 only at 3
    def script(desk: Desk, _log: list[object]) -> Process:
        desk.release(10)
        yield desk.at(3.0)
        yield desk.at(5.0)
        desk.release(1)

    class AtFive(Policy):
        name = "at five"

        def begin(self, slots: int) -> None:
            self.seen: list[tuple[float, int]] = []

        def join(self, request: int, size: int, release: float) -> None:
            self.waiting = request + 1

        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            self.seen.append((epoch.now, self.waiting))
            if epoch.now < 5.0:
                epoch.wake_at(5.0)
                return []
            return [(0, 0), (1, 1)]

    policy = AtFive()
    simulate(Scripted(script), policy, slots=2)
    assert policy.seen == [(0.0, 1), (5.0, 2)]


def test_closed_loop_users_never_have_more_than_one_request_each() -> None:
    class Users(ReactiveSource):
        def process(self, desk: Desk) -> Process:
            for user in range(3):
                desk.spawn(self.user(desk, user))
            yield desk.at(0.0)

        def user(self, desk: Desk, user: int) -> Process:
            for turn in range(4):
                yield desk.finished(desk.release(2 + user, tenant=f"user {user}"))
                yield desk.at(desk.now + 0.75 * turn)

    run = simulate(Users(), Fair(FCFS(), alpha=1), slots=2, record_batches=True)
    assert run.requests is not None
    assert run.requests.tenant is not None
    for user in range(3):
        rows = run.requests.tenant == f"user {user}"
        assert rows.sum() == 4
        assert (run.requests.release[rows][1:] >= run.finish[rows][:-1]).all()
    assert run.audit.fair


def test_the_same_requests_as_an_open_stream_give_the_same_run() -> None:
    releases, lengths = [0.0, 0.3, 2.0, 2.0, 7.5], [4, 1, 3, 3, 2]

    def script(desk: Desk, _log: list[object]) -> Process:
        for release, length in zip(releases, lengths, strict=True):
            yield desk.at(release)
            desk.release(length)

    step_time = StepTime(base=0.3, per_request=0.1, per_max_token=0.05)
    reactive = simulate(Scripted(script), Fair(FCFS(), alpha=2), slots=2, step_time=step_time)
    opened = simulate(Workload(releases, lengths), Fair(FCFS(), alpha=2), slots=2, step_time=step_time)
    assert reactive.start.tolist() == opened.start.tolist()
    assert reactive.finish.tolist() == opened.finish.tolist()
    assert reactive.first_token.tolist() == opened.first_token.tolist()
    assert reactive.externality == opened.externality
    assert reactive.totals.busy_time == opened.totals.busy_time


def test_a_source_may_not_wait_for_the_past() -> None:
    def script(desk: Desk, _log: list[object]) -> Process:
        yield desk.at(3.0)
        yield desk.at(2.0)

    with pytest.raises(SourceError, match=r"^source Scripted at time 3\.0: cannot wait for 2\.0$"):
        simulate(Scripted(script), FCFS(), slots=1)


def test_a_source_that_waits_for_something_that_cannot_happen_is_named() -> None:
    def script(desk: Desk, _log: list[object]) -> Process:
        desk.release(1)
        yield simpy.Event(simpy.Environment())

    with pytest.raises(SourceError, match=r"^source Scripted: 1 of its processes still wait for something"):
        simulate(Scripted(script), FCFS(), slots=1)


@pytest.mark.parametrize("request_number", [1, -1, 0.0, None])
def test_a_source_may_not_ask_for_a_request_it_has_not_released(request_number: object) -> None:
    def script(desk: Desk, _log: list[object]) -> Process:
        desk.release(1)
        yield desk.started(cast("int", request_number))

    with pytest.raises(SourceError) as caught:
        simulate(Scripted(script), FCFS(), slots=1)
    assert str(caught.value) == f"source Scripted at time 0.0: there is no request {request_number}"


class Own(ReactiveSource):
    """A source that spawns, or is, what it is given."""

    def __init__(self, first: object, *others: object) -> None:
        self.first = first
        self.others = others

    def process(self, desk: Desk) -> Process:
        for other in self.others:
            desk.spawn(cast("Process", other))
        return cast("Process", self.first)


def test_a_process_is_a_generator() -> None:
    with pytest.raises(SourceError) as caught:
        simulate(Own(None), FCFS(), slots=1)
    assert str(caught.value) == (
        "source Own at time 0.0: a process must be a generator, which yields events, found None"
    )
    with pytest.raises(SourceError, match=r"which yields events, found <class 'list'>$"):
        simulate(Own(None, list), FCFS(), slots=1)


@pytest.mark.parametrize("value", [3, None, "soon"])
def test_a_process_yields_events(value: object) -> None:
    def script(desk: Desk, _log: list[object]) -> Process:
        yield desk.finished(desk.release(2))
        yield cast("simpy.Event", value)

    with pytest.raises(SourceError) as caught:
        simulate(Scripted(script), FCFS(), slots=1)
    assert str(caught.value) == (
        f"source Scripted at time 2.0: a process must yield events, as desk.at gives them, found {value!r}"
    )


def test_a_process_may_deal_with_an_event_that_fails() -> None:
    def script(desk: Desk, log: list[object]) -> Process:
        request = desk.release(3)
        try:
            yield desk.at(1.0).env.event().fail(KeyError("mine"))
        except KeyError as error:
            log.append((error.args, desk.now))
        log.append((yield desk.finished(request)))

    source = Scripted(script)
    simulate(source, FCFS(), slots=1)
    assert source.log == [(("mine",), 0.0), 3.0]


def test_instants_of_numpy_are_counted_as_finely_as_python_s() -> None:
    def script(desk: Desk, log: list[object]) -> Process:
        yield desk.at(cast("float", np.float32(0.1)))
        desk.release(1)
        yield desk.at(desk.now + 1e-9)
        log.append(desk.now - float(np.float32(0.1)))

    class Waits(FCFS):
        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            if epoch.now < 1:
                epoch.wake_at(cast("float", np.float32(1.1)))
                return ()
            return super().decide(epoch)

    source = Scripted(script)
    run = simulate(source, Waits(), slots=1, step_time=StepTime(1e-9))
    assert source.log == pytest.approx([1e-9])
    assert run.makespan == float(np.float32(1.1)) + 1e-9


def test_a_column_is_given_for_all_requests_or_for_none() -> None:
    def script(desk: Desk, _log: list[object]) -> Process:
        desk.release(1, request_id="a", tenant="b")
        yield desk.at(0.5)
        desk.release(1, tenant="b")

    with pytest.raises(SourceError) as caught:
        simulate(Scripted(script), FCFS(), slots=1)
    assert str(caught.value) == (
        "source Scripted at time 0.5: all requests must have the columns of the first, release, length, "
        "request_id, tenant, found release, length, tenant"
    )


def test_a_source_that_releases_nothing_is_refused() -> None:
    def script(desk: Desk, _log: list[object]) -> Process:
        yield desk.at(1.0)

    with pytest.raises(SourceError, match=r"^source Scripted: at least one request is needed, found none$"):
        simulate(Scripted(script), FCFS(), slots=1)


def test_errors_of_a_source_and_refused_lengths_reach_the_caller() -> None:
    class OddError(Exception):
        def __init__(self, one: int, two: int) -> None:
            super().__init__(f"{one} {two}")

    def raises(desk: Desk, _log: list[object]) -> Process:
        yield desk.at(1.0)
        raise OddError(1, 2)

    def refuses(desk: Desk, _log: list[object]) -> Process:
        yield desk.at(1.0)
        desk.release(0)

    with pytest.raises(OddError, match=r"^1 2$"):
        simulate(Scripted(raises), FCFS(), slots=1)
    with pytest.raises(ValueError, match=r"^length\[0\]=0: must be a whole number from 1 to 2\*\*62$"):
        simulate(Scripted(refuses), FCFS(), slots=1)


def test_a_policy_that_starves_a_reactive_source_is_named() -> None:
    class Never(Policy):
        name = "never"

        def begin(self, slots: int) -> None: ...
        def join(self, request: int, size: int, release: float) -> None: ...
        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            return ()

    def script(desk: Desk, _log: list[object]) -> Process:
        desk.release(1)
        desk.release(1)
        yield desk.at(4.0)

    with pytest.raises(PolicyError, match=r"^policy never at time 4\.0: 2 requests still wait"):
        simulate(Scripted(script), Never(), slots=1)


def test_the_first_failure_stops_the_clock() -> None:
    class Polling(ReactiveSource):
        def process(self, desk: Desk) -> Process:
            desk.spawn(self.fail(desk, 2.0))
            desk.spawn(self.fail(desk, 1.0))
            desk.release(1)
            while True:
                yield desk.at(desk.now + 0.5)

        def fail(self, desk: Desk, instant: float) -> Process:
            yield desk.at(instant)
            raise ValueError(f"failed at {instant}")

    with pytest.raises(ValueError, match=r"^failed at 1\.0$"):
        simulate(Polling(), FCFS(), slots=1)


def test_a_policy_may_not_release_requests() -> None:
    desks: list[Desk] = []

    def script(desk: Desk, _log: list[object]) -> Process:
        desks.append(desk)
        desk.release(5)
        yield desk.at(1.0)

    class Releasing(FCFS):
        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            desks[0].release(2)
            return super().decide(epoch)

    with pytest.raises(SourceError, match=r"^source Scripted at time 0\.0: only a process of the source may"):
        simulate(Scripted(script), Releasing(), slots=1)


def _waits_for_now(desk: Desk, _log: list[object]) -> Process:
    desk.release(1)
    while True:
        yield desk.at(desk.now)


def _asks_again(desk: Desk, _log: list[object]) -> Process:
    yield desk.finished(desk.release(1))
    while True:
        yield desk.finished(0)


def _releases_without_end(desk: Desk, _log: list[object]) -> Process:
    yield desk.at(1.0)
    while True:
        desk.release(1)


def _spawns_without_end(desk: Desk, _log: list[object]) -> Process:
    desk.spawn(_spawns_without_end(desk, _log))
    yield desk.at(desk.now)


@pytest.mark.parametrize(
    ("script", "instant"),
    [(_waits_for_now, 0.0), (_asks_again, 1.0), (_releases_without_end, 1.0), (_spawns_without_end, 0.0)],
)
def test_a_source_that_stops_time_is_named(
    script: Callable[[Desk, list[object]], Process], instant: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("serving_sim.arrivals.MOST_ACTIONS", 1_000)
    with pytest.raises(SourceError) as caught:
        simulate(Scripted(script), FCFS(), slots=1)
    assert str(caught.value) == (
        f"source Scripted at time {instant}: has acted 1,000 times without letting time pass"
    )


def test_as_many_actions_at_each_of_many_instants_are_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    def script(desk: Desk, _log: list[object]) -> Process:
        for instant in range(10):
            yield desk.at(instant)
            for _ in range(8):
                desk.release(1)

    monkeypatch.setattr("serving_sim.arrivals.MOST_ACTIONS", 11)
    assert simulate(Scripted(script), FCFS(), slots=1).totals.requests == 80


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit, CancelledError])
def test_an_interruption_inside_a_source_or_policy_reaches_the_caller(
    interruption: type[BaseException],
) -> None:
    raised = interruption("kept")

    def script(desk: Desk, _log: list[object]) -> Process:
        desk.release(1)
        yield desk.at(1.0)
        raise raised

    class Interrupted(FCFS):
        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            raise raised

    for source, policy in ((Scripted(script), FCFS()), (Workload([0], [1]), Interrupted())):
        with pytest.raises(interruption) as caught:
            simulate(source, policy, slots=1)
        assert caught.value is raised


@pytest.mark.parametrize("slotted", [False, True])
def test_a_release_too_late_for_floats_is_refused(*, slotted: bool) -> None:
    def script(desk: Desk, _log: list[object]) -> Process:
        desk.release(1)
        yield desk.at(1e300)
        desk.release(1)

    with pytest.raises(
        ValueError, match=r"^instant=1e\+300: too late to tell steps of 1\.0 time units apart$"
    ):
        simulate(Scripted(script), FCFS(), slots=1, slotted=slotted)


@pytest.mark.parametrize("instant", [1e19, 1e300, 1.7e308])
def test_a_wake_up_too_late_for_floats_is_refused(instant: float) -> None:
    class Sleeper(Policy):
        name = "sleeper"

        def __init__(self, *, busy: bool) -> None:
            self.busy = busy

        def begin(self, slots: int) -> None:
            self.waiting: list[int] = []

        def join(self, request: int, size: int, release: float) -> None:
            self.waiting.append(request)

        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            epoch.wake_at(instant)
            return [(self.waiting.pop(0), epoch.lowest(1)[0])] if self.busy else []

    for busy in (True, False):
        with pytest.raises(
            ValueError, match=rf"^instant={re.escape(repr(instant))}: too late to tell steps of"
        ):
            simulate(Workload([0, 0], [2, 2]), Sleeper(busy=busy), slots=2)
