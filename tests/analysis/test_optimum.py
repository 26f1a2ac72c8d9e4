"""Exact optimum: three ways to find it agree, and what they return is a schedule."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from typing import get_args

import numpy as np
import pytest
from effort import instances
from exhaustive_optimum import least_makespan
from fresh_process import command_line, environment
from hypothesis import example, given, settings
from hypothesis import strategies as st
from offline_instances import KNOWN_OPTIMA, Offline, offline
from refusal import refusal

from analysis.optimum import Solver, check_schedule, milp, optimum
from analysis.optimum.bracket import Bracket
from analysis.optimum.deadline import Deadline
from analysis.optimum.heuristics import batch_in_order, best_heuristic, insert_in_order
from analysis.optimum.instance import Instance
from analysis.optimum.interruptible import interruptible

SOLVERS: tuple[Solver, ...] = get_args(Solver)


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


@example(Offline((7, 6), slots=2, alpha=3, releases=(1, 5)))  # presolve of OR-tools 9.15 says 14
@given(offline())
def test_solvers_left_alone_agree_with_exhaustive_search(case: Offline) -> None:
    _needs("cp-sat")
    from analysis.optimum import cpsat

    instance = _instance(case)
    loose = _one_after_the_other(instance)
    least = least_makespan(case.lengths, case.slots, case.alpha, case.releases)
    for found in (cpsat.solve(instance, loose, Deadline(60)), milp.solve(instance, loose, Deadline(60))):
        end = check_schedule(found.start, case.lengths, case.slots, case.alpha, case.releases)
        assert (found.lower, end, found.upper) == (least, least, least)


@pytest.mark.parametrize("solver", SOLVERS)
@given(case=offline())
def test_warm_start_and_bounds_change_nothing(solver: Solver, case: Offline) -> None:
    _needs(solver)
    found = optimum(case.lengths, case.slots, case.alpha, case.releases, solver=solver, time_limit=300)
    assert found.proven
    assert found.upper == least_makespan(case.lengths, case.slots, case.alpha, case.releases)


@settings(max_examples=instances(25))
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
    found = optimum(case.lengths, case.slots, case.alpha, case.releases, solver=solver, time_limit=300)
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
    found = optimum([5, 3, 5, 3, 5, 3, 5], 2, 2, [0, 0, 0, 0, 0, 0, 1], solver=solver, time_limit=300)
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
    assert refusal(lambda: optimum([1] * 10_001, 2, 0)) == (
        "lengths: at most 10,000 requests are fine, found 10,001"
    )
    assert refusal(lambda: optimum([2], 0, 0)) == "slots=0: must be a whole number >= 1"
    assert refusal(lambda: optimum([2], 1, -1)) == "alpha=-1: must be a whole number of tokens >= 0"
    assert refusal(lambda: optimum([2], 1, 0, [0.5])) == "release[0]=0.5: must be a whole number of steps"
    assert refusal(lambda: optimum([2], 1, 0, time_limit=0)) == (
        "time_limit=0: must be a finite number of seconds > 0"
    )
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
        insert_in_order(instance, order, Deadline(60)),
        batch_in_order(instance, order),
        best_heuristic(instance, Deadline(60)),
    ):
        end = check_schedule(start, case.lengths, case.slots, case.alpha, case.releases)
        assert end == instance.makespan(start)


def test_insertion_fills_gaps_and_starts_alpha_early() -> None:
    instance = Instance.of([6, 6, 2, 4], 2, 2)
    # 6 and 6 at 0; the 2 after them; the 4 could join it and does
    assert insert_in_order(instance, [0, 1, 2, 3], Deadline(60)) == (0, 0, 6, 6)
    # the 4 at 0, a 6 beside it, the 2 at 4 beside the 6 would be unfair, so at 6; the other 6 there
    assert insert_in_order(instance, [3, 0, 2, 1], Deadline(60)) == (0, 6, 6, 0)


def test_batches_of_the_longest_are_ljf() -> None:
    instance = Instance.of([1, 9, 5, 5], 2, 0)
    assert batch_in_order(instance, [1, 2, 3, 0]) == (9, 0, 0, 9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_time_limit_counts_for_the_making_of_the_model_too(solver: Solver) -> None:
    _needs(solver)
    lengths = np.random.default_rng(5).integers(1, 300, 1000).tolist()
    found = optimum(lengths, 8, 50, solver=solver, time_limit=0.2)  # the quick schedules alone take minutes
    assert found.seconds < 5  # with patience for a busy machine
    assert check_schedule(found.start, lengths, 8, 50) == found.upper


def test_a_program_too_large_to_be_written_down_is_refused() -> None:
    assert refusal(lambda: optimum([10**9, 10**9, 1, 3, 10**8], 2, 1, solver="milp")) == (
        "solver='milp': a column for each request and step makes 4,500,000,007, at most 1,000,000 are fine; "
        "take cp-sat"
    )


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_interruption_ends_a_search_at_once(solver: Solver) -> None:
    _needs(solver)
    lengths = np.random.default_rng(0).integers(1, 60, 40).tolist()
    script = (
        f"import sys; from analysis.optimum import optimum, {solver.replace('-', '')}\n"
        "print('begun', flush=True)\n"
        f"try: optimum({lengths}, 4, 10, solver='{solver}', time_limit=300)\n"
        "except KeyboardInterrupt: sys.exit(7)"
    )
    with subprocess.Popen(
        command_line(script=script),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        time.sleep(1.5)  # the solver is at work by then
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (7, "")


def test_interruptible_work_returns_and_raises_as_it_would_alone() -> None:
    assert interruptible(lambda: 3) == 3
    with pytest.raises(ZeroDivisionError, match="by zero"):
        interruptible(lambda: 1 // 0)
