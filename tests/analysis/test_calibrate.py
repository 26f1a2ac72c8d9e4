"""Choosing a fairness budget: shares of the cost, limits, warnings, and the command on real logs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.cli import main
from analysis.economics import CostModel, alpha_for_cost_share
from analysis.experiments.calibrate import Calibration, Goal, calibrate, grid_from_cost, grid_from_lengths
from analysis.externality import externality_shares, step_shares
from analysis.replications import ONE_LOG
from analysis.stability import GROWING, ONE_BACKLOG
from policies import ISJL, make_policy
from serving_sim import StepTime, Workload, simulate

COST = CostModel(c=0.01, tau=1e-4)


def stream(seed: int = 0, n: int = 2000) -> Workload:
    rng = np.random.default_rng(seed)
    return Workload(np.cumsum(rng.exponential(6.0, n)), rng.geometric(1 / 30, n))


def calibrated(alphas: list[int], goal: Goal) -> Calibration:
    return calibrate(stream(), alphas, goal, slots=8, step_time=StepTime())


@given(
    lengths=st.lists(st.integers(1, 40), min_size=1, max_size=25),
    gaps=st.lists(st.integers(0, 20), min_size=25, max_size=25),
    slots=st.integers(1, 5),
    name=st.sampled_from(["fcfs", "sjf", "ljf", "lpt", "isjl"]),
)
def test_shares_of_steps_and_externality_add_up(
    lengths: list[int], gaps: list[int], slots: int, name: str
) -> None:
    workload = Workload(np.cumsum(gaps[: len(lengths)]), lengths)
    policy = make_policy(name, alpha=7) if name == "isjl" else make_policy(name)
    run = simulate(workload, policy, slots=slots, record_batches=True)
    shares = step_shares(run)
    assert shares.sum() == pytest.approx(run.steps, rel=1e-12)
    assert (shares <= workload.length + 1e-9).all()
    assert (shares >= workload.length / slots - 1e-9).all()
    assert externality_shares(run).suffered.sum() == run.externality


def test_the_steps_of_a_hand_checked_run_are_shared_evenly() -> None:
    # 3 and 1 start together, 2 follows at 1 beside the rest of 3: every step has two requests
    run = simulate(Workload([0, 0, 0], [3, 1, 2]), make_policy("fcfs"), slots=2, record_batches=True)
    np.testing.assert_allclose(step_shares(run), [1.5, 0.5, 1.0])


def test_the_cheapest_budget_is_chosen() -> None:
    result = calibrated([5, 10, 20, 40, 80], Goal(COST))
    totals = {each.alpha: each.total for each in result.candidates}
    assert result.alpha == min(totals, key=totals.__getitem__)
    for each in result.candidates:
        run = simulate(stream(), ISJL(each.alpha), slots=8)
        assert (each.steps, each.externality) == (run.steps, run.externality)
        assert each.total == pytest.approx(COST.c * run.steps + COST.tau * run.externality)


def test_the_difference_is_that_of_the_totals() -> None:
    result = calibrated([5, 40], Goal(COST))
    chosen, other = sorted(result.candidates, key=lambda each: each.alpha != result.alpha)
    assert other.difference.value == pytest.approx((other.total - chosen.total) / 2000)


def test_intervals_hold_for_all_pairs_of_candidates() -> None:
    """The data choose with whom the others are compared: three candidates make three pairs, not two."""
    many = stream(n=20_000)
    goal, sure = (Goal(COST, smallest=True, confidence=each) for each in (0.95, 1 - 0.05 / 3))
    three = calibrate(many, [80, 120, 160], goal, slots=8, step_time=StepTime())
    two = calibrate(many, [80, 160], sure, slots=8, step_time=StepTime())
    assert (three.alpha, two.alpha) == (80, 80)
    found, alone = three.candidates[2].difference, two.candidates[1].difference
    assert alone.low is not None
    assert (found.low, found.high) == pytest.approx((alone.low, alone.high), rel=1e-12)


def test_limits_exclude_and_the_smallest_budget_within_them_is_taken() -> None:
    free = calibrated([5, 10, 20, 40, 80], Goal(COST))
    rates = {each.alpha: each.throughput for each in free.candidates}
    goal = Goal(COST, throughput=rates[20], smallest=True)
    limited = calibrated([5, 10, 20, 40, 80], goal)
    assert limited.alpha == min(alpha for alpha, rate in rates.items() if rate >= rates[20])
    excluded = [each.alpha for each in limited.candidates if each.missed]
    assert excluded == [alpha for alpha, rate in rates.items() if rate < rates[20]]


def test_impossible_limits_choose_nothing() -> None:
    result = calibrated([5, 10], Goal(COST, latency={95: 1.0}))
    assert result.alpha is None
    assert all(each.missed == ("p95 above 1",) for each in result.candidates)


def test_a_limit_on_a_quantile_that_the_requests_do_not_show_is_not_met() -> None:
    few = stream(n=412)
    result = calibrate(few, [10], Goal(COST, latency={99.9: 1e9}), slots=8, step_time=StepTime())
    assert result.alpha is None
    assert result.candidates[0].missed == ("p99.9 unknown, not enough data for p99.9 (n = 412)",)


def test_the_edge_of_the_grid_is_told() -> None:
    # nothing but steps costs, so the largest budget is the cheapest
    result = calibrated([2, 10, 60], Goal(CostModel(c=1.0, tau=1e-12)))
    assert result.alpha == 60
    assert any("edge of the grid" in text for text in result.warnings)


def test_candidates_that_do_the_same_cannot_be_told_apart() -> None:
    many = stream(n=6000)
    longest = int(many.length.max())
    goal = Goal(CostModel(c=1.0, tau=1e-12))
    result = calibrate(many, [10, longest + 1, longest + 2], goal, slots=8, step_time=StepTime())
    assert longest + 2 in result.rivals
    assert result.alpha == longest + 1
    apart = f"alpha = {longest + 1} cannot be told apart in cost from"
    assert [text for text in result.warnings if text.startswith(apart)] == [
        f"{apart} 10 at a confidence of 0.95 ({GROWING})",
        f"{apart} {longest + 2} at a confidence of 0.95",
    ]


def test_a_backlog_tells_no_candidates_apart() -> None:
    lengths = stream(n=6000).length
    goal = Goal(CostModel(c=1.0, tau=1e-12))
    backlog = Workload(np.zeros(6000), lengths)
    result = calibrate(backlog, [10, 60], goal, slots=8, step_time=StepTime())
    other = next(each for each in result.candidates if each.alpha != result.alpha)
    assert (other.difference.low, other.difference.note) == (None, ONE_BACKLOG)
    assert other.difference.value is not None
    assert result.rivals == (other.alpha,)


def test_passes_over_one_log_tell_no_candidates_apart() -> None:
    goal = Goal(COST)
    once, often = (
        calibrate(stream(), [80, 160], goal, slots=8, step_time=StepTime(), one_log=one_log)
        for one_log in (False, True)
    )
    assert often.alpha == once.alpha
    assert ONE_LOG not in {each.latency["p50"].note for each in once.candidates}
    assert {each.latency["p50"].note for each in often.candidates} == {ONE_LOG}
    assert {each.difference.note for each in often.candidates} == {ONE_LOG, "the budget chosen"}


def test_a_log_whose_span_is_known_is_judged_by_it() -> None:
    window = Workload(np.arange(500.0, 600.0), [20] * 100)  # 2,000 steps of work for 4 slots in 100 steps
    unknown, known = (
        calibrate(window, [10, 20], Goal(COST), slots=4, step_time=StepTime(), span=span)
        for span in (None, 4000.0)
    )
    notes = [each.candidates[0].latency["p50"].note for each in (unknown, known)]
    assert notes[0] == GROWING
    assert notes[1] != GROWING


def test_grids_follow_the_log() -> None:
    workload = stream()
    grid = grid_from_lengths(workload)
    assert grid == sorted(set(grid))
    assert set(grid) <= set(workload.length.tolist())
    scale = alpha_for_cost_share(workload, 1.0)
    assert round(scale) in grid_from_cost(workload)
    assert grid_from_cost(workload)[-1] == round(3 * scale)


def test_the_command_writes_its_files_and_warns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.csv"
    workload = stream(n=400)
    pd.DataFrame({"release": workload.release, "length": workload.length}).to_csv(log, index=False)
    words = ["calibrate", str(log), "--slots", "8", "--alpha", "5", "--alpha", "20", "--jobs", "1"]
    assert main([*words, "--out", str(tmp_path / "out")]) == 0
    assert "warning: alpha = " in capsys.readouterr().out
    out = tmp_path / "out"
    assert sorted(path.name for path in out.iterdir()) == [
        "candidates.csv",
        "frontier.png",
        "frontier.svg",
        "report.html",
    ]
    assert list(pd.read_csv(out / "candidates.csv").columns) == [
        "alpha",
        "throughput",
        "e2el_p50",
        "e2el_p95",
        "e2el_p99",
        "steps",
        "externality",
        "time_cost",
        "externality_cost",
        "total_cost",
        "difference",
        "difference_low",
        "difference_high",
        "missed",
        "chosen",
    ]
    assert main([*words, "--max-latency", "p95:1", "-q"]) == 1
    assert "no candidate meets the limits" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--grid", "guess"], "--grid='guess': must be one of lengths, cost"),
        (["--max-latency", "mean:3"], "must read p95:NUMBER"),
        (["--confidence", "1"], "confidence=1.0: must lie strictly between 0 and 1"),
        (["--token-cost", "0"], "tau=0.0: must be a positive number"),
    ],
)
def test_bad_options_are_one_line(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.csv"
    log.write_text("release,length\n0,3\n1,4\n", encoding="utf-8")
    assert main(["calibrate", str(log), *words]) == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert errors.count("\n") == 1


def test_the_azure_conversations_give_the_same_answer_twice(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = shared / "traces" / "azure2023" / "AzureLLMInferenceTrace_conv.csv"
    words = ["calibrate", str(log), "--time-unit", "0.03", "--slots", "256", "--json", "-q"]
    words += ["--alpha", "368", "--alpha", "1412"]
    answers = []
    for _ in range(2):
        assert main(words) == 0
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1]
    assert json.loads(answers[0])["alpha"] == 368


def test_the_arena_trace_gives_a_budget_its_frontier_and_its_confidence_twice(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = shared / "traces" / "vtc_arena" / "real_trace.csv"
    words = ["calibrate", str(log), "--time-unit", "0.03", "--grid", "cost", "--jobs", "1", "-q"]
    said = []
    for folder in (tmp_path / "first", tmp_path / "second"):
        assert main([*words, "--out", str(folder)]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    frontier = pd.read_csv(tmp_path / "first" / "candidates.csv")
    (chosen,) = frontier.loc[frontier["chosen"], "alpha"]
    assert frontier["total_cost"].min() == frontier.loc[frontier["alpha"] == chosen, "total_cost"].item()
    assert len(frontier) == 9
    apart = int((frontier["difference_low"] > 0).sum())
    told = (
        f"chosen: alpha = {chosen}, told apart in cost from {apart} of 8 other candidates within the limits"
    )
    assert f"{told} at a confidence of 0.95" in said[0]
    for name in ("candidates.csv", "frontier.svg"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()
