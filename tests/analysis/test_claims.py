"""What the checks of claims are made of: accounts, cases, hunts, schedules, pictures, the command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from html import escape
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.patches import Rectangle

from analysis.cli import main
from analysis.experiments.claims import QUICK, Finding, Kind, all_claims, examine, find_claims, runner
from analysis.experiments.claims.accounts import Accounts, accounts, accounts_of
from analysis.experiments.claims.cases import Case, Row, Space
from analysis.experiments.claims.economics import random_schedule
from analysis.experiments.claims.hunt import hunt, shrink
from analysis.experiments.claims.isjl_two_slots import stage_share, whole_share
from analysis.experiments.claims.pictures import counterexample_pictures
from analysis.experiments.claims.profit_study import profit_study
from analysis.experiments.claims.promises import Difference, Fairness, Share
from analysis.experiments.claims.report import claims_page
from analysis.experiments.claims.schedules import least_makespan, serve, shortest, slots_of
from analysis.optimum import check_schedule
from analysis.plots.gantt import Bars, gantt
from policies import FCFS, ISJL, LJF, LPT, SJF, Fair
from policies.replay import Replay
from workloads.adversaries import Instance, static_waste

SMALL = Space(slots=(2, 3), most=5, longest=9)
ANY = Space(slots=(2, 3, 4), most=12, longest=30, released=True)


# --- costs, step by step ---------------------------------------------------------------------------


def test_accounts_of_a_schedule_added_up_by_hand() -> None:
    # steps of (r of request 0, r of request 1): (1), (2, 1), (3, 2), then idle, then request 2 alone
    found = accounts(np.array([0, 1, 4]), np.array([3, 2, 1]))
    assert found == Accounts(tokens=6, intrinsic=10, steps=4, externality=2, peak=1 + 4 + 6 + 1, max_gap=1)
    assert found.cost(per_step=100, per_token=1) == 412
    assert found.profit(price=1000, per_step=100, per_token=1) == 6000 - 412


@given(seed=st.integers(0, 2**32))
def test_profit_is_revenue_less_intrinsic_time_and_externality(seed: int) -> None:
    """Theorem 5.1 without rounding, over schedules of policies and schedules at random."""
    rng = np.random.default_rng(seed)
    case = ANY.draw(rng)
    alpha = case.instance.alpha
    policies = [FCFS(), SJF(), LPT(), LJF(), ISJL(alpha), Fair(FCFS(), alpha)]
    policies.append(Replay(random_schedule(rng, case.instance)))
    price, per_step, per_token = (int(value) for value in rng.integers(0, 10**6, 3))
    for policy in policies:
        run = serve(case, policy)
        found = accounts_of(run)
        assert (found.tokens, found.intrinsic, found.steps, found.externality, found.max_gap) == (
            run.totals.tokens,
            run.intrinsic,
            run.steps,
            run.externality,
            run.max_gap,
        )
        cost = per_token * (run.intrinsic + run.externality) + per_step * run.steps
        assert found.profit(price, per_step, per_token) == price * run.totals.tokens - cost
        assert not run.audit.fair or run.externality <= alpha * run.totals.tokens


def test_random_schedules_break_the_constraint_and_keep_capacity() -> None:
    rng = np.random.default_rng(0)
    gaps = []
    for _ in range(50):
        case = ANY.draw(rng)
        instance = case.instance
        start = random_schedule(rng, instance)
        check_schedule(start, instance.lengths, instance.slots, None, instance.releases)
        gaps.append(serve(case, Replay(start)).max_gap - instance.alpha)
    assert min(gaps) < 0 < max(gaps)


# --- cases -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "space",
    [
        SMALL,
        replace(SMALL, released=True),
        replace(SMALL, slack=1),
        replace(SMALL, gamma=None),
        replace(SMALL, gamma=(0.4, 0.5), released=True, slack=0),
    ],
)
def test_cases_their_neighbours_and_reductions_stay_in_the_space(space: Space) -> None:
    rng = np.random.default_rng(1)
    case = space.draw(rng)
    for _ in range(300):
        case = space.vary(rng, case)
        for each in (case, *space.smaller(case)):
            instance = each.instance
            longest = max(instance.lengths)
            assert instance.slots in space.slots
            assert instance.slots < len(instance) <= space.most
            assert min(instance.lengths) >= 1
            assert instance.alpha == longest if space.gamma is None else 0 <= instance.alpha < longest
            assert (instance.releases is not None) == space.released
            assert list(instance.releases or ()) == sorted(instance.releases or ())
            assert (each.upper is None) == (space.slack is None)
            assert space.slack is None or min(row.slack for row in each.rows) >= space.slack


def test_rows_put_a_case_into_words() -> None:
    case = Case(Instance((5, 3), slots=1, alpha=2, releases=(0, 4)), upper=(6, 3))
    assert case.rows == [Row(5, 0, 1), Row(3, 4, 0)]
    assert case.predicted.lengths == (6, 3)


# --- hunts -----------------------------------------------------------------------------------------


def test_a_hunt_finds_the_smallest_margin_among_its_draws() -> None:
    """Skipping what the lower bound already clears must not hide the minimum."""
    promise = Share(SMALL, lambda case: ISJL(case.instance.alpha), lambda _: Fraction(1, 10))
    trophy = hunt(promise, np.random.default_rng(2), QUICK, restarts=1, draws=60, climbs=0)
    rng = np.random.default_rng(2)
    assert trophy.margin == min(promise.margin(SMALL.draw(rng)) for _ in range(60))
    assert trophy.margin == promise.margin(trophy.worst)
    assert trophy.smallest is None


def test_a_hunt_stops_at_the_first_break_and_a_larger_budget_goes_on() -> None:
    promise = Difference(SMALL, lambda _: -1.0)
    counts = [
        hunt(promise, np.random.default_rng(0), replace(QUICK, effort=effort), draws=5, climbs=5).instances
        for effort in (1, 3)
    ]
    assert counts == [10, 30]


def test_a_broken_promise_is_shrunk_until_no_reduction_breaks_it() -> None:
    promise = Difference(SMALL, lambda case: 7.0 - sum(case.instance.lengths))
    smallest = shrink(promise, Case(Instance((9, 9, 8, 5, 2), slots=3, alpha=6)))
    assert promise.margin(smallest) == -1  # eight tokens is the least that breaks it
    assert (smallest.instance.slots, len(smallest.instance)) == (2, 3)
    assert all(promise.margin(other) >= 0 for other in SMALL.smaller(smallest) if other != smallest)


def test_fairness_is_measured_in_tokens_beyond_the_budget() -> None:
    case = Case(Instance((9, 3, 3), slots=2, alpha=1))  # fcfs: the third joins beside three tokens
    assert Fairness(SMALL, lambda _: FCFS()).margin(case) == 1 - 3


def test_share_of_static_batching_is_exact() -> None:
    promise = Share(SMALL, lambda _: LJF(), lambda _: Fraction(1, 2), relief=lambda _: 1)
    case = Case(static_waste(3))  # five steps, three are enough
    assert promise.reached(case) == Fraction(3 + 1, 5)
    assert promise.margin(case) == Fraction(4, 5) - Fraction(1, 2)
    assert promise.margin_at_least(case) <= promise.margin(case)


def test_bound_of_the_stage_is_the_smaller_of_the_two() -> None:
    assert stage_share(Fraction(0)) == Fraction(2, 3)
    assert stage_share(Fraction(1)) == Fraction(3, 4)
    assert stage_share(Fraction(2)) == Fraction(2, 3)


# --- schedules -------------------------------------------------------------------------------------


def test_slots_for_starts_are_the_lowest_free() -> None:
    assert slots_of((0, 0, 2, 3, 3), (3, 2, 4, 1, 1)) == (0, 1, 1, 0, 2)


def test_the_schedule_shown_is_the_first_of_all_shortest() -> None:
    instance = Instance((3, 2, 2), slots=2, alpha=1)
    found = shortest(instance)
    candidates = []
    for start in np.ndindex(5, 5, 5):
        try:
            if check_schedule(start, instance.lengths, 2, 1) == found.makespan:
                candidates.append(start)
        except ValueError:
            continue
    assert found.start == min(candidates)
    assert found.makespan == least_makespan(instance).upper


@pytest.mark.parametrize("released", [False, True])
def test_schedules_shown_are_feasible_and_shortest(*, released: bool) -> None:
    rng = np.random.default_rng(3)
    for _ in range(15):
        instance = replace(SMALL, released=released).draw(rng).instance
        found = shortest(instance)
        made = check_schedule(
            found.start, instance.lengths, instance.slots, instance.alpha, instance.releases
        )
        assert made == found.makespan == least_makespan(instance).upper
        assert max(found.slot) < instance.slots


# --- pictures --------------------------------------------------------------------------------------


def test_spans_above_the_budget_are_merged() -> None:
    bars = Bars("", start=(0, 2, 5, 9), slot=(0, 1, 1, 0), length=(7, 3, 3, 1))
    assert bars.end == 10
    assert bars.unfair_spans(alpha=1) == [(2, 7)]  # gaps 2 until 5, then 5 until request 0 leaves at 7
    assert bars.unfair_spans(alpha=2) == [(5, 7)]
    assert bars.unfair_spans(alpha=5) == []


def test_a_gantt_chart_has_a_bar_with_its_length_for_every_request() -> None:
    bars = [Bars("played", (0, 0, 2), (0, 1, 1), (9, 2, 4)), Bars("optimum", (0, 0, 2), (0, 1, 1), (9, 2, 4))]
    figure = gantt(bars, slots=2, alpha=4)
    for axes in figure.axes:
        bars_drawn = [bar for bar in axes.patches if isinstance(bar, Rectangle)]
        places = {
            (bar.get_x(), bar.get_width(), round(bar.get_y() + bar.get_height() / 2)) for bar in bars_drawn
        }
        assert places == {(0, 9, 0), (0, 2, 1), (2, 4, 1)}
        assert [text.get_text() for text in axes.texts] == ["9", "2", "4"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["longer than alpha = 4", "at most alpha = 4"]


def test_a_gantt_chart_shades_what_breaks_the_constraint() -> None:
    figure = gantt([Bars("played", (0, 0, 2), (0, 1, 1), (9, 2, 4))], slots=2, alpha=1)
    assert "constraint (1) is broken" in figure.legends[0].get_texts()[-1].get_text()


# --- the profit experiment -------------------------------------------------------------------------


def test_savings_that_are_possible_exceed_those_of_every_fair_policy() -> None:
    study = profit_study(np.random.default_rng(1), 1, ["ljf", "fair-lpt:alpha=300"])
    saved = (study.column("ljf", "c_t") - study.column("fair-lpt:alpha=300", "c_t")) / 0.0005
    assert (saved <= study.largest_saving(300) + 1e-6).all()
    assert study.score("ljf", "tau_e", 0.0) == 0.0
    assert study.score("ljf", "tau_e", 1.0) == np.inf


# --- running claims --------------------------------------------------------------------------------


def test_names_are_unique_and_a_number_stands_for_all_its_claims() -> None:
    names = [claim.name for claim in all_claims()]
    assert len(names) == len(set(names))
    assert [claim.name for claim in find_claims(["theorem 4.3"])] == [
        "Theorem 4.3 (formula)",
        "Theorem 4.3",
        "Theorem 4.3 (limit)",
    ]
    assert [claim.name for claim in find_claims(["Remark 3.7", "Remark 3.7"])] == ["Remark 3.7"]


def test_a_verdict_depends_on_the_seed_and_the_name_alone() -> None:
    alone = list(examine(find_claims(["Example 2.5"]), seed=5, budget=QUICK, workers=1))
    both = examine(find_claims(["Example 2.4", "Example 2.5"]), seed=5, budget=QUICK, workers=2)
    among = {finding.claim.name: finding.verdict for finding in both}  # as each is there
    other = list(examine(find_claims(["Example 2.5"]), seed=6, budget=QUICK, workers=1))
    assert among["Example 2.5"] == alone[0].verdict != other[0].verdict


def test_without_the_solver_a_claim_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "find_spec", lambda _: None)
    findings = list(examine(find_claims(["Theorem 3.3"]), seed=0, budget=QUICK, workers=1))
    kinds = {finding.claim.name: finding.verdict.kind for finding in findings}
    assert kinds == {
        "Theorem 3.3 (makespan)": Kind.EXACT,
        "Theorem 3.3": Kind.NOT_TESTABLE,
        "Theorem 3.3 (tight)": Kind.NOT_TESTABLE,
    }
    assert findings[1].verdict.why == "needs OR-tools: pip install 'serving-sim[optimum]'"


def test_a_broken_claim_is_no_error_of_the_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("ortools")
    words = ["claims", "--only", "Theorem 4.3 (limit)", "--json", "--quiet", "--out", str(tmp_path / "found")]
    assert main(words) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((tmp_path / "found" / "claims.json").read_text(encoding="utf-8"))
    assert printed["counts"] == {"fails": 1}
    (claim,) = printed["claims"]
    assert claim["counterexample"]["played"]["makespan"] > claim["counterexample"]["best"]["makespan"]
    assert {path.name for path in (tmp_path / "found").iterdir()} == {
        "claims.json",
        "report.html",
        "theorem-4-3-limit.png",
        "theorem-4-3-limit.svg",
    }


def test_the_page_says_what_was_claimed_and_what_came_of_it() -> None:
    pytest.importorskip("ortools")
    findings = list(examine(find_claims(["Example 2.4", "Theorem 4.3 (limit)"]), seed=0, budget=QUICK))
    pictures = counterexample_pictures(findings)
    page = claims_page(findings, pictures, facts={"Seed": "0"})
    assert list(pictures) == ["Theorem 4.3 (limit)"]
    for finding in findings:
        assert escape(finding.claim.states) in page
        assert f"{finding.claim.name} {finding.verdict.kind}" in page
    assert page.count("<img ") == 1
    assert "2 claims: " in page


def test_the_command_prints_a_row_a_claim(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", "--only", "Table 3 (percentages)", "--only", "Proposition 2.1"]) == 0
    captured = capsys.readouterr()
    assert captured.err == "2 claims, seed 0, quick\n"
    rows = captured.out.splitlines()[2:4]
    assert [row.split("  ")[0] for row in rows] == ["Table 3 (percentages)", "Proposition 2.1"]
    assert "fails" in rows[0]
    assert "not testable" in rows[1]


def test_an_unknown_claim_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", "--only", "Theorem 3.91"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("serving-sim: error: claim='Theorem 3.91': is unknown; did you mean 'Theorem 3.")
    assert error.count("\n") == 1


def test_an_interruption_keeps_what_was_found(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    claims = find_claims(["Example 2.4", "Example 2.5"])
    first, second = sorted(
        examine(claims, seed=0, budget=QUICK, workers=1), key=lambda finding: finding.claim.name
    )

    def interrupted(*_: object, **__: object) -> Iterator[Finding]:
        yield second  # the order in which they are done is not that of the paper
        yield first
        raise KeyboardInterrupt

    def nothing_found(*_: object, **__: object) -> Iterator[Finding]:
        yield from ()
        raise KeyboardInterrupt

    def verdicts() -> list[str]:
        content = json.loads((tmp_path / "claims.json").read_text(encoding="utf-8"))
        return [claim["name"] for claim in content["claims"]]

    words = ["claims", "--quiet", "--out", str(tmp_path)]
    monkeypatch.setattr("analysis.experiments.claims.examine", interrupted)
    assert main(words) == 130
    assert verdicts() == ["Example 2.4", "Example 2.5"]
    assert "Example 2.4" in capsys.readouterr().out
    monkeypatch.setattr("analysis.experiments.claims.examine", nothing_found)
    assert main(words) == 130
    assert verdicts() == ["Example 2.4", "Example 2.5"]  # an earlier file is not emptied


@pytest.mark.parametrize(
    ("lengths", "alpha", "promised", "reached"),
    [
        ((9, 7, 6, 4), 4, Fraction(16, 21), Fraction(13, 17)),  # above what beta = 3 promises
        ((18, 14, 12, 8), 9, Fraction(36, 47), Fraction(13, 17)),  # below what beta = 7 promises
        ((42, 37, 25, 18, 2), 20, Fraction(16, 21), Fraction(31, 41)),
        ((35, 32, 19, 11, 5), 17, Fraction(68, 89), Fraction(51, 67)),
    ],
)
def test_two_slots_promise_what_the_whole_beta_does(
    lengths: tuple[int, ...], alpha: int, promised: Fraction, reached: Fraction
) -> None:
    case = Case(Instance(lengths, 2, alpha))
    optimal = 0.7807764064  # (sqrt(17) - 1) / 4
    promise = Share(SMALL, lambda case: ISJL(case.instance.alpha, beta="optimal"), lambda _: promised)
    assert whole_share(optimal, case) == promised
    assert promise.reached(case) == reached
