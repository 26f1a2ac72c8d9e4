"""Counters stay exact and times stay within their last bits when runs are long and requests huge."""

from __future__ import annotations

import numpy as np
import pytest
from refusal import refusal

from policies import parse_policy
from serving_sim import Run, StepTime, Workload, simulate
from serving_sim.compiled.choice import Engine

LONG = 2**40


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_work_and_externality_beyond_64_bits(engine: Engine) -> None:
    # the third request joins the first, which is LONG / 2 tokens ahead, for LONG / 2 steps
    lengths = [LONG, LONG // 2, LONG // 2]
    run = simulate(Workload([0, 0, 0], lengths), parse_policy("fcfs"), slots=2, engine=engine)
    assert run.steps == LONG
    assert run.intrinsic == sum(length * (length + 1) // 2 for length in lengths) > 2**63
    assert run.externality == (LONG // 2) ** 2 > 2**63
    assert run.max_gap == LONG // 2
    assert run.finish.tolist() == [LONG, LONG // 2, LONG]


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
@pytest.mark.parametrize("slotted", [False, True])
@pytest.mark.parametrize(
    ("release", "length", "last"),
    [
        ([2**50 - 2], [2], 2.0**50),
        ([0, 0], [2**49] * 2, 2.0**50),
        ([2**50 - 2], [3], 2.0**50 + 1),
        ([0, 0], [2**49, 2**49 + 1], 2.0**50 + 1),
        ([0, 2.0**50], [3, 5], 2.0**50 + 5),
    ],
)
def test_a_run_ends_where_floats_would_run_steps_together(
    *, release: list[float], length: list[int], last: float, slotted: bool, engine: Engine
) -> None:
    def serve() -> Run:
        return simulate(
            Workload(release, length), parse_policy("sjf"), slots=1, slotted=slotted, engine=engine
        )

    if last <= 2.0**50:
        assert serve().makespan == last
    else:
        assert refusal(serve) == f"instant={last!r}: too late to tell steps of 1.0 time units apart"


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
@pytest.mark.parametrize("base", [1.0, 0.03])
def test_times_after_a_billion_units(engine: Engine, base: float) -> None:
    rng = np.random.default_rng(4)
    count, horizon = 50_000, 1e9
    release = np.sort(rng.uniform(0, horizon, count))
    length = rng.integers(1, round(1.5 * horizon / count / base), count)
    run = simulate(
        Workload(release, length), parse_policy("fcfs"), slots=1, step_time=StepTime(base), engine=engine
    )
    assert run.steps == length.sum()  # one slot: every step makes one token
    assert run.intrinsic == sum(each * (each + 1) // 2 for each in length.tolist())
    # a time is the start of a busy period plus a whole number of steps, rounded once or twice
    last_bits = 2 * np.spacing(run.finish)
    assert (np.abs(run.finish - run.start - length * base) <= 2 * last_bits).all()
    assert (run.start[1:] >= run.finish[:-1] - last_bits[:-1]).all()
    assert (run.start >= release).all()
