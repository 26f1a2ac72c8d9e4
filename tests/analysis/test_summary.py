"""What summary.json holds: exact, complete, stable."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from made_runs import queue_run, small_run

import analysis
from analysis.attainment import attainment
from analysis.books import keep_books
from analysis.columns import SUMMARY_FIELDS
from analysis.compare import compare
from analysis.definitions import REQUEST_METRICS, RUN_METRICS
from analysis.economics import CostModel
from analysis.estimate import Estimate
from analysis.json_text import to_json
from analysis.outcome import evaluate
from analysis.prices import Prices
from analysis.replications import ONE_LOG
from analysis.report import comparison_page
from analysis.summary import summarize
from analysis.tables import comparison_tables, run_tables
from analysis.time_unit import TimeUnit
from policies import parse_policy
from serving_sim import Audit, Violation, Workload, simulate


def paths(content: Mapping[str, object], prefix: str = "") -> set[str]:
    """Keys of a summary as `SUMMARY_FIELDS` writes them."""
    found: set[str] = set()
    for key, value in content.items():
        if prefix == "" and key == "metrics":
            assert isinstance(value, dict)
            assert set(value) == {entry.key for entry in REQUEST_METRICS}
            for inner in value.values():
                found |= paths(inner, "metrics.*.")
        elif prefix == "" and key == "fairness":
            assert isinstance(value, dict)
            found |= paths(value, "fairness.")
        elif prefix == "" and key == "costs":
            assert isinstance(value, dict)
            found |= paths(value, "costs.")
        else:
            found.add(prefix + key)
    return found


def test_numbers_of_a_run_by_hand() -> None:
    summary = summarize(small_run(), goodput={"e2el": 2.25})
    assert (summary.requests, summary.tokens, summary.steps, summary.Q, summary.E) == (3, 6, 4, 10, 2)
    assert (summary.makespan, summary.throughput, summary.request_throughput) == (10.0, 0.6, 0.3)
    assert (summary.occupancy, summary.occupancy_all_time) == (1.5, 0.6)
    assert (summary.extent_mean, summary.extent_max) == (0.5, 1)
    assert summary.goodput is not None
    assert (summary.goodput.requests, summary.goodput.tokens_per_time_unit) == (2, 0.3)
    assert summary.metrics["e2el"].mean.value == pytest.approx(25 / 12)
    assert summary.metrics["e2el"].quantiles["p50"].value == 2.25
    assert summary.metrics["tpot"].count == 2


def test_whole_numbers_beyond_64_bits_stay_exact() -> None:
    run = small_run()
    huge = replace(run, totals=replace(run.totals, intrinsic=2**70 + 1, externality=10**30 + 7))
    read = json.loads(to_json(summarize(huge).to_dict()))
    assert (read["Q"], read["E"]) == (2**70 + 1, 10**30 + 7)


def test_what_is_undefined_is_null_never_nan() -> None:
    only = queue_run([1.0])
    read = json.loads(to_json(summarize(only).to_dict()))
    assert read["metrics"]["tpot"] == {
        "count": 0,
        "mean": {"value": None, "low": None, "high": None, "note": "no request has a value"},
        "std": None,
        "max": None,
        "quantiles": {
            name: {"value": None, "low": None, "high": None, "note": "no request has a value"}
            for name in ("p50", "p90", "p95", "p99", "p99.9")
        },
    }
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match=r"^a result is not finite and JSON cannot tell it: "):
            to_json({"value": value})


def test_the_audit_is_told_in_full() -> None:
    first = Violation(time=1.5, step=1, request=1, slot=1, other=0, other_slot=0, gap=1)
    run = replace(small_run(), audit=Audit(alpha=0, max_gap=1, violations=1, violation_steps=2, first=first))
    assert summarize(run).to_dict()["fairness"] == {
        "fair": False,
        "alpha": 0,
        "max_gap": 1,
        "violations": 1,
        "violation_steps": 2,
        "first_violation": {
            "time": 1.5,
            "step": 1,
            "request": 1,
            "slot": 1,
            "other": 0,
            "other_slot": 0,
            "gap": 1,
        },
    }


def test_a_backlog_gets_no_interval_from_one_run() -> None:
    latency = np.random.default_rng(0).exponential(size=2000) + 1
    steady = summarize(queue_run(list(latency)))
    backlog = summarize(queue_run(list(latency), gap=0.0))
    assert steady.metrics["e2el"].mean.half_width is not None
    assert backlog.metrics["e2el"].mean.low is None
    assert backlog.metrics["e2el"].mean.note == (
        "all requests are released at once: intervals need replications"
    )


def test_replications_give_the_backlog_its_interval() -> None:
    rng = np.random.default_rng(1)
    runs = [queue_run(list(rng.exponential(size=500) + 1), gap=0.0) for _ in range(3)]
    outcome = evaluate(runs)
    assert outcome.metrics["e2el"]["mean"].half_width is not None
    assert outcome.metrics["e2el"]["p99"].half_width is not None
    assert outcome.metrics["e2el"]["p99.9"].note == "not enough data for p99.9 (n = 500) in a replication"
    assert outcome.figures["makespan"].half_width is not None


def test_warmup_leaves_first_arrivals_out_of_metrics_only() -> None:
    summary = summarize(small_run(), warmup=2)
    assert (summary.requests, summary.warmup) == (3, 2)
    assert summary.metrics["e2el"].count == 1
    assert summary.metrics["e2el"].mean.value == 1.0


def test_figures_of_one_run_are_its_totals() -> None:
    figures = evaluate([small_run()]).figures
    assert (figures["makespan"].value, figures["E"].value) == (10.0, 2)
    assert "goodput" not in figures


@pytest.mark.parametrize("one_log", [False, True])
def test_the_largest_gap_of_replications_is_the_largest_and_no_mean(*, one_log: bool) -> None:
    # the second request joins when the first has 14 tokens, and 5
    workloads = (Workload([0, 14], [40, 12]), Workload([0, 5], [12, 12]))
    runs = [
        simulate(workload, parse_policy("fcfs"), slots=2, alpha=10, record_batches=True)
        for workload in workloads
    ]
    assert [run.max_gap for run in runs] == [14, 5]
    outcome = evaluate(runs, one_log=one_log)
    assert outcome.figures["extent_max"] == Estimate(
        14.0, note="the largest of all replications: no interval"
    )
    assert outcome.to_dict()["figures"]["extent_max"]["value"] == 14.0
    page = comparison_page(compare([outcome]), (), facts={}, time_unit=TimeUnit("step"))
    assert "14 tokens, breaks alpha" in page
    assert evaluate(runs[1:]).figures["extent_max"] == Estimate(5.0, note="one run")


def test_every_documented_run_metric_is_a_figure() -> None:
    figures = evaluate([small_run()], goodput={"ttft": 1.0}).figures
    assert {entry.key for entry in RUN_METRICS} <= set(figures)


def test_attainment_stands_in_the_tables_with_the_objectives() -> None:
    outcome = evaluate([small_run()], goodput={"e2el": 2.25, "slowdown": 9})
    said = "attainment: share of the requests with end-to-end latency <= 2.25 steps and slowdown <= 9"
    whole = run_tables(outcome, TimeUnit("step"))[1]
    assert ("attainment", "0.6667") in whole.rows  # two of three
    assert whole.notes == [said]
    compared = comparison_tables(compare([outcome]), TimeUnit("step"))[-1]
    assert compared.rows[0][list(compared.header).index("attainment")] == "0.6667"
    assert "attainment in" not in compared.title  # it has no unit
    assert said in compared.notes
    assert said in comparison_page(compare([outcome]), (), facts={}, time_unit=TimeUnit("step")).replace(
        "&lt;", "<"
    )
    assert "attainment" not in {
        row[0] for row in run_tables(evaluate([small_run()]), TimeUnit("step"))[1].rows
    }


def test_attainment_over_replications_has_the_interval_of_a_share() -> None:
    rng, objectives = np.random.default_rng(1), {"e2el": 2.0}
    runs = [queue_run(rng.uniform(1, 3, 400).tolist()) for _ in range(3)]
    share = evaluate(runs, goodput=objectives).figures["goodput_share"]
    assert share.low is not None
    assert share == attainment(runs, objectives)
    assert evaluate(runs, goodput=objectives, one_log=True).figures["goodput_share"] == share.withheld(
        ONE_LOG
    )


def test_labels_carry_the_unit_of_the_run() -> None:
    units = {entry.key: entry.label(TimeUnit("step", 0.03)) for entry in (*REQUEST_METRICS, *RUN_METRICS)}
    assert units["e2el"] == "end-to-end latency (steps of 0.03 s)"
    assert units["throughput"] == "token throughput (tokens per step of 0.03 s)"
    assert units["slowdown"] == "slowdown"


def test_python_names_of_the_package() -> None:
    assert analysis.summarize is summarize
    with pytest.raises(AttributeError, match="no attribute 'sumarize'"):
        analysis.sumarize  # noqa: B018


def test_summary_keys_are_those_of_the_table() -> None:
    run = small_run()
    costs = {"prices": {}, **keep_books([run], Prices(CostModel(c=1.0, tau=1.0), 1.0)).numbers()}
    written = {"version", "seed", "replication", "input", "arguments"}  # what the command adds
    documented = {field.name for field in SUMMARY_FIELDS}
    assert paths({**summarize(run).to_dict(), "costs": costs}) | written == documented


def test_unsorted_input_gives_the_same_statistics() -> None:
    run = small_run()
    turned = replace(
        run,
        requests=Workload([9.0, 1.25, 0.5], [1, 2, 3]),
        start=run.start[::-1],
        first_token=run.first_token[::-1],
        finish=run.finish[::-1],
        slot=run.slot[::-1],
    )
    assert summarize(turned) == summarize(run)


def test_values_without_intervals_are_those_with_them() -> None:
    run = simulate(Workload(np.arange(3_000) * 2.0, np.tile([1, 2, 3], 1_000)), parse_policy("fcfs"), slots=2)
    full, plain = (summarize(run, intervals=intervals) for intervals in (True, False))
    assert full.metrics["e2el"].mean.low is not None
    for key, metric in full.metrics.items():
        for name, estimate in metric.estimates().items():
            other = plain.metrics[key].estimates()[name]
            assert (other.value, other.low) == (estimate.value, None)
