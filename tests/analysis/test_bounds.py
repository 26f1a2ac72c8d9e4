"""Lower bounds: never above the optimum, equal to what their definitions say, and tight where proven."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from effort import instances
from exhaustive_optimum import least_makespan
from hypothesis import given, settings
from hypothesis import strategies as st
from offline_instances import KNOWN_OPTIMA, Offline, offline, static_waste
from refusal import refusal

from analysis.bounds import (
    Bound,
    Pool,
    best,
    best_lower_bound,
    cohort_bound,
    drain_bound,
    longest_bound,
    mixed_bound,
    staggered_bound,
    work_bound,
)
from analysis.bounds.steps import BOUNDS
from analysis.optimum import optimum

MANY = settings(max_examples=instances(300))


def _pool(case: Offline) -> Pool:
    return Pool(case.lengths, case.slots, case.alpha)


def _best(case: Offline) -> Bound:
    return best_lower_bound(case.lengths, case.slots, case.alpha, case.releases)


@MANY
@given(offline(released=False))
def test_no_bound_exceeds_the_optimum(case: Offline) -> None:
    least = least_makespan(case.lengths, case.slots, case.alpha)
    for name, bound in BOUNDS.items():
        assert bound(_pool(case)) <= least, name


@MANY
@given(offline(latest=12, released=True))
def test_with_releases_no_bound_exceeds_the_optimum(case: Offline) -> None:
    bound = _best(case)
    assert bound.value <= least_makespan(case.lengths, case.slots, case.alpha, case.releases)
    assert isinstance(bound.value, int)
    assert case.releases is not None
    assert bound.since in case.releases


@given(offline(most=9, longest=25, latest=40))
def test_no_bound_exceeds_the_optimum_of_larger_instances(case: Offline) -> None:
    pytest.importorskip("ortools", reason="CP-SAT is an extra")
    found = optimum(case.lengths, case.slots, case.alpha, case.releases)
    for bound in BOUNDS.values():
        assert bound(_pool(case)) <= found.upper
    assert _best(case).value <= found.upper


@given(offline(most=12, longest=20, released=False), st.integers(1, 20))
def test_a_request_more_never_lowers_a_bound(case: Offline, length: int) -> None:
    alpha = max(case.lengths) if case.alpha is None else case.alpha
    without, with_it = (Pool(some, case.slots, alpha) for some in (case.lengths, (*case.lengths, length)))
    for name, bound in BOUNDS.items():
        assert bound(with_it) >= bound(without), name


@given(offline(most=12, longest=20, released=False))
def test_what_is_said_about_two_bounds(case: Offline) -> None:
    pool = _pool(case)
    assert drain_bound(pool) >= max(cohort_bound(pool), staggered_bound(pool))
    assert staggered_bound(pool) >= longest_bound(pool)
    assert mixed_bound(pool) >= work_bound(pool)


@given(offline(most=12, longest=20, released=False))
def test_bounds_are_what_their_definitions_say(case: Offline) -> None:
    """Level by level, and for every q instead of the few that can be best."""
    slots, alpha = case.slots, _pool(case).alpha
    levels = range(max(case.lengths))

    def batches(level: int) -> int:
        return -(-sum(length > level for length in case.lengths) // slots)

    tail = sum(batches(level) for level in levels if level >= alpha)
    twice = batches(2 * alpha)
    pool = _pool(case)
    assert cohort_bound(pool) == 2 * alpha * twice + sum(map(batches, levels[2 * alpha :]))
    assert staggered_bound(pool) == sum(level < alpha for level in levels) + tail
    assert drain_bound(pool) == sum(max(twice, 1) for level in levels if level < alpha) + tail
    assert mixed_bound(pool) == max(
        -(-sum(min(length, q) for length in case.lengths) // slots)
        + sum(batches(level) for level in levels if level >= q + alpha)
        for q in range(max(case.lengths) + 1)
    )


@pytest.mark.parametrize(
    ("case", "values"),
    [  # longest, work, cohort, staggered, drain, mixed; the best of each is the optimum
        (Offline((10, 7, 7, 5, 1), 2, 4), (10, 15, 10, 13, 13, 15)),
        (Offline((9, 8, 7), 2, 3), (9, 12, 16, 13, 16, 12)),
        (Offline((14, 10, 9, 8), 3, 4), (14, 14, 14, 18, 18, 14)),
        (Offline((13, 12, 11, 11, 8, 8, 8), 3, 4), (13, 24, 24, 24, 28, 24)),
        (Offline((15, 5, 1, 1, 1), 2, 1), (15, 12, 15, 15, 15, 16)),
    ],
)
def test_by_hand(case: Offline, values: tuple[int, ...]) -> None:
    assert tuple(bound(_pool(case)) for bound in BOUNDS.values()) == values
    assert _best(case).name == list(BOUNDS)[values.index(max(values))]
    found = optimum(case.lengths, case.slots, case.alpha, solver="milp", time_limit=300)
    assert _best(case).value == max(values) == found.upper


@pytest.mark.parametrize(("title", "case", "least"), KNOWN_OPTIMA)
def test_known_optimum(title: str, case: Offline, least: int) -> None:
    assert least - 1 <= _best(case).value <= least, title


@given(st.lists(st.integers(1, 30), min_size=1, max_size=40), st.integers(1, 5), st.integers(0, 15))
def test_ljf_is_optimal_where_all_are_longer_than_twice_alpha(
    lengths: list[int], slots: int, alpha: int
) -> None:
    long = [2 * alpha + length for length in lengths]
    ljf = sum(sorted(long, reverse=True)[::slots])
    assert best_lower_bound(long, slots, alpha).value == cohort_bound(Pool(long, slots, alpha)) == ljf


@pytest.mark.parametrize("slots", range(2, 9))
def test_work_is_tight_where_ljf_wastes_most(slots: int) -> None:
    unit = 5
    bound = best_lower_bound(static_waste(slots, unit), slots, (slots - 1) * unit)
    assert (bound.value, bound.name) == (slots * unit, "longest")


def test_without_fairness_only_length_and_work_count() -> None:
    assert best_lower_bound([9, 8, 7], 2) == Bound(12, "work")
    assert best_lower_bound([9, 2, 1], 2) == Bound(9, "longest")


def test_the_bound_counts_from_the_release_that_gives_most() -> None:
    # from 0: 21 tokens on 2 slots; then, from 6: the cohorts {3, 2} and {2}
    assert best_lower_bound([8, 8, 3, 2], 2, 0, [0, 0, 6, 6]) == Bound(11, "work")
    assert best_lower_bound([1, 1, 3, 2, 2], 2, 0, [0, 0, 6, 6, 6]) == Bound(11, "cohort", 6)


def test_real_releases_add_whole_steps() -> None:
    assert best_lower_bound([4, 1, 1, 1], 2, 0, [0.25, 7.5, 7.5, 7.5]) == Bound(9.5, "work", 7.5)


@given(offline(most=12, longest=20, latest=60, released=True))
def test_the_search_over_releases_finds_the_best(case: Offline) -> None:
    assert case.releases is not None
    assert _best(case).value == _best_over_all_releases(case, case.releases, _value)


@given(offline(most=40, longest=20, latest=300, released=True))
def test_a_search_cut_short_gives_a_weaker_bound(case: Offline) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(best, "EVALUATIONS", 3)
        weaker = _best(case)
    assert _value(replace(case, releases=None)) <= weaker.value <= _best(case).value


def _value(case: Offline) -> int:
    return int(_best(case).value)


def _best_over_all_releases(case: Offline, releases: tuple[int, ...], value: Callable[[Offline], int]) -> int:
    alpha = _pool(case).alpha
    return max(
        since
        + value(
            Offline(
                tuple(o for o, r in zip(case.lengths, releases, strict=True) if r >= since),
                case.slots,
                alpha,
            )
        )
        for since in releases
    )


def test_sums_beyond_32_bits_are_exact() -> None:
    lengths = np.full(1000, 2**50 + 1)
    assert work_bound(Pool(lengths, 999)) == -(-1000 * (2**50 + 1) // 999)
    assert drain_bound(Pool(lengths, 999, 3)) == 2 * (2**50 + 1)


def test_refusals() -> None:
    assert refusal(lambda: best_lower_bound([], 2)) == "release: at least one request is needed, found none"
    assert refusal(lambda: best_lower_bound([1.5], 2)) == (
        "length[0]=1.5: must be a whole number from 1 to 2**62"
    )
    assert refusal(lambda: best_lower_bound([1], 0)) == "slots=0: must be a whole number >= 1"
    assert refusal(lambda: best_lower_bound([1], 2, 0.5)) == (  # type: ignore[arg-type]
        "alpha=0.5: must be a whole number of tokens >= 0"
    )
    assert refusal(lambda: best_lower_bound([2**61, 2**61], 2)) == (
        "lengths: their sum must stay below 2**62"
    )
