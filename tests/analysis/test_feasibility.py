"""The feasibility check against the model, step by step, and against the paper's constraints."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusal import refusal

from analysis.optimum import check_schedule
from policies import make_policy
from serving_sim import Workload, simulate

Schedule = tuple[tuple[int, ...], tuple[int, ...]]


@st.composite
def schedules(draw: st.DrawFn) -> Schedule:
    """Starts and lengths, feasible or not."""
    size = draw(st.integers(1, 5))
    starts = draw(st.tuples(*[st.integers(0, 8)] * size))
    lengths = draw(st.tuples(*[st.integers(1, 6)] * size))
    return starts, lengths


def _accepts(start: Sequence[int], lengths: Sequence[int], slots: int, alpha: int | None) -> bool:
    try:
        check_schedule(start, lengths, slots, alpha)
    except ValueError:
        return False
    return True


@given(schedules(), st.integers(1, 4), st.none() | st.integers(0, 6))
def test_it_accepts_what_every_step_allows(schedule: Schedule, slots: int, alpha: int | None) -> None:
    start, lengths = schedule
    allowed = True
    for step in range(20):
        progress = [step - s for s, o in zip(start, lengths, strict=True) if s <= step < s + o]
        gap = max(progress, default=0) - min(progress, default=0)
        allowed &= len(progress) <= slots and (alpha is None or gap <= alpha)
    assert _accepts(start, lengths, slots, alpha) == allowed


@given(schedules(), st.integers(1, 4), st.integers(0, 6))
def test_it_accepts_what_the_integer_program_allows(schedule: Schedule, slots: int, alpha: int) -> None:
    """Yao and Zhou, appendix 8.1, constraints (2), (3), (4) and (6) as printed; steps count from 1."""
    start, lengths = schedule
    requests, horizon, big = range(len(start)), 14, max(lengths)
    x = [[int(start[i] < t <= start[i] + lengths[i]) for t in range(1, horizon + 1)] for i in requests]
    s = [[sum(x[i][:t]) for t in range(horizon)] for i in requests]
    capacity = all(sum(x[i][t] for i in requests) <= slots for t in range(horizon))
    fairness = all(
        abs(s[i][t] - s[j][t]) <= alpha + big * (2 - x[i][t] - x[j][t])
        for t in range(horizon)
        for i in requests
        for j in range(i)
    )
    assert _accepts(start, lengths, slots, alpha) == (capacity and fairness)


@pytest.mark.parametrize("name", ["fcfs", "lpt", "ljf", "fair-fcfs", "isjl"])
@given(
    lengths=st.lists(st.integers(1, 12), min_size=1, max_size=12),
    slots=st.integers(1, 4),
    alpha=st.integers(0, 8),
    data=st.data(),
)
def test_it_accepts_what_the_engine_does(
    name: str, lengths: list[int], slots: int, alpha: int, data: st.DataObject
) -> None:
    releases = data.draw(st.lists(st.integers(0, 20), min_size=len(lengths), max_size=len(lengths)))
    policy = make_policy(name, alpha=alpha) if name in {"fair-fcfs", "isjl"} else make_policy(name)
    run = simulate(Workload(releases, lengths), policy, slots=slots, alpha=alpha)
    budget = alpha if run.audit.fair else None
    assert check_schedule(run.start.tolist(), lengths, slots, budget, releases) == run.makespan
    if not run.audit.fair:
        assert not _accepts(run.start.astype(int).tolist(), lengths, slots, alpha)


def test_refusals_name_requests_and_instant() -> None:
    assert refusal(lambda: check_schedule([0, 3], [5, 2], 2, alpha=2)) == (
        "requests 0 and 1 run together at 3 but start 3 > alpha=2 steps apart"
    )
    assert refusal(lambda: check_schedule([1, 0, 0], [1, 2, 3], 2)) == (
        "requests 0, 1, 2 run together at 1, more than slots=2"
    )
    assert refusal(lambda: check_schedule([0, 1], [1, 1], 2, releases=[0, 1.5])) == (
        "request 1 starts at 1 before its release 1.5"
    )
    assert (
        refusal(lambda: check_schedule([0, -1], [1, 1], 2)) == "request 1 starts at -1 before its release 0"
    )
    assert refusal(lambda: check_schedule([0.5], [1], 1)) == "request 0 starts at 0.5, not at a whole step"
    assert refusal(lambda: check_schedule([0], [1, 1], 1)) == (
        "schedule: start, lengths and releases must have one value per request"
    )


def test_the_makespan_is_the_last_end_and_touching_is_not_overlapping() -> None:
    assert check_schedule([0, 4, 0, 4], [4, 9, 2, 1], 2, alpha=0) == 13
