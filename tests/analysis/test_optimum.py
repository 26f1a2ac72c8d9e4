"""Exact optimum: three ways to find it agree, and what they return is a schedule."""

from __future__ import annotations

import sys
from typing import get_args

import numpy as np
import pytest
from exhaustive_optimum import least_makespan
from hypothesis import example, given, settings
from hypothesis import strategies as st
from offline_instances import KNOWN_OPTIMA, Offline, offline
from refusal import refusal

from analysis.optimum import Solver, check_schedule, milp, optimum
from analysis.optimum.bracket import Bracket
from analysis.optimum.heuristics import batch_in_order, best_heuristic, insert_in_order
from analysis.optimum.instance import Instance

SOLVERS: tuple[Solver, ...] = get_args(Solver)
MANY = settings(max_examples=3 * settings().max_examples)


def _instance(case: Offline) -> Instance:
    return Instance.of(case.lengths, case.slots, case.alpha, case.releases)


def _one_after_the_other(instance: Instance) -> Bracket:
    """The loosest bracket: no bound but 1, no schedule but the sequential one."""
    start = [0] * len(instance)
    now = 0
    for request in sorted(range(len(instance)), key=lambda i: instance.releases[i]):
        start[request] = max(now, instance.releases[request])
        now = start[request] + instance.lengths[request]
    return Bracket(1, now, instance.in_twin_order(tuple(start)))


def _needs(solver: Solver) -> None:
    if solver == "cp-sat":
        pytest.importorskip("ortools", reason="CP-SAT is an extra")


@MANY
@example(Offline((7, 6), slots=2, alpha=3, releases=(1, 5)))  # presolve of OR-tools 9.15 says 14
@given(offline())
def test_solvers_left_alone_agree_with_exhaustive_search(case: Offline) -> None:
    _needs("cp-sat")
    from analysis.optimum import cpsat

    instance = _instance(case)
    loose = _one_after_the_other(instance)
    least = least_makespan(case.lengths, case.slots, case.alpha, case.releases)
    for found in (cpsat.solve(instance, loose, 60), milp.solve(instance, loose, 60)):
        end = check_schedule(found.start, case.lengths, case.slots, case.alpha, case.releases)
        assert (found.lower, end, found.upper) == (least, least, least)


@pytest.mark.parametrize("solver", SOLVERS)
@given(case=offline())
def test_warm_start_and_bounds_change_nothing(solver: Solver, case: Offline) -> None:
    _needs(solver)
    found = optimum(case.lengths, case.slots, case.alpha, case.releases, solver=solver)
    assert found.proven
    assert found.upper == least_makespan(case.lengths, case.slots, case.alpha, case.releases)


@settings(max_examples=settings().max_examples // 4)
@given(offline(most=7, longest=15, latest=20))
def test_solvers_agree_where_exhaustive_search_is_too_slow(case: Offline) -> None:
    _needs("cp-sat")
    one, other = (
        optimum(case.lengths, case.slots, case.alpha, case.releases, solver=solver, time_limit=60)
        for solver in SOLVERS
    )
    assert one.proven
    assert other.proven
    assert one.upper == other.upper


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("title", "case", "least"), KNOWN_OPTIMA)
def test_known_optimum(title: str, case: Offline, least: int, solver: Solver) -> None:
    _needs(solver)
    found = optimum(case.lengths, case.slots, case.alpha, case.releases, solver=solver)
    assert (found.lower, found.upper, found.solver) == (least, least, solver), title


@pytest.mark.parametrize("solver", SOLVERS)
def test_past_the_time_limit_the_answer_is_an_interval(solver: Solver) -> None:
    _needs(solver)
    lengths = np.random.default_rng(5).integers(1, 31, 40).tolist()
    found = optimum(lengths, 3, 8, solver=solver, time_limit=0.01)
    assert not found.proven
    assert found.lower < found.upper
    assert check_schedule(found.start, lengths, 3, 8) == found.upper


@pytest.mark.parametrize("solver", SOLVERS)
def test_equal_requests_start_in_input_order(solver: Solver) -> None:
    _needs(solver)
    found = optimum([5, 3, 5, 3, 5, 3, 5], 2, 2, [0, 0, 0, 0, 0, 0, 1], solver=solver)
    fives, threes = found.start[:6:2], found.start[1:6:2]
    assert list(fives) == sorted(fives)
    assert list(threes) == sorted(threes)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ortools", None)
    monkeypatch.delitem(sys.modules, "analysis.optimum.cpsat", raising=False)
    for name in [name for name in sys.modules if name.startswith("ortools.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("analysis.optimum.cpsat", raising=False)
    with pytest.raises(ImportError) as caught:
        optimum([2, 1], 1, 0)
    assert str(caught.value) == (
        "the CP-SAT solver needs OR-tools: pip install 'serving-sim[optimum]', or take solver='milp'"
    )
    assert optimum([2, 1], 1, 0, solver="milp").upper == 3


def test_refusals() -> None:
    assert refusal(lambda: optimum([2, 0], 1, 0)) == "length[1]=0: must be a whole number from 1 to 2**62"
    assert refusal(lambda: optimum([2], 0, 0)) == "slots=0: must be a whole number >= 1"
    assert refusal(lambda: optimum([2], 1, -1)) == "alpha=-1: must be a whole number of tokens >= 0"
    assert refusal(lambda: optimum([2], 1, 0, [0.5])) == "release[0]=0.5: must be a whole number of steps"
    assert refusal(lambda: optimum([2], 1, 0, time_limit=0)) == "time_limit=0: must be positive"
    assert refusal(lambda: optimum([2], 1, 0, workers=0)) == "workers=0: must be a whole number >= 1"
    assert refusal(lambda: optimum([2], 1, 0, solver="lp")) == (  # type: ignore[arg-type]
        "solver='lp': must be one of cp-sat, milp"
    )


@given(offline(most=9, longest=12, latest=15), st.randoms(use_true_random=False))
def test_heuristics_give_schedules(case: Offline, random: object) -> None:
    instance = _instance(case)
    order = list(range(len(instance)))
    random.shuffle(order)  # type: ignore[attr-defined]
    for start in (
        insert_in_order(instance, order),
        batch_in_order(instance, order),
        best_heuristic(instance),
    ):
        end = check_schedule(start, case.lengths, case.slots, case.alpha, case.releases)
        assert end == instance.makespan(start)


def test_insertion_fills_gaps_and_starts_alpha_early() -> None:
    instance = Instance.of([6, 6, 2, 4], 2, 2)
    # 6 and 6 at 0; the 2 after them; the 4 could join it and does
    assert insert_in_order(instance, [0, 1, 2, 3]) == (0, 0, 6, 6)
    # the 4 at 0, a 6 beside it, the 2 at 4 beside the 6 would be unfair, so at 6; the other 6 there
    assert insert_in_order(instance, [3, 0, 2, 1]) == (0, 6, 6, 0)


def test_batches_of_the_longest_are_ljf() -> None:
    instance = Instance.of([1, 9, 5, 5], 2, 0)
    assert batch_in_order(instance, [1, 2, 3, 0]) == (9, 0, 0, 9)
