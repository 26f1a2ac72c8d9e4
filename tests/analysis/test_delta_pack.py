"""The packable prediction error against plain enumeration and cases worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from effort import instances
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.delta_pack import PackableError, _Part, packable_error

Pairs = list[tuple[int, int]]
"""Lengths and slacks."""

small = st.lists(st.tuples(st.integers(1, 12), st.integers(0, 6)), min_size=1, max_size=7)


def pack(pairs: Pairs, slots: int, alpha: int) -> PackableError:
    length = np.array([length for length, _ in pairs])
    return packable_error(length, length + [slack for _, slack in pairs], slots, alpha)


def partitions(pairs: Pairs, slots: int, alpha: int) -> Iterator[list[Pairs]]:
    """All partitions into groups of at most ``slots`` within ``alpha``."""
    if not pairs:
        yield []
        return
    first, *rest = pairs
    for groups in partitions(rest, slots, alpha):
        yield [[first], *groups]
        for place, group in enumerate(groups):
            lengths = [length for length, _ in (first, *group)]
            if len(lengths) <= slots and max(lengths) - min(lengths) <= alpha:
                yield [*groups[:place], [first, *group], *groups[place + 1 :]]


def cheapest(pairs: Pairs, slots: int, alpha: int) -> int:
    return min(
        sum(max(slack for _, slack in group) for group in groups)
        for groups in partitions(pairs, slots, alpha)
    )


@given(small, st.integers(1, 4), st.integers(0, 8))
def test_small_instances_are_exact(pairs: Pairs, slots: int, alpha: int) -> None:
    found = pack(pairs, slots, alpha)
    assert found.exact
    assert found.upper == cheapest(pairs, slots, alpha)


@given(small, st.integers(1, 4), st.integers(0, 8))
def test_the_bounds_hold_the_cost(pairs: Pairs, slots: int, alpha: int) -> None:
    pairs.sort(key=lambda pair: (pair[0], -pair[1]))
    length, slack = (np.array(column) for column in zip(*pairs, strict=True))
    part = _Part(length, slack, slots, alpha)
    assert part.lower_bound() <= cheapest(pairs, slots, alpha) <= min(part.greedy(), part.windows())


def test_windows_pack_by_slack_what_lies_within_alpha() -> None:
    # cut between 2 and 3 the windows cost 5 + 1 and 4; {1, 2, 3} and {4} would cost 5 + 1 + 2
    part = _Part(np.array([1, 1, 2, 3, 4]), np.array([5, 4, 1, 4, 2]), slots=2, alpha=1)
    assert part.windows() == 10


def test_windows_stay_near_the_lower_bound_however_many_come() -> None:
    rng = np.random.default_rng(1)
    length = rng.geometric(1 / 2000, 50_000)
    found = packable_error(length, length + rng.integers(0, length + 1), slots=256, alpha=64)
    assert found.lower < found.upper < 1.3 * found.lower


def test_a_budget_beyond_all_lengths_is_no_budget() -> None:
    assert pack([(3, 2), (2**61, 5), (9, 1)], 2, 10**30) == PackableError(6, 6)


def test_counting_groups_by_slack_does_not_see_that_groups_must_fit_together() -> None:
    # {2, 2} first costs 2 + 1 + 1, the two outer pairs 2 + 2; one group is enough above slack 1
    path = [(1, 1), (2, 2), (3, 2), (4, 1)]
    part = _Part(np.array([1, 2, 3, 4]), np.array([1, 2, 2, 1]), slots=2, alpha=1)
    assert (part.lower_bound(), cheapest(path, 2, 1), part.greedy()) == (3, 4, 4)
    assert pack(path, 2, 1) == PackableError(4, 4)


@pytest.mark.parametrize("slots", [1, 2, 3, 32])
@pytest.mark.parametrize("count", [1, 7, 64])
def test_equal_slacks_in_one_window_cost_one_slack_a_group(count: int, slots: int) -> None:
    # Yao and Zhou, remark 3.25: ceil(n / B) e
    pairs = [(10 + row % 5, 9) for row in range(count)]
    assert pack(pairs, slots, alpha=4) == PackableError(-(-count // slots) * 9, -(-count // slots) * 9)


def test_exact_predictions_leave_nothing_to_pack() -> None:
    assert pack([(3, 0), (900, 0)], 2, 0) == PackableError(0, 0)


def test_singletons_cost_the_sum() -> None:
    assert pack([(3, 2), (4, 5), (4, 1)], 1, 9) == PackableError(8, 8)


@settings(max_examples=instances(10))
@given(st.integers(0, 2**32 - 1), st.integers(2, 9), st.integers(5, 60))
def test_fourteen_different_lengths_are_exact(seed: int, slots: int, alpha: int) -> None:
    rng = np.random.default_rng(seed)
    length = rng.permutation(80)[:14] + 1
    assert packable_error(length, length + rng.integers(0, 50, 14), slots, alpha).exact


def test_a_large_instance_has_a_bracket() -> None:
    rng = np.random.default_rng(5)
    length = rng.integers(1, 900, 3000)
    upper = length + rng.integers(0, 400, 3000)
    found = packable_error(length, upper, slots=8, alpha=50)
    assert not found.exact
    assert 0.85 * found.upper < found.lower < found.upper


@given(small, st.integers(1, 4), st.integers(0, 8), st.integers(1, 5))
def test_room_and_tolerance_never_cost(pairs: Pairs, slots: int, alpha: int, more: int) -> None:
    cost = pack(pairs, slots, alpha).upper
    assert pack(pairs, slots + more, alpha).upper <= cost
    assert pack(pairs, slots, alpha + more).upper <= cost
