"""Verdicts on the claims of the paper: each claim is run once, and held against what is known of it."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from analysis.experiments.claims import (
    QUICK,
    Claim,
    Counterexample,
    Finding,
    Kind,
    all_claims,
    examine,
    find_claims,
)
from analysis.experiments.claims.page import finding_entry, findings_page
from analysis.optimum import Solver, check_schedule, optimum

pytest.importorskip("ortools")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "claims.md"

BROKEN_BY_A_SHORTER_SCHEDULE = {
    "Theorem 3.9",
    "Remark 3.17",
    "Remark 3.18",
    "Theorem 3.19",
    "Theorem 3.19 (B = 3)",
    "Theorem 3.19 (B = 4)",
    "Theorem 3.22",
    "Theorem 3.22 (every prediction wrong)",
    "Corollary 3.24",
    "Theorem 4.3",
    "Theorem 4.3 (limit)",
    "Theorem 5.2 (ISJL)",
}
BROKEN_BY_AN_UNFAIR_SCHEDULE = {
    "Algorithm 3 (fairness, as printed)",
    "Theorem 3.21 (as printed)",
    "Proposition 3.26 (as printed)",
}
HOLDING = {
    "Theorem 3.3",
    "Lemma 3.12",
    "Lemma 3.14",
    "Proposition 3.16",
    "Algorithm 3 (fairness, guarded)",
    "Theorem 3.21",
    "Proposition 3.26",
    "Proposition 3.27",
    "Lemma 4.1",
    "Lemma 4.2",
    "Theorem 5.2",
    "Corollary 5.5",
    "Proposition 5.6",
}
EXACT = {
    "Proposition 3.1",
    "Lemma 3.5",
    "Theorem 3.3 (tight)",
    "Remark 3.25",
    "Section 4.1 (jigsaw)",
    "Theorem 5.1",
    "Proposition 5.3",
    "Proposition 5.4",
    "Section 7 (pooling)",
}
KNOWN = {
    **dict.fromkeys(BROKEN_BY_A_SHORTER_SCHEDULE | BROKEN_BY_AN_UNFAIR_SCHEDULE, Kind.FAILS),
    **dict.fromkeys(HOLDING, Kind.HOLDS),
    **dict.fromkeys(EXACT, Kind.EXACT),
    "Theorem 3.22 (step 1)": Kind.FAILS,
    "Theorem 3.22 (step 3)": Kind.FAILS,
    "Table 1 (FCFS, LJF)": Kind.REPRODUCED,
    "Table 2 (savings)": Kind.FAILS,
    "Table 3 (percentages)": Kind.FAILS,
    "Proposition 2.1": Kind.NOT_TESTABLE,
    "Table 3 (values)": Kind.NOT_TESTABLE,
}


@pytest.mark.parametrize("claim", all_claims(), ids=lambda claim: claim.name)
def test_a_claim_run_anew_gets_the_verdict_and_the_entry_of_the_page(claim: Claim) -> None:
    finding = run(claim.name)
    verdict = finding.verdict
    assert verdict.kind is KNOWN.get(claim.name, verdict.kind), verdict.evidence
    if claim.name in BROKEN_BY_A_SHORTER_SCHEDULE:
        assert verdict.margin is not None
        assert verdict.margin < 0
        assert verdict.counterexample is not None
        confirm_shorter(verdict.counterexample)
    elif claim.name in BROKEN_BY_AN_UNFAIR_SCHEDULE:
        assert verdict.counterexample is not None
        confirm_unfair(verdict.counterexample)
    elif verdict.kind is Kind.EXACT:
        assert verdict.margin in (None, 0)
    elif verdict.kind is Kind.HOLDS and verdict.margin is not None:
        assert verdict.margin >= 0
    entry = finding_entry(finding, pictures="../assets/claims")
    assert entry in PAGE.read_text(encoding="utf-8"), (
        "out of date; run: serving-sim claims --markdown docs/explanation/claims.md"
    )


def run(name: str, seed: int = 0) -> Finding:
    (claim,) = [claim for claim in find_claims([name]) if claim.name == name]
    (finding,) = examine([claim], seed=seed, budget=QUICK, workers=1)
    return finding


def confirm_shorter(example: Counterexample) -> None:
    """Both solvers and a check without engine or solver agree on the two schedules."""
    instance, best = example.instance, example.best
    assert best is not None
    problem = (instance.lengths, instance.slots, instance.alpha)
    assert check_schedule(example.played.start, *problem) == example.played.makespan
    assert check_schedule(best.start, *problem) == best.makespan < example.played.makespan
    solvers: tuple[Solver, ...] = ("cp-sat", "milp")
    for solver in solvers:
        found = optimum(*problem, solver=solver, time_limit=60)
        assert (found.lower, found.upper) == (best.makespan, best.makespan), solver


def confirm_unfair(example: Counterexample) -> None:
    """The schedule keeps every rule but constraint (1)."""
    instance = example.instance
    assert instance.slots >= 3
    check_schedule(example.played.start, instance.lengths, instance.slots, None, instance.releases)
    with pytest.raises(ValueError, match=f"> alpha={instance.alpha} steps apart"):
        check_schedule(
            example.played.start, instance.lengths, instance.slots, instance.alpha, instance.releases
        )


@pytest.mark.parametrize("seed", [1, 2])
def test_three_quarters_is_broken_far_below_whatever_the_seed(seed: int) -> None:
    for name, most in (("Theorem 3.19 (B = 3)", -0.05), ("Theorem 3.19 (B = 4)", -0.1)):
        margin = run(name, seed).verdict.margin
        assert margin is not None
        assert margin < most


def test_predictions_can_need_more_than_optimum_and_packable_error() -> None:
    """Lengths 2, 1, 1 predicted as 2, 2, 2 on two slots: 2 steps, an error of 1, but 4 are needed."""
    assert [optimum(lengths, 2, 1).upper for lengths in ((2, 1, 1), (2, 2, 2))] == [2, 4]


def test_the_page_has_every_claim_once_in_the_order_of_the_paper() -> None:
    page = PAGE.read_text(encoding="utf-8")
    names = [claim.name for claim in all_claims()]
    assert re.findall(r"^\| \[(.+?)\]\(#", page, flags=re.MULTILINE) == names
    assert re.findall(r"^### <a .*?</a>(.+)$", page, flags=re.MULTILINE) == names


def test_the_page_counts_its_verdicts() -> None:
    page = PAGE.read_text(encoding="utf-8")
    counted = Counter(re.findall(r"^- Verdict: \*\*(.+?)\*\*", page, flags=re.MULTILINE))
    stated = ", ".join(f"{counted[kind]} {kind}" for kind in Kind if counted[kind])
    assert f"\n{len(all_claims())} claims: {stated}.\n" in page


def test_a_page_of_some_claims_has_their_sections_alone() -> None:
    findings = [run("Table 3 (percentages)"), run("Lemma 4.2 (proof)")]
    page = findings_page(findings, seed=7, pictures="pictures")
    assert re.findall(r"^## (.+)$", page, flags=re.MULTILINE) == [
        "4 The guarantee as a function of alpha",
        "5.2 and 6 Tables",
    ]
    assert "with seed 7" in page


def test_the_page_links_the_pictures_that_exist() -> None:
    links = re.findall(r"!\[[^]]+\]\((.+?)\)", PAGE.read_text(encoding="utf-8"))
    linked = {(PAGE.parent / link).resolve() for link in links}
    drawn = {path.resolve() for path in (PAGE.parent.parent / "assets" / "claims").glob("*.svg")}
    assert linked == drawn
    assert len(links) >= len(BROKEN_BY_A_SHORTER_SCHEDULE | BROKEN_BY_AN_UNFAIR_SCHEDULE)
