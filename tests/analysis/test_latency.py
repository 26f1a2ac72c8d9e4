"""Latency metrics of runs small enough to check by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from made_runs import small_run, with_requests
from refusal import refusal

from analysis.definitions import REQUEST_METRICS
from analysis.goodput import measure_goodput
from analysis.latency import arrival_series, latency, served_requests, time_alone
from policies import make_policy
from serving_sim import StepTime, Workload, simulate

NAN = float("nan")


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("queue_time", [0.0, 0.25, 0.0]),
        ("ttft", [1.0, 1.25, 1.0]),
        ("e2el", [3.0, 2.25, 1.0]),
        ("tpot", [1.0, 1.0, NAN]),
        ("normalized_latency", [1.0, 1.125, 1.0]),
        ("slowdown", [1.0, 1.125, 1.0]),
    ],
)
def test_metric(metric: str, expected: list[float]) -> None:
    run = small_run()
    np.testing.assert_array_equal(latency(served_requests(run), run.step_time, metric), expected)


def test_every_metric_defined_is_computed() -> None:
    run = small_run()
    values = [latency(served_requests(run), run.step_time, entry.key) for entry in REQUEST_METRICS]
    assert len({value.tobytes() for value in values[:4]}) == 4


def test_an_unknown_metric_is_refused() -> None:
    run = small_run()
    assert refusal(lambda: latency(served_requests(run), run.step_time, "itl")) == (
        "metric='itl': must be one of queue_time, ttft, e2el, tpot, normalized_latency, slowdown"
    )


def test_output_tokens_are_the_steps_from_the_first_token_on() -> None:
    prompted = Workload([0.5, 1.25, 9.0], [3, 2, 1], prompt_tokens=[1, 5, 0])
    # request 0 makes its first token at step 2 of 3; the prompt of request 1 is not in its length
    run = replace(with_requests(small_run(), prompted), first_token=np.array([2.5, 2.5, 10.0]))
    np.testing.assert_array_equal(latency(served_requests(run), run.step_time, "tpot"), [1.0, 1.0, NAN])


def test_a_request_without_output_has_no_time_per_output_token() -> None:
    run = with_requests(
        small_run(), Workload([0.5, 1.25, 9.0], [3, 2, 1], prompt_tokens=[3, 0, 0], output_tokens=[0, 2, 1])
    )
    np.testing.assert_array_equal(latency(served_requests(run), run.step_time, "tpot"), [NAN, 1.0, NAN])


def test_a_request_without_output_has_no_first_token_and_meets_no_objective_on_tokens() -> None:
    silent = Workload([0, 10, 30], [5, 6, 8], prompt_tokens=[5, 5, 5], output_tokens=[0, 1, 3])
    run = simulate(silent, make_policy("fcfs"), slots=1)
    served = served_requests(run)
    np.testing.assert_array_equal(latency(served, run.step_time, "ttft"), [NAN, 6.0, 6.0])
    np.testing.assert_array_equal(arrival_series(run, "ttft"), [6.0, 6.0])
    np.testing.assert_array_equal(latency(served, run.step_time, "e2el"), [5.0, 6.0, 8.0])

    def counted(**objectives: float) -> int:
        return measure_goodput(served, run.step_time, run.makespan, objectives).requests

    assert counted(ttft=99) == 2
    assert counted(tpot=99) == 2  # that of the single token is undefined, and cannot be missed
    assert counted(e2el=5.5) == 1
    assert counted(e2el=5.5, ttft=99) == 0


def test_time_alone_is_that_of_the_step_time() -> None:
    step_time = StepTime(base=0.7, per_request=0.01, per_max_token=0.003, per_token=0.002)
    lengths = np.array([1, 2, 17, 2**40])
    expected = [step_time.alone(int(length)) for length in lengths]
    np.testing.assert_allclose(time_alone(step_time, lengths), expected, rtol=1e-15)


def test_series_stand_in_arrival_order_after_the_warmup() -> None:
    run = replace(
        small_run(),
        requests=Workload([9.0, 0.5, 1.25], [1, 3, 2]),
        start=np.array([9.0, 0.5, 1.5]),
        finish=np.array([10.0, 3.5, 3.5]),
    )
    np.testing.assert_array_equal(arrival_series(run, "e2el"), [3.0, 2.25, 1.0])
    np.testing.assert_array_equal(arrival_series(run, "e2el", warmup=1), [2.25, 1.0])


@pytest.mark.parametrize("warmup", [-1, 3])
def test_a_warmup_that_leaves_nothing_is_refused(warmup: int) -> None:
    assert refusal(lambda: arrival_series(small_run(), "e2el", warmup)) == (
        f"warmup={warmup}: must be >= 0 and below the number of requests, 3"
    )


def test_a_run_whose_requests_went_to_a_sink_says_so() -> None:
    assert refusal(lambda: served_requests(replace(small_run(), requests=None))) == (
        "run.requests=None: the requests went to a sink, read them from its file"
    )


def test_goodput_counts_requests_that_meet_every_objective() -> None:
    run = small_run()
    result = measure_goodput(served_requests(run), run.step_time, run.makespan, {"e2el": 2.25, "ttft": 1.0})
    assert (result.requests, result.share, result.tokens_per_time_unit) == (1, 1 / 3, 0.1)


def test_a_metric_without_a_value_cannot_be_missed() -> None:
    run = small_run()
    result = measure_goodput(served_requests(run), run.step_time, run.makespan, {"tpot": 0.5})
    assert result.requests == 1


@pytest.mark.parametrize("limit", [0.0, -1.0, NAN])
def test_a_limit_that_cannot_be_met_is_refused(limit: float) -> None:
    run = small_run()
    message = refusal(lambda: measure_goodput(served_requests(run), run.step_time, 10.0, {"ttft": limit}))
    assert message == f"goodput=ttft:{limit!r}: the limit must be > 0"
