"""The search finds bad instances, proves them and shrinks them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from refusal import refusal

from analysis.experiments.search import Space, assess, search, shrink
from analysis.optimum import check_schedule, optimum
from workloads.adversaries import Instance


def test_a_ratio_is_exact_and_proven() -> None:
    found = assess("isjl:beta=optimal", Instance((10, 7, 7, 5, 1), slots=2, alpha=4))
    assert found is not None
    assert found.ratio == Fraction(15, 20)


def test_a_quick_bound_dismisses_instances_that_are_not_bad_enough() -> None:
    assert assess("isjl", Instance((10, 10), slots=2, alpha=4), at_most=Fraction(9, 10)) is None


def test_a_policy_without_a_promise_competes_with_unfair_schedules() -> None:
    found = assess("lpt", Instance((3, 3, 2, 2, 2), slots=2, alpha=0))
    assert found is not None
    assert (found.makespan, found.optimum.upper) == (7, 6)


def test_a_search_chooses_the_budget_itself() -> None:
    assert refusal(lambda: search("isjl:alpha=3", Space(2), steps=1, workers=2)) == (
        "policy='isjl:alpha=3': must leave alpha open, each instance has its own"
    )


def test_shrinking_keeps_the_ratio_and_leaves_nothing_to_drop() -> None:
    found = assess("ljf", Instance((8, 4, 4, 4, 4, 1), slots=2, alpha=8))
    assert found is not None
    small = shrink("ljf", found)
    assert small.ratio <= found.ratio
    assert sum(small.instance.lengths) < sum(found.instance.lengths)
    assert shrink("ljf", small) == small


@pytest.mark.parametrize(("slots", "below"), [(2, Fraction(4, 5)), (3, Fraction(3, 4))])
def test_the_search_finds_what_both_solvers_and_the_checker_confirm(slots: int, below: Fraction) -> None:
    found = search("isjl", Space(slots, most_requests=5, longest=12), seed=1, steps=500)
    instance = found.instance
    assert found.ratio <= below
    assert check_schedule(found.optimum.start, instance.lengths, slots, instance.alpha) == found.optimum.upper
    other = optimum(instance.lengths, slots, instance.alpha, solver="milp", time_limit=300)
    assert other.proven
    assert other.upper == found.optimum.upper


def test_the_same_seed_finds_the_same_instance() -> None:
    space = Space(2, most_requests=5, longest=9)
    first, again = (search("isjl", space, seed=7, steps=60, workers=1) for _ in range(2))
    assert first.instance == again.instance


def test_releases_are_searched_where_they_are_asked_for() -> None:
    found = search("fair-fcfs", Space(2, most_requests=4, longest=6, latest=6), seed=3, steps=200, workers=1)
    assert found.ratio < Fraction(4, 5)
    assert found.instance.releases is not None
