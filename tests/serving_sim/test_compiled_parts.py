"""The parts of the kernel against what Python has for them, and runs at the limits of its numbers."""

from __future__ import annotations

import heapq
from collections import deque

import numpy as np
import pytest
from engines_agree import ENGINES, check_same
from hypothesis import given
from hypothesis import strategies as st
from oracle import Case, Pace

pytest.importorskip("numba", reason="the compiled engine is an optional extra")

from policies import ISJL
from serving_sim import Workload, simulate
from serving_sim.compiled.bits import NONE, bits_of, exclude, highest_up_to, include, lowest_from
from serving_sim.compiled.choice import Engine
from serving_sim.compiled.heap import heap_pop, heap_push
from serving_sim.compiled.pace import Pace as Steps
from serving_sim.compiled.pace import elapsed, steps_to_reach
from serving_sim.compiled.queue import (
    largest,
    largest_up_to,
    make_queue,
    pop,
    push,
    second_largest,
    smallest,
    with_room,
)
from serving_sim.compiled.wide import add_product, exact

ROOMS = (1, 63, 64, 65, 4096, 4097, 300_000)
"""Around the edges of one, two and three levels."""


@given(st.data(), st.sampled_from(ROOMS))
def test_bits_are_a_sorted_set(data: st.DataObject, room: int) -> None:
    numbers = st.integers(0, room - 1)
    bits = bits_of(np.zeros(room, bool))
    members: set[int] = set()
    for number, joins in data.draw(st.lists(st.tuples(numbers, st.booleans()), max_size=40)):
        (include if joins else exclude)(bits, number)
        (members.add if joins else members.discard)(number)
    for asked in [0, room - 1, *data.draw(st.lists(numbers, max_size=10)), *members]:
        assert lowest_from(bits, asked) == min((m for m in members if m >= asked), default=NONE)
        assert highest_up_to(bits, asked) == max((m for m in members if m <= asked), default=NONE)


@pytest.mark.parametrize("room", ROOMS)
def test_all_bits_hold_every_number_and_no_more(room: int) -> None:
    one_by_one = bits_of(np.zeros(room, bool))
    for number in range(room):
        include(one_by_one, number)
    np.testing.assert_array_equal(bits_of(np.ones(room, bool)).words, one_by_one.words)
    assert lowest_from(bits_of(np.ones(room, bool)), room) == NONE


@given(st.lists(st.none() | st.integers(0, 50), max_size=80))
def test_heap_gives_keys_in_order_with_their_values(actions: list[int | None]) -> None:
    keys, values = np.empty(len(actions), np.int64), np.empty(len(actions), np.int64)
    count = 0
    expected: list[int] = []
    for key in actions:
        if key is not None:
            heap_push(keys, values, count, key, 1000 + key)
            heapq.heappush(expected, key)
            count += 1
        elif count:
            assert (keys[0], values[0]) == (expected[0], 1000 + heapq.heappop(expected))
            heap_pop(keys, values, count)
            count -= 1


@given(st.data(), st.sampled_from([5, 10**9]))
def test_queue_gives_sizes_in_order_and_equal_ones_by_arrival(data: st.DataObject, most: int) -> None:
    sizes = data.draw(st.lists(st.integers(1, most), min_size=1, max_size=60))
    queue = make_queue()
    buckets: dict[int, deque[int]] = {}
    first, room, rank = 0, 0, np.empty(0, np.int64)
    for request, size in enumerate(sizes):
        if request == room:
            first, room = room, room + data.draw(st.integers(1, len(sizes) - room))
            queue, rank = with_room(queue, np.array(sizes[first:room]))
        push(queue, rank[request - first], request)
        buckets.setdefault(size, deque()).append(request)
        for rank_of, size_of in data.draw(
            st.sampled_from([(), (), (), ((largest, max),), ((smallest, min),)])
        ):
            if buckets:
                top = size_of(buckets)
                assert pop(queue, rank_of(queue)) == buckets[top].popleft()
                if not buckets[top]:
                    del buckets[top]
        waiting = sorted(size for size, bucket in buckets.items() for _ in bucket)
        limit = data.draw(st.integers(0, most))
        below = [size for size in waiting if size <= limit]
        assert at(queue, largest(queue)) == (waiting[-1] if waiting else None)
        assert at(queue, second_largest(queue)) == (waiting[-2] if len(waiting) > 1 else None)
        assert at(queue, largest_up_to(queue, limit)) == (below[-1] if below else None)


def test_queue_of_one_size_gives_many_requests_in_their_order() -> None:
    queue, rank = with_room(make_queue(), np.full(100, 7))
    for request in range(100):  # more than a chunk holds
        push(queue, rank[request], request)
    assert [pop(queue, largest(queue)) for _ in range(100)] == list(range(100))
    assert largest(queue) == NONE


def at(queue, rank: int) -> int | None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    return None if rank == NONE else int(queue.sizes[rank])


@given(st.lists(st.tuples(st.integers(0, 2**56 - 1), st.integers(0, 2**56 - 1)), max_size=120))
def test_sums_of_products_are_exact(factors: list[tuple[int, int]]) -> None:
    total = np.zeros(2, np.int64)
    for left, right in factors:
        add_product(total, left, right)
    assert exact(total) == sum(left * right for left, right in factors)


@pytest.mark.parametrize("policy", ["fcfs", "lpt", "isjl"])
def test_runs_whose_externality_exceeds_64_bits(policy: str) -> None:
    release, length = (0.0, 0.0, 5.5, 1e14), (5 * 10**14, 3 * 10**14, 2**48 + 1, 7)
    check_same(Case(policy, slots=2, release=release, length=length, alpha=4 * 10**14))


def test_spans_of_two_to_the_31_steps_are_dated_by_an_exact_square() -> None:
    release, length = (0.0, 123.4, 1e9, 1e13), (2**31, 2**31 - 1, 2**20, 5)
    check_same(Case("fcfs", slots=2, release=release, length=length, pace=Pace(0.1, 0.01, 3e-7, 7e-8)))


def test_slotted_releases_far_from_the_origin() -> None:
    check_same(Case("fcfs", 2, (0.3, 1e12 + 0.25, 2.0**46), (3, 2, 1), pace=Pace(0.1), slotted=True))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("beta", "last"),
    [
        (10, (6.0, 2)),  # 6 and 4 fill the pack of slot 2, 5 is that of slot 3
        (0, (5.0, 3)),  # the longs are as long as each other: none may be packed, 4 goes where 5 has ended
    ],
)
def test_isjl_packs_no_more_than_the_smallest_long_allows(
    engine: Engine, beta: int, last: tuple[float, int]
) -> None:
    workload = Workload([0] * 5, [20, 20, 6, 5, 4])
    run = simulate(workload, ISJL(alpha=10, beta=beta), slots=4, engine=engine)
    assert run.start.tolist()[:4] == [0.0] * 4
    assert run.slot.tolist()[:4] == [0, 1, 2, 3]
    assert (run.start[4], run.slot[4]) == last


@pytest.mark.parametrize("linear", [0.1, 1.1, 2.7])
@pytest.mark.parametrize("start", [0.0, 0.3, 1e6])
def test_the_end_of_a_step_is_reached_by_that_step(start: float, linear: float) -> None:
    # of these instants, up to a tenth lie more than k steps ahead by the rounding of a division
    pace = Steps(linear, 0.0)
    for steps in range(500):
        assert steps_to_reach(pace, start, start + steps * linear) == steps


def test_the_step_a_billion_steps_ahead_is_guessed_and_not_counted_to() -> None:
    pace = Steps(1.0, 1e-3)
    steps = steps_to_reach(pace, 0.0, 1e15)
    assert steps > 10**9
    assert elapsed(pace, steps - 1) < 1e15 <= elapsed(pace, steps)


@pytest.mark.parametrize("engine", ENGINES)
def test_isjl_admits_a_size_of_alpha_beside_a_hold(engine: Engine) -> None:
    # the four of 6 are packed: one for slot 2, three for slot 1, to be held until 3 * 6 - alpha = 8
    workload = Workload([0] * 6 + [1], [40, 20, 6, 6, 6, 6, 10])
    run = simulate(workload, ISJL(alpha=10), slots=3, engine=engine)
    assert run.start.tolist() == [8.0, 18.0, 0.0, 0.0, 6.0, 12.0, 6.0]
    assert run.slot.tolist() == [0, 1, 2, 1, 1, 1, 2]


def test_alphas_beyond_any_length() -> None:
    check_same(Case("isjl", 2, (0.0, 0.0, 1.0), (50, 40, 30), alpha=10**30))
    check_same(Case("fair-sjf", 2, (0.0, 0.0, 1.0), (50, 40, 30), alpha=10**30))


def test_more_slots_than_requests_and_than_one_word_of_bits() -> None:
    check_same(Case("fcfs", 5000, tuple(float(k % 7) for k in range(200)), tuple(range(1, 201))))
