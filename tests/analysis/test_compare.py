"""Comparisons on the same arrivals."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from made_runs import queue_run
from refusal import refusal

from analysis.compare import Comparison, compare
from analysis.estimate import Estimate
from analysis.outcome import Outcome, evaluate
from analysis.stability import ONE_BACKLOG
from analysis.tables import comparison_tables
from analysis.time_unit import TimeUnit
from serving_sim import Audit, Run
from serving_sim.request import FloatArray

STEPS = TimeUnit("step")


def outcomes(*shifts: float, noise: float = 0.01, count: int = 4000, gap: float = 1.0) -> list[Outcome]:
    """Policies p0, p1, .. whose latencies differ by constant shifts on the same arrivals."""
    rng = np.random.default_rng(1)
    common = rng.exponential(5.0, count) + 10
    first: Run | None = None
    made = []
    for place, shift in enumerate(shifts):
        values = common + (shift + noise * rng.standard_normal(count) if place else 0)
        run = queue_run(list(values), policy=f"p{place}", gap=gap)
        first = first or run
        # nothing is said of the queue behind them
        made.append(evaluate([replace(run, requests=first.requests)], rates=None))
    return made


def verdicts(comparison: Comparison, statistic: str) -> list[str]:
    return [each.verdict for each in comparison.differences if each.statistic == statistic]


def test_small_differences_on_the_same_arrivals_are_seen() -> None:
    comparison = compare(outcomes(0, 0.5, -0.5))
    assert verdicts(comparison, "mean") == ["higher", "lower"]
    assert verdicts(comparison, "p90") == ["higher", "lower"]
    assert comparison.difference("p1", "e2el", "mean").estimate.value == pytest.approx(0.5, abs=0.01)


def test_quantiles_of_a_run_are_selected_once_whatever_number_of_policies_and_statistics(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared = outcomes(0, 0.5, -0.5)
    selected, quantile = [], np.quantile

    def watched(values: FloatArray, shares: FloatArray) -> FloatArray:
        selected.append(len(values))
        return quantile(values, shares)

    monkeypatch.setattr(np, "quantile", watched)
    compare(compared)
    assert Counter(selected) == {4000: 3, 400: 30}  # of three runs, and of ten sections each


def test_what_chance_could_do_is_not_called_a_difference() -> None:
    assert verdicts(compare(outcomes(0, 0.0, noise=1.0)), "mean") == ["cannot tell apart"]


def test_a_run_too_short_says_so() -> None:
    comparison = compare(outcomes(0, 1.0, count=412))
    assert verdicts(comparison, "p99.9") == ["not enough data"]


def test_equal_schedules_are_identical() -> None:
    comparison = compare(outcomes(0, 0.0, noise=0.0))
    assert set(verdicts(comparison, "mean") + verdicts(comparison, "p99.9")) == {"identical"}


def test_equal_quantiles_of_other_schedules_are_not_identical() -> None:
    latency = np.tile([5.0, 5.0, 7.0], 4000)
    slower = latency + np.tile([0.0, 0.0, 1.0], 4000)
    run = queue_run(list(latency), policy="p0")
    other = replace(queue_run(list(slower), policy="p1"), requests=run.requests)
    comparison = compare([evaluate([run], rates=None), evaluate([other], rates=None)])
    assert comparison.difference("p1", "e2el", "p50").estimate == Estimate(0.0, 0.0, 0.0)
    assert verdicts(comparison, "p50") == ["cannot tell apart"]


def test_equal_arrivals_need_not_be_one_object() -> None:
    run = queue_run([5.0, 6.0], policy="p0")
    copied = queue_run([5.0, 7.0], policy="p1")
    assert copied.requests is not run.requests
    assert compare([evaluate([run]), evaluate([copied])]).baseline == "p0"


def test_a_backlog_needs_replications() -> None:
    comparison = compare(outcomes(0, 1.0, gap=0.0))
    difference = comparison.difference("p1", "e2el", "mean")
    assert (difference.verdict, difference.estimate.note) == ("one draw", ONE_BACKLOG)
    assert difference.estimate.value == pytest.approx(1.0, abs=0.01)
    assert difference.variance_reduction is None
    means = comparison_tables(comparison, STEPS)[1]
    assert means.title.endswith("; * one draw")
    assert means.notes == []


def test_common_arrivals_may_raise_a_variance() -> None:
    """One policy is slow where the other is fast: their difference varies more than by chance."""
    rng = np.random.default_rng(1)
    waits = rng.exponential(5.0, 4000)
    run = queue_run(list(10 + waits), policy="p0")
    contrary = queue_run(list(30 - np.minimum(waits, 25)), policy="p1")
    pair = [replace(contrary, requests=run.requests), run]
    comparison = compare([evaluate([each], rates=None) for each in pair])
    factor = comparison.difference("p0", "e2el", "mean").variance_reduction
    assert factor is not None
    assert factor == pytest.approx(0.5, abs=0.02)
    assert comparison_tables(comparison, STEPS)[1].notes == [
        f"common arrivals raised the variance of the differences in the mean {1 / factor:.4g} times"
    ]


def test_intervals_hold_at_once() -> None:
    assert compare(outcomes(0, 1)).confidence == 0.95
    assert compare(outcomes(0, 1, 2, 3)).confidence == pytest.approx(1 - 0.05 / 3)
    assert compare(outcomes(0)).differences == ()


def test_no_difference_of_a_tail_without_one_of_the_quantile_before_it() -> None:
    """Late values come alone, early ones hang together: only the tail seems to hold enough of them."""
    rng = np.random.default_rng(2)
    waves = np.repeat(rng.exponential(5.0, 40), 300)
    values = np.where(rng.random(12_000) < 0.02, 100 + rng.random(12_000), waves)
    run = queue_run(list(10 + values), policy="p0")
    slower = replace(queue_run(list(11 + 1.1 * values), policy="p1"), requests=run.requests)
    pair = [evaluate([each], rates=None, percentiles=[50, 99]) for each in (run, slower)]
    found = {each.statistic: each for each in compare(pair, percentiles=[50, 99]).differences}
    assert found["p50"].estimate.low is None
    assert found["p99"].estimate.note == "not enough data for p50, so none for p99"
    assert compare(pair, percentiles=[99]).difference("p1", "e2el", "p99").estimate.low is not None


def test_replications_are_paired() -> None:
    rng = np.random.default_rng(2)
    runs, shifted = [], []
    for _ in range(4):
        values = rng.exponential(5.0, 500) + rng.normal(20, 5)  # replications differ far more than policies
        run = queue_run(list(values), policy="p0")
        runs.append(run)
        shifted.append(replace(queue_run(list(values + 0.1), policy="p1"), requests=run.requests))
    comparison = compare([evaluate(runs, rates=None), evaluate(shifted, rates=None)])
    difference = comparison.difference("p1", "e2el", "mean")
    assert difference.verdict == "higher"
    assert difference.estimate.half_width == pytest.approx(0, abs=1e-9)


def test_other_arrivals_are_refused() -> None:
    first, second = outcomes(0, gap=2.0), outcomes(0, 1)[1:]
    assert refusal(lambda: compare([*first, *second])) == (
        "policy='p1': must have served the arrivals of the first policy"
    )


def test_a_policy_is_not_compared_with_itself() -> None:
    (only,) = outcomes(0)
    assert refusal(lambda: compare([only, only])) == "policy='p0': must not be compared with itself"


def test_metrics_exist_and_come_once() -> None:
    (only,) = outcomes(0)
    assert refusal(lambda: compare([only], metrics=("e2el", "ttft", "e2el"))) == (
        "metrics='e2el': must not be named twice"
    )
    assert refusal(lambda: compare([only], metrics=("speed",))).startswith("metrics='speed': must be one of ")


def test_tables_say_what_can_be_said() -> None:
    made = outcomes(0, 0.5, 0.0, count=1412)
    audited = replace(made[1].runs[0], audit=Audit(4, 9, 1234, 5000, None))
    comparison = compare([made[0], evaluate([audited], rates=None), made[2]], percentiles=(50.0, 99.9))
    latencies, differences, whole = comparison_tables(comparison, STEPS)
    assert latencies.title == "end-to-end latency (steps)"
    assert list(latencies.header) == ["policy", "mean", "p50", "p99.9"]
    assert [row[0] for row in differences.rows] == ["p1", "p2"]
    assert differences.title.startswith("difference from p0 in end-to-end latency (steps), ")
    assert "the 2 intervals of a column hold at once with 95 %" in differences.title
    assert re.fullmatch(r"0\.\d{3,5} ± 0\.00\d+", differences.rows[0][1])
    assert differences.rows[0][3].endswith(" ?")
    assert differences.rows[1][1].endswith(" ~")
    assert list(whole.header) == [
        "policy",
        "makespan",
        "token throughput",
        "occupancy",
        "mean gap",
        "max gap",
        "fair",
        "keeps up",
    ]
    assert [row[-2] for row in whole.rows] == ["-", "no (1,234)", "-"]
