"""Step times: exact totals over a span, and the step at which an instant is reached."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusal import refusal

from policies import FCFS
from serving_sim import StepTime, Workload, simulate
from serving_sim.steptime import Pace

COEFFICIENTS = st.sampled_from([0.0, 0.001, 0.03, 0.1, 0.25, 1.0, 7.5])


@given(
    COEFFICIENTS,
    COEFFICIENTS,
    COEFFICIENTS,
    COEFFICIENTS,
    st.lists(st.integers(0, 40), min_size=1, max_size=6),
)
def test_elapsed_is_the_sum_over_steps(
    base: float, per_request: float, per_max: float, per_token: float, progress: list[int]
) -> None:
    if base + per_request + per_max + per_token == 0:
        base = 1.0
    pace = StepTime(base, per_request, per_max, per_token).pace(len(progress), max(progress), sum(progress))
    total = 0.0
    for steps in range(1, 15):
        r = [a + steps for a in progress]  # tokens held at the end of the step
        total += base + per_request * len(r) + per_max * max(r) + per_token * sum(r)
        assert pace.elapsed(steps) == pytest.approx(total, rel=1e-12)


@given(
    linear=st.floats(1e-3, 10),
    quadratic=st.sampled_from([0.0, 1e-320, 1e-200, 1e-20, 1e-9, 1e-4, 0.5, 1e200]),
    start=st.floats(0, 1e7),
    wait=st.floats(0, 1e5),
    at_boundary=st.booleans(),
)
def test_an_instant_is_reached_by_the_first_step_end_not_before_it(
    *, linear: float, quadratic: float, start: float, wait: float, at_boundary: bool
) -> None:
    pace = Pace(linear, quadratic)
    instant = start + (pace.elapsed(round(wait / 1000)) if at_boundary else wait)
    steps = pace.steps_to_reach(start, instant)
    assert start + pace.elapsed(steps) >= instant
    assert steps == 0 or start + pace.elapsed(steps - 1) < instant


@pytest.mark.parametrize("name", ["base", "per_request", "per_max_token", "per_token"])
@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf"), 10**400, True, "1", None])
def test_coefficients_are_checked(name: str, value: float) -> None:
    assert refusal(lambda: StepTime(**{name: value})) == f"{name}={value!r}: must be a finite number >= 0"


def test_a_step_must_take_time() -> None:
    with pytest.raises(ValueError, match=r"^step time: at least one coefficient must be positive$"):
        StepTime(base=0.0)


def test_alone_is_the_time_on_an_empty_worker() -> None:
    # steps of 1 + 0.5 * 1 + 0.25 r + 0.125 r with r = 1, 2, 3
    assert StepTime(1.0, 0.5, 0.25, 0.125).alone(3) == 3 * 1.5 + 0.375 * 6


def test_a_growth_too_small_to_be_seen_changes_nothing() -> None:
    workload = Workload([0.0, 0.0, 5.5], [3, 9, 2])
    plain, grown = (
        simulate(workload, FCFS(), slots=2, step_time=step_time, engine="simpy")
        for step_time in (StepTime(), StepTime(1.0, per_token=1e-320))
    )
    assert grown.finish.tolist() == plain.finish.tolist() == [3.0, 9.0, 8.0]


@pytest.mark.parametrize("pace", [Pace(1e-10, 0.0), Pace(1e-10, 1e-300), Pace(1e-320, 0.0)])
@pytest.mark.parametrize("instant", [1e6, 1e18, 1e300, 1.7e308])
def test_an_instant_too_late_for_floats_is_refused(pace: Pace, instant: float) -> None:
    assert refusal(lambda: pace.steps_to_reach(0.0, instant)) == (
        f"instant={instant!r}: too late to tell steps of {pace.linear + pace.quadratic!r} time units apart"
    )


def test_the_step_a_billion_steps_ahead_is_guessed_and_not_counted_to() -> None:
    pace = Pace(1.0, 1e-3)
    steps = pace.steps_to_reach(0.0, 1e15)
    assert steps > 10**9
    assert pace.elapsed(steps - 1) < 1e15 <= pace.elapsed(steps)


def test_the_latest_instant_is_found() -> None:
    pace = Pace(1.0, 0.0)
    assert pace.elapsed(pace.steps_to_reach(0.0, 2.0**50)) == 2.0**50
    assert refusal(lambda: pace.steps_to_reach(0.0, 2.0**50 + 0.25)) == (
        "instant=1125899906842624.2: too late to tell steps of 1.0 time units apart"
    )
    assert StepTime(0.5).latest == 2.0**49


@given(
    coefficients=st.tuples(*[st.floats(1e-3, 10) | st.just(0.0)] * 4).filter(any),
    share=st.floats(0.5, 1),
    anchor=st.floats(0, 1),
    ahead=st.integers(1, 50),
)
def test_ends_of_steps_differ_up_to_the_latest_instant(
    coefficients: tuple[float, float, float, float], share: float, anchor: float, ahead: int
) -> None:
    step_time = StepTime(*coefficients)
    pace = step_time.pace(1, 0, 0)
    instant = share * step_time.latest
    start = anchor * instant
    steps = pace.steps_to_reach(start, instant)
    ends = [start + pace.elapsed(count) for count in range(max(0, steps - ahead), steps + 1)]
    assert all(earlier < later for earlier, later in pairwise(ends))
