"""What must not change when a workload is moved, stretched, shuffled or continued.

Times are quarters of a step and factors powers of two, so that every float here is exact and the
schedules can be compared bit by bit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from effort import instances
from hypothesis import given, settings
from hypothesis import strategies as st

from policies import parse_policy
from serving_sim import Run, StepTime, Workload, simulate
from serving_sim.compiled.choice import Engine

POLICIES = (
    "fcfs",
    "sjf",
    "lpt",
    "ljf",
    "isjl:alpha=4",
    "isjl:alpha=4,beta=optimal",
    "robust-isjl:alpha=4",
    "isjl-as-printed:alpha=4",
    "bucketed:k=3",
    "fair-fcfs:alpha=3",
    "fair-sjf:alpha=3",
    "fair-bucketed:k=2,alpha=3",
)
DELAYED = "delayed:x=0.5,inner=sjf"
WAITING = (DELAYED, "windowed:w=2,inner=(isjl:alpha=4)")
COMPILED = {"fcfs", "sjf", "lpt", "ljf", "isjl:alpha=4", "robust-isjl:alpha=4", "fair-fcfs:alpha=3"}

quarters = st.integers(0, 160).map(lambda count: count / 4)
requests = st.lists(st.tuples(quarters, st.integers(1, 12)), min_size=1, max_size=20)
Requests = list[tuple[float, int]]


def serve(
    served: Sequence[tuple[float, int]],
    policy: str,
    *,
    slots: int,
    base: float = 1.0,
    slotted: bool = False,
    engine: Engine = "simpy",
) -> Run:
    lengths = [length for _, length in served]
    return simulate(
        Workload([release for release, _ in served], lengths, upper=lengths),  # robust-isjl asks for bounds
        parse_policy(policy),
        slots=slots,
        step_time=StepTime(base),
        slotted=slotted,
        alpha=4,
        engine=engine,
    )


def engines(policy: str) -> tuple[Engine, ...]:
    return ("simpy", "compiled") if policy in COMPILED else ("simpy",)


def counters(run: Run) -> tuple[int, ...]:
    return run.steps, run.intrinsic, run.externality, run.totals.gap_steps, run.audit.violations


@pytest.mark.parametrize("policy", [*POLICIES, DELAYED])  # a window opens at 0, whatever comes
@settings(max_examples=instances(40))
@given(served=requests, slots=st.integers(1, 4), later=st.integers(1, 10**6), slotted=st.booleans())
def test_a_later_start_moves_the_schedule(
    policy: str, served: Requests, slots: int, later: int, *, slotted: bool
) -> None:
    for engine in engines(policy):
        now = serve(served, policy, slots=slots, slotted=slotted, engine=engine)
        moved = [(release + later, length) for release, length in served]
        then = serve(moved, policy, slots=slots, slotted=slotted, engine=engine)
        assert (then.start - later).tolist() == now.start.tolist()
        assert (then.finish - later).tolist() == now.finish.tolist()
        assert then.slot.tolist() == now.slot.tolist()
        assert counters(then) == counters(now)


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=instances(40))
@given(requests, st.integers(1, 4), st.integers(-10, 10))
def test_slower_steps_stretch_the_schedule(policy: str, served: Requests, slots: int, power: int) -> None:
    factor = 2.0**power
    for engine in engines(policy):
        now = serve(served, policy, slots=slots, engine=engine)
        stretched = [(factor * release, length) for release, length in served]
        then = serve(stretched, policy, slots=slots, base=factor, engine=engine)
        assert (then.start / factor).tolist() == now.start.tolist()
        assert (then.finish / factor).tolist() == now.finish.tolist()
        assert counters(then) == counters(now)


@pytest.mark.parametrize("policy", [*POLICIES, *WAITING])
@settings(max_examples=instances(40))
@given(
    st.dictionaries(quarters, st.integers(1, 12), min_size=1, max_size=12), st.randoms(), st.integers(1, 4)
)
def test_the_order_of_rows_does_not_matter(
    policy: str, length_at: dict[float, int], random: np.random.Generator, slots: int
) -> None:
    # equal stamps hold equal requests here: among others the order of rows decides, as it should
    served = [(release, length) for release, length in length_at.items() for _ in range(1 + length % 3)]
    shuffled = list(served)
    random.shuffle(shuffled)
    fates = [
        sorted(zip(rows, run.start.tolist(), run.finish.tolist(), strict=True))
        for rows in (served, shuffled)
        for run in [serve(rows, policy, slots=slots)]
    ]
    assert fates[0] == fates[1]


@pytest.mark.parametrize("policy", [*POLICIES, *WAITING])
@settings(max_examples=instances(40))
@given(requests, st.integers(1, 4), quarters, st.integers(1, 12))
def test_what_comes_later_changes_nothing_before_it(
    policy: str, served: Requests, slots: int, gap: float, length: int
) -> None:
    release = max(release for release, _ in served) + gap
    for engine in engines(policy):
        without = serve(served, policy, slots=slots, engine=engine)
        within = serve([*served, (release, length)], policy, slots=slots, engine=engine)
        before = without.start < release
        assert within.start[:-1][before].tolist() == without.start[before].tolist()
        assert within.slot[:-1][before].tolist() == without.slot[before].tolist()


@pytest.mark.parametrize(
    ("bound", "free"),
    [
        ("fair-fcfs:alpha={}", "fcfs"),
        ("fair-sjf:alpha={}", "sjf"),
        ("fair-lpt:alpha={}", "lpt"),
        ("fair-bucketed:k=2,alpha={}", "bucketed:k=2"),
        ("isjl:alpha={}", "lpt"),
        ("robust-isjl:alpha={}", "lpt"),
    ],
)
@settings(max_examples=instances(40))
@given(requests, st.integers(1, 4), st.integers(0, 5))
def test_a_budget_beyond_the_longest_request_binds_nobody(
    bound: str, free: str, served: Requests, slots: int, more: int
) -> None:
    alpha = max(length for _, length in served) + more
    fair = serve(served, bound.format(alpha), slots=slots)
    unbound = serve(served, free, slots=slots)
    assert fair.start.tolist() == unbound.start.tolist()
    assert fair.slot.tolist() == unbound.slot.tolist()


@pytest.mark.parametrize("policy", [policy for policy in POLICIES if policy != "bucketed:k=3"])
@settings(max_examples=instances(40))
@given(requests)
def test_one_slot_is_a_single_server(policy: str, served: Requests) -> None:
    run = serve(served, policy, slots=1)
    order = np.argsort(run.start)
    begin, end = run.start[order], run.finish[order]
    assert (begin[1:] >= end[:-1]).all()
    assert (end - begin).tolist() == [served[row][1] for row in order]
    assert run.externality == 0
    assert run.max_gap == 0
