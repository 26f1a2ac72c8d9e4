"""Certificates of runs: sound for every policy, step time and release, and 1 where the run is optimal."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_runs import small_run
from refusal import refusal

from analysis.bounds import Certificate, certify
from policies import make_policy
from serving_sim import Run, StepTime, Workload, simulate

COEFFICIENTS = st.just(0.0) | st.floats(0.001, 1)


def _serve(
    lengths: list[int], policy: str = "ljf", *, slots: int = 2, alpha: int | None = None, **options: object
) -> Run:
    parameters = {"alpha": alpha} if policy in {"isjl", "fair-fcfs", "fair-sjf"} else {}
    return simulate(
        Workload([0] * len(lengths), lengths),
        make_policy(policy, **parameters),
        slots=slots,
        alpha=alpha,
        **options,  # type: ignore[arg-type]
    )


@given(
    policy=st.sampled_from(["fcfs", "sjf", "lpt", "ljf", "fair-fcfs", "isjl"]),
    requests=st.lists(st.tuples(st.floats(0, 50), st.integers(1, 20)), min_size=1, max_size=20),
    slots=st.integers(1, 4),
    alpha=st.integers(0, 12),
    step_time=st.builds(
        StepTime,
        base=st.floats(0.5, 2),
        per_request=COEFFICIENTS,
        per_max_token=COEFFICIENTS,
        per_token=COEFFICIENTS,
    )
    | st.just(StepTime()),
)
def test_no_run_beats_its_bound(
    policy: str, requests: list[tuple[float, int]], slots: int, alpha: int, step_time: StepTime
) -> None:
    releases, lengths = zip(*requests, strict=True)
    parameters = {"alpha": alpha} if policy in {"isjl", "fair-fcfs"} else {}
    run = simulate(
        Workload(releases, lengths),
        make_policy(policy, **parameters),
        slots=slots,
        step_time=step_time,
        alpha=alpha,
    )
    certificate = certify(run)
    assert certificate.lower_bound <= run.makespan * (1 + 1e-12)
    assert 0 < certificate.ratio <= 1
    assert certificate.alpha == (alpha if run.audit.fair else None)


HUNDREDTHS = st.integers(1, 2000).map(lambda count: count / 100)


@given(
    requests=st.lists(st.tuples(st.floats(0, 20) | HUNDREDTHS, st.integers(1, 9)), min_size=1, max_size=9),
    slots=st.integers(1, 3),
    base=st.floats(0.25, 2) | st.sampled_from([0.01, 0.03, 0.05, 0.1, 0.3, 0.7]),
)
def test_on_a_grid_of_steps_too_to_the_last_bit(
    requests: list[tuple[float, int]], slots: int, base: float
) -> None:
    releases, lengths = zip(*requests, strict=True)
    workload = Workload(releases, lengths)
    run = simulate(workload, make_policy("lpt"), slots=slots, step_time=StepTime(base), slotted=True)
    assert certify(run).lower_bound <= run.makespan


def test_a_release_on_the_grid_as_floats_have_it_needs_no_further_step() -> None:
    # 0.27 / 0.03 is 9.000000000000002, and 9 * 0.03 is 0.27: the worker starts in the ninth step
    workload = Workload([0.27, 0.27], [1, 2])
    run = simulate(workload, make_policy("fcfs"), slots=1, step_time=StepTime(0.03), slotted=True)
    assert run.start[0] == 0.27
    assert certify(run) == Certificate(run.makespan, run.makespan, "work", 0.27, None)


def test_the_grid_counts() -> None:
    run = simulate(Workload([0.5], [2]), make_policy("fcfs"), slots=1, slotted=True)
    assert certify(run) == Certificate(3.0, 3.0, "longest", 1.0, None)


def test_an_optimal_run_is_certified_as_such() -> None:
    certificate = certify(_serve([9, 8, 7], alpha=3))
    assert certificate == Certificate(16.0, 16.0, "cohort", 0.0, 3)
    assert certificate.ratio == 1


def test_a_wasteful_run_gets_its_share() -> None:
    assert certify(_serve([6, 3, 3], "ljf", alpha=4)).ratio == 6 / 9


def test_an_unfair_run_is_held_against_all_schedules() -> None:
    run = _serve([9, 2, 8, 1], "fcfs", alpha=1)  # 8 starts beside a 9 of 2 tokens
    assert run.audit.fair is False
    assert certify(run) == Certificate(10.0, 10.0, "work", 0.0, None)


@pytest.mark.parametrize(
    ("step_time", "makespan"),
    [  # 5 and 5 together, then 3: 8 steps, 13 tokens, caches up to 1 + .. + 5 twice and 1 + 2 + 3
        (StepTime(base=0.5), 4.0),
        (StepTime(base=0, per_request=2), 26.0),
        (StepTime(base=0, per_max_token=3), 63.0),
        (StepTime(base=0, per_token=1), 36.0),
    ],
)
def test_each_coefficient_counts_what_it_must(step_time: StepTime, makespan: float) -> None:
    run = _serve([5, 5, 3], alpha=0, step_time=step_time)
    assert run.makespan == makespan == certify(run).lower_bound


def test_requests_are_needed() -> None:
    assert refusal(lambda: certify(replace(small_run(), requests=None))) == (
        "run: its requests went to a sink; keep them in memory to certify it"
    )
