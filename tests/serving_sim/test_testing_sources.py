"""The conformance kit on sources of requests: those that keep the contract and those that do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle
from typing import cast

import numpy as np
import pytest
import simpy

from serving_sim import OpenSource, ReactiveSource, Workload
from serving_sim.arrivals import Desk
from serving_sim.source import Process
from serving_sim.testing import SourceContract, check_source
from serving_sim.testing.source_checks import Source


class Blocks:
    """An open source that yields what it was given."""

    def __init__(self, *blocks: Workload) -> None:
        self._blocks = blocks

    def blocks(self) -> Iterator[Workload]:
        yield from self._blocks


class Poisson:
    """An open source that draws its blocks when asked."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def blocks(self) -> Iterator[Workload]:
        rng = np.random.default_rng(self._seed)
        now = 0.0
        for _ in range(4):
            release = now + rng.exponential(2.0, 6).cumsum()
            now = release[-1]
            yield Workload(release, rng.integers(1, 9, 6))


class Users(ReactiveSource):
    """Users who think between an answer and their next question."""

    questions = 3

    def process(self, desk: Desk) -> Process:
        for user in range(2):
            desk.spawn(self.user(desk, user))
        yield desk.at(0)

    def user(self, desk: Desk, user: int) -> Process:
        for question in range(self.questions):
            request = desk.release(2 + user + question)
            yield desk.finished(request)
            yield desk.at(desk.now + 1.5)


class TestWorkload(SourceContract):
    def make_source(self) -> OpenSource:
        return Workload([3, 0, 0.5], [2, 9, 4], tenant=["a", "b", "a"])


class TestOpen(SourceContract):
    def make_source(self) -> OpenSource:
        return Poisson(seed=3)


class TestReactive(SourceContract):
    def make_source(self) -> ReactiveSource:
        return Users()


def test_object_without_a_contract() -> None:
    assert failure(cast("Callable[[], Source]", list)) == (
        "check_kind: source: expected an OpenSource or a ReactiveSource, found an object of type list; "
        "likely cause: it has no method blocks and does not inherit from ReactiveSource"
    )


def test_stored_object() -> None:
    stored = Users()
    assert failure(lambda: stored) == (
        "check_kind: source Users: expected a new object from every call of make, found the same one twice; "
        "likely cause: make hands out an object that was made before"
    )


def test_block_that_is_not_sorted() -> None:
    assert failure(lambda: Blocks(Workload([0, 2, 1], [1, 1, 1]))) == (
        "check_blocks: source Blocks, block 0: expected rows in order of release, found 1.0 after 2.0; "
        "likely cause: releases are drawn and not sorted"
    )


def test_block_that_starts_too_early() -> None:
    assert failure(lambda: Blocks(Workload([0, 2], [1, 1]), Workload([1.5], [1]))) == (
        "check_blocks: source Blocks, block 1: expected releases from 2.0 on, where the block before ended, "
        "found 1.5; likely cause: every block starts its clock anew"
    )


def test_blocks_with_different_columns() -> None:
    one, other = Workload([0], [1], tenant=["a"]), Workload([1], [1])
    assert failure(lambda: Blocks(one, other)) == (
        "check_blocks: source Blocks, block 1: expected the columns of the block before, release, length, "
        "tenant, found release, length; likely cause: a column is left out where nothing is known of it"
    )


def test_block_that_is_no_workload() -> None:
    assert failure(lambda: Blocks(cast("Workload", [(0, 1)]))) == (
        "check_blocks: source Blocks, block 0: expected a Workload, found an object of type list; likely "
        "cause: blocks yields rows or arrays"
    )


def test_source_that_gives_no_blocks() -> None:
    class Nothing:
        def blocks(self) -> Iterator[Workload]:
            return cast("Iterator[Workload]", None)

    assert failure(Nothing) == (
        "check_blocks: source Nothing: expected blocks to give Workloads one by one, found an object of type "
        "NoneType; likely cause: blocks neither yields nor returns what can be iterated over"
    )


def test_fates_that_a_sink_takes_away() -> None:
    class Remembers(ReactiveSource):
        def process(self, desk: Desk) -> Process:
            first = desk.release(1)
            yield desk.finished(first)
            yield desk.finished(desk.release(1))
            yield desk.finished(first)

    assert failure(Remembers) == (
        "check_end: source Remembers: expected a run with slots=1 and a sink to end within 100 requests, "
        "found 'source Remembers at time 2.0: request 0 has left memory for the sink'; likely cause: a loop "
        "without a bound, or a wait for an instant or a fate that will not come"
    )


def test_open_source_without_an_end() -> None:
    class Forever:
        def blocks(self) -> Iterator[Workload]:
            while True:
                yield Workload([0], [1])

    assert failure(Forever, most=50) == (
        "check_end: source Forever: expected a run with slots=1 to end within 50 requests, found more than "
        "50 requests; likely cause: a loop without a bound, or a wait for an instant or a fate that will "
        "not come"
    )


def test_reactive_source_without_an_end() -> None:
    class Forever(Users):
        questions = 10**9

    assert failure(Forever, most=50) == (
        "check_end: source Forever: expected a run with slots=1 to end within 50 requests, found more than "
        "50 requests; likely cause: a loop without a bound, or a wait for an instant or a fate that will "
        "not come"
    )


def test_process_that_waits_for_the_past() -> None:
    class Late(ReactiveSource):
        def process(self, desk: Desk) -> Process:
            yield desk.finished(desk.release(3))
            yield desk.at(1)

    assert failure(Late) == (
        "check_end: source Late: expected a run with slots=1 to end within 100 requests, found 'source Late "
        "at time 3.0: cannot wait for 1'; likely cause: a loop without a bound, or a wait for an instant or "
        "a fate that will not come"
    )


def test_process_that_waits_for_ever() -> None:
    class Deaf(ReactiveSource):
        def process(self, desk: Desk) -> Process:
            desk.release(3)
            self.call = simpy.Event(desk.at(0).env)
            yield self.call

    assert failure(Deaf) == (
        "check_end: source Deaf: expected a run with slots=1 to end within 100 requests, found 'source "
        "Deaf: 1 of its processes still wait for something that can no longer happen'; likely cause: a loop "
        "without a bound, or a wait for an instant or a fate that will not come"
    )


def test_numbers_that_change() -> None:
    lengths = cycle([7, 5])
    assert failure(lambda: Workload([0, 0], [3, next(lengths)])) == (
        "check_repeatable: source Workload: expected the same requests from two new objects, found request "
        "1 with length 7 against 5; likely cause: random numbers without a seed, or state outside the "
        "object"
    )


def test_number_of_requests_that_changes() -> None:
    sizes = cycle([7, 5])
    assert failure(lambda: Workload([0.0] * (size := next(sizes)), [1] * size)) == (
        "check_repeatable: source Workload: expected the same requests from two new objects, found 7 in all "
        "against 5 in all; likely cause: random numbers without a seed, or state outside the object"
    )


def test_columns_that_change() -> None:
    tenants = cycle([None, ["a"]])
    assert failure(lambda: Workload([0], [1], tenant=next(tenants))) == (
        "check_repeatable: source Workload: expected the same requests from two new objects, found columns "
        "release, length against release, length, tenant; likely cause: random numbers without a seed, or "
        "state outside the object"
    )


NONE_LEFT = "'source Once: at least one request is needed, found none'"


@pytest.mark.parametrize("count", [2, len(NONE_LEFT)])  # a text as long as the run is no run either
def test_generator_that_is_used_up(count: int) -> None:
    class Once:
        def __init__(self) -> None:
            self._parts = iter([Workload([at], [5]) for at in range(count)])

        def blocks(self) -> Iterator[Workload]:
            return self._parts

    assert failure(Once) == (
        "check_reusable: source Once: expected the requests of a new object from one that served a run "
        f"before, found {count} in all against {NONE_LEFT}; likely cause: a generator or a counter lives in "
        "the object; blocks or process must make it anew"
    )


def test_counter_that_goes_on_where_it_was_stopped() -> None:
    class GoesOn(ReactiveSource):
        asked = 0

        def process(self, desk: Desk) -> Process:
            while self.asked < 4:
                self.asked += 1
                yield desk.finished(desk.release(5))
            self.asked = 0

    assert failure(GoesOn) == (
        "check_reusable: source GoesOn: expected the requests of a new object from one that was stopped in "
        "the middle of a run, found 4 in all against 1 in all; likely cause: a generator or a counter lives "
        "in the object; blocks or process must make it anew"
    )


def failure(make: Callable[[], Source], most: int = 100) -> str:
    with pytest.raises(AssertionError) as caught:
        check_source(make, most=most)
    return str(caught.value)
