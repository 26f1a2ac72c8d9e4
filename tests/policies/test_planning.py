"""Phase ONE of ISJL: plans and the end of the pack stage, worked out by hand and against a slow play."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.parameters import beta_tokens
from policies.planning import make_plan, pack_stage_end, wants_plan
from policies.queues import SizeQueue


def queue_of(sizes: list[int]) -> SizeQueue:
    queue = SizeQueue()
    for request, size in enumerate(sizes):
        queue.push(request, size)
    return queue


def test_phase_one_needs_two_slots_and_two_sizes_above_alpha() -> None:
    assert wants_plan(queue_of([5, 5]), slots=2, alpha=4)
    assert not wants_plan(queue_of([5, 5]), slots=1, alpha=4)
    assert not wants_plan(queue_of([5, 4]), slots=2, alpha=4)
    assert not wants_plan(queue_of([5]), slots=2, alpha=4)


def test_packs_of_the_paper_s_example() -> None:
    # 10 and 7 are held; room before 7 is min(8, 10 - 7 + 3) = 6: the other 7 does not fit, 5 and 1 do
    queue = queue_of([10, 7, 7, 5, 1])
    plan = make_plan(queue, slots=2, alpha=4, beta=3)
    assert plan.longs == [0, 1]
    assert [list(pack) for pack in plan.packs] == [[], [(3, 5), (4, 1)]]
    assert plan.pack_totals == (0, 6)
    assert queue.pop_largest() == 2
    assert len(queue) == 0


def test_slots_without_a_long_are_filled_first_and_longs_from_the_last() -> None:
    # longs 20, 19 on slots 0, 1; slots 2, 3 take at most alpha = 6; slot 1 takes at most 20 - 19 + 6
    plan = make_plan(queue_of([20, 19, 6, 5, 5, 2, 1, 1]), slots=4, alpha=6, beta=6)
    assert [list(pack) for pack in plan.packs] == [[], [(4, 5), (5, 2)], [(2, 6)], [(3, 5), (6, 1)]]


def test_no_slot_without_a_long_when_all_slots_hold_one() -> None:
    # caps from the last slot backwards: 30 - 21 + 5 = 14 and 2 alpha = 10 binds; then 30 - 28 + 5 = 7
    plan = make_plan(queue_of([30, 28, 21, 7, 3, 5]), slots=3, alpha=5, beta=5)
    assert [list(pack) for pack in plan.packs] == [[], [(5, 5)], [(3, 7), (4, 3)]]


def test_end_of_an_empty_pack_stage_is_now() -> None:
    assert pack_stage_end(17, 4, [[], []], [(17, 17), (3, 9)]) == 17


def test_the_guard_delays_a_pack_behind_a_request_beyond_alpha() -> None:
    # alpha 4: at 5 the 8 has progress 5 > 4, so the second pack of slot 0 waits until it ends
    packs = [[(0, 5), (1, 3)], [(2, 8)]]
    assert pack_stage_end(0, 4, packs, [(0, 0), (0, 0)]) == 11
    assert pack_stage_end(0, 5, packs, [(0, 0), (0, 0)]) == 8


@st.composite
def pack_stages(draw: st.DrawFn) -> tuple[int, int, list[list[tuple[int, int]]], list[tuple[int, int]]]:
    alpha = draw(st.integers(0, 6))
    slots = draw(st.integers(1, 4))
    step = draw(st.integers(0, 5))
    sizes = st.integers(1, max(1, 2 * alpha))
    packs = [[(0, size) for size in draw(st.lists(sizes, max_size=4))] for _ in range(slots)]
    running = []
    for _ in range(slots):
        start = draw(st.integers(max(0, step - 3), step))
        running.append((start, draw(st.integers(start, start + 6))))
    return step, alpha, packs, running


@given(pack_stages())
def test_pack_stage_end_agrees_with_playing_it_step_by_step(
    stage: tuple[int, int, list[list[tuple[int, int]]], list[tuple[int, int]]],
) -> None:
    step, alpha, packs, running = stage
    expected = play_step_by_step(step, alpha, [list(pack) for pack in packs], list(running))
    assert pack_stage_end(step, alpha, packs, running) == expected


def play_step_by_step(
    step: int, alpha: int, packs: list[list[tuple[int, int]]], running: list[tuple[int, int]]
) -> int:
    now = last = step
    while any(packs) or any(end > now for _, end in running):
        progress = [now - start for start, end in running if end > now]
        if max(progress, default=0) <= alpha:
            for slot, pack in enumerate(packs):
                if pack and running[slot][1] <= now:
                    running[slot] = (now, now + pack.pop(0)[1])
        now += 1
        last = max([last, *(end for _, end in running if end <= now)])
    return last


@pytest.mark.parametrize("alpha", [0, 1, 4, 7, 50, 10**6, 10**15 + 3])
def test_optimal_beta_is_the_exact_floor(alpha: int) -> None:
    beta = beta_tokens("optimal", alpha)
    # beta <= (sqrt(17) - 1) / 4 alpha < beta + 1, squared to stay in whole numbers
    assert (4 * beta + alpha) ** 2 <= 17 * alpha**2 < (4 * (beta + 1) + alpha) ** 2


def test_beta_defaults_to_alpha_and_is_rounded_down() -> None:
    assert beta_tokens(None, 5) == 5
    assert beta_tokens(3.9, 5) == 3


@pytest.mark.parametrize("beta", [-1, 10.1, math.nan, "best"])
def test_beta_outside_its_range_is_refused(beta: float | str) -> None:
    with pytest.raises(ValueError, match=r"^beta=.*: must be 'optimal' or a number from 0 to 2 alpha = 10$"):
        beta_tokens(beta, 5)
