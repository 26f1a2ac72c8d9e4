"""Replicating until an interval is narrow enough."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from command_line import Command
from made_runs import queue_run
from numpy.typing import NDArray
from refusal import refusal

from analysis.cli.parsing import parse_targets
from analysis.outcome import Outcome, evaluate
from analysis.replications import interval
from analysis.sequential import FEWEST, Target, check_targets, next_size, records, state
from analysis.stability import sustained_work
from serving_sim import Run

MEAN_5 = Target("e2el", "mean", 0.05)


def outcome(spread: float, count: int = 10) -> Outcome:
    """``count`` replications whose mean latencies are 10 give or take ``spread``."""
    signs = np.resize([-1.0, 1.0], count)
    runs = [queue_run([10 + spread * sign] * 60) for sign in signs]
    return evaluate(runs, rates=None)  # nothing is said of the queue behind them


def test_precise_enough_by_hand() -> None:
    # ten values 10 ± s, five each: standard deviation s sqrt(10 / 9), half width 2.262 s / 3
    assert MEAN_5.error(outcome(0.6)) == pytest.approx(2.2621571627409915 * 0.6 / 3 / 10)
    assert MEAN_5.reached(outcome(0.63))  # 4.750 % <= 5 / 1.05 = 4.762 %
    assert not MEAN_5.reached(outcome(0.65))  # 4.901 % is within 5 % of the estimate, not of the truth


def test_growth_by_half_up_to_the_most() -> None:
    wide = [outcome(5.0)]
    assert next_size(wide, [MEAN_5], most=200) == 15
    assert next_size(wide, [MEAN_5], most=12) == 12
    assert next_size(wide, [MEAN_5], most=10) is None
    assert next_size([outcome(0.1)], [MEAN_5], most=200) is None
    assert next_size([outcome(0.1), *wide], [MEAN_5], most=200) == 15


def test_what_more_replications_cannot_mend_ends_at_once() -> None:
    # 3 of 60 requests lie beyond p95: no interval, however many replications
    assert next_size([outcome(5.0)], [Target("e2el", "p95", 0.05)], most=200) is None


def test_where_it_stands() -> None:
    assert state([outcome(0.1), outcome(5.0)], [MEAN_5]) == "e2el.mean ± 38 % of 5 %"
    (record,) = records([outcome(5.0)], [MEAN_5])
    assert (record["target"], record["wanted"], record["reached"]) == ("e2el.mean", 0.05, False)


def test_targets_are_read() -> None:
    assert parse_targets("e2el.p99.9:5%, ttft.mean:0.5%") == (
        Target("e2el", "p99.9", 0.05),
        Target("ttft", "mean", 0.005),
    )
    assert parse_targets(None) == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("e2el:5%", "until='e2el:5%': must read METRIC.STATISTIC:NUMBER%, as in e2el.p99:5%"),
        ("e2el.p99:5", "until='e2el.p99:5': must read METRIC.STATISTIC:NUMBER%, as in e2el.p99:5%"),
        ("e2el.p99:x%", "until='x': must be a finite number"),
        ("e2el.p99:0%", "until='e2el.p99:0%': the precision must be > 0"),
        ("e2el.mean:5%, e2el.mean:6%", "until='e2el.mean:6%': 'e2el.mean' must not come twice"),
        (
            "e2e.p99:5%",
            "until='e2e': must be one of queue_time, ttft, e2el, tpot, normalized_latency, slowdown",
        ),
    ],
)
def test_what_is_no_target_is_refused(text: str, message: str) -> None:
    assert refusal(lambda: parse_targets(text)) == message


def test_a_target_must_be_estimated() -> None:
    assert refusal(lambda: check_targets([Target("e2el", "p75", 0.1)], ["p50", "p90"])) == (
        "until='e2el.p75': the statistic must be one of mean, p50, p90"
    )


def test_sequential_intervals_cover_the_truth() -> None:
    # Exponential values of mean 1, a mean of 20 a replication: the error must be within 10 % in 95 % of
    # the cases, whatever the number of replications the rule stops at
    rng, target = np.random.default_rng(1), Target("e2el", "mean", 0.1)
    values = rng.exponential(size=(400, 200, 20)).mean(axis=2)
    ends = [replicated(each, target) for each in values]
    sizes = [len(each.runs) for each in ends]
    estimates = [target.estimate(each) for each in ends]
    assert min(sizes) == FEWEST < np.mean(sizes) < 40
    assert all(target.reached(each) for each in ends)
    assert np.mean([abs((each.value or 0) - 1) <= 0.1 for each in estimates]) >= 0.95


def replicated(values: NDArray[np.float64], target: Target) -> Outcome:
    """What a study that takes its replications from ``values`` ends with."""
    run, count = queue_run([1.0]), FEWEST
    while True:
        metrics = {target.metric: {target.statistic: interval(values[:count].tolist())}}
        end = Outcome("fcfs", (run,) * count, (), metrics, {}, None)
        more = next_size([end], [target], most=len(values))
        if more is None:
            return end
        count = more


SMALL = ("--num-prompts", 300, "--slots", 2, "--lengths", "geometric:mean=5", "--load", 0.5)


def test_run_until_precise(command: Command) -> None:
    code, out, err = command("run", "--policy", "fcfs", *SMALL, "--until", "e2el.mean:3%", "--json")
    assert code == 0
    assert "10 or more replications" in err
    content = json.loads(out)
    assert content["replications"] > 10
    assert content["until"][0]["reached"] is True
    mean = content["metrics"]["e2el"]["mean"]
    assert (mean["high"] - mean["low"]) / 2 <= 0.03 / 1.03 * mean["value"]
    # the same replications as asked for directly
    again = command("run", "--policy", "fcfs", *SMALL, "--replications", content["replications"], "--json")
    assert json.loads(again[1])["metrics"] == content["metrics"]


def test_the_most_replications_end_in_an_honest_no(command: Command) -> None:
    words = ("--until", "e2el.mean:0.1%", "--max-replications", 12)
    _, out, _ = command("run", "--policy", "fcfs", *SMALL, *words)
    table = out[out.index("precision after 12 replications") :].splitlines()
    assert table[2].split()[-3:] == ["0.1", "%", "no"]


def test_runs_too_short_for_an_interval_name_the_option_to_raise(command: Command) -> None:
    words = ("--policy", "fcfs", "--slots", 4, "--load", 0.9, "--num-prompts", 300, "--until", "e2el.p99:5%")
    _, out, _ = command("run", *words, "--quiet")
    table = out[out.index("precision after 10 replications") :].splitlines()
    assert re.fullmatch(r"fcfs, e2el\.p99  [\d.,]+ \?  +-  +5 %  +no", table[2])
    assert re.fullmatch(
        r"not enough data for p99 \(n = 300, about [\d,]+ needed\) in each replication", table[3]
    )
    assert (
        table[4] == "? no interval, and more replications give none: raise --num-prompts to the number needed"
    )


def test_compare_until_every_policy_is_precise(command: Command) -> None:
    words = ("compare", "--policy", "fcfs", "--policy", "sjf", *SMALL, "--until", "e2el.mean:4%", "--json")
    _, out, _ = command(*words)
    content = json.loads(out)
    assert [(each["policy"], each["reached"]) for each in content["until"]] == [("fcfs", True), ("sjf", True)]
    assert len({each["replications"] for each in content["outcomes"]}) == 1


def test_automatic_warm_up_is_told(command: Command) -> None:
    words = ("run", "--policy", "fcfs", *SMALL, "--warmup", "auto", "--replications", 10, "--out")
    _, _, err = command(*words[:-1])
    assert "warm-up: the first " in err
    assert "requests are left out, by MSER-5" in err


def test_a_growing_queue_does_not_decide_the_warm_up_of_others(command: Command) -> None:
    words = ("--slots", 4, "--lengths", "geometric:mean=10", "--num-prompts", 2000, "--load", 0.7)
    auto = ("--warmup", "auto")
    alone = command("compare", "--policy", "fcfs", "--policy", "sjf", *words, *auto)[2]
    fair = command(
        "compare", "--policy", "fcfs", "--policy", "sjf", "--policy", "isjl:alpha=2", *words, *auto
    )
    notes = [line for line in alone.splitlines() if line.startswith("warm-up: ")]
    assert notes
    assert "the first 1,000 " not in notes[0]
    assert [line for line in fair[2].splitlines() if line.startswith("warm-up: ")] == notes
    behind = command("run", "--policy", "isjl:alpha=2", *words, *auto)[2]
    assert "warm-up: nothing is left out, no policy keeps up\n" in behind


def test_warm_up_that_hits_its_cap_is_told(command: Command) -> None:
    words = ("--slots", 16, "--lengths", "geometric:mean=50", "--num-prompts", 60, "--users", 30)
    _, _, err = command("run", "--policy", "fcfs", *words, "--warmup", "auto")
    assert err.endswith(
        "warm-up: the first 30 requests are left out, by MSER-5, the most that it may: these runs are too "
        "short to see a steady state\n"
    )


def test_looks_measure_the_pace_of_a_policy_once(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[str] = []

    def counted(backlog: Run) -> float:
        measured.append(backlog.policy)
        return sustained_work(backlog)

    monkeypatch.setattr("analysis.stability.sustained_work", counted)
    words = ("--until", "e2el.mean:0.1%", "--max-replications", 12)
    command("compare", "--policy", "fcfs", "--policy", "sjf", *SMALL, *words)
    assert measured == ["fcfs", "sjf"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--warmup", "some"), "warmup='some': must be auto or a whole number >= 0"),
        (
            ("--warmup", "auto", "--arrivals", "backlog"),
            "--warmup=auto: a backlog has no steady state to warm up to",
        ),
        (
            ("--until", "e2el.mean:5%", "--information", "none"),
            "--until: needs --context-limit with --information=none, more requests could raise it",
        ),
    ],
)
def test_options_that_cannot_be(command: Command, words: tuple[str, ...], message: str) -> None:
    head = ("run", "--policy", "fcfs", "--num-prompts", 50)
    assert command(*head, *words) == (2, "", f"serving-sim: error: {message}\n")
