"""The oracle itself against schedules worked out by hand and schedules computed elsewhere."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from known_schedules import KNOWN, Known, stored_schedules
from oracle import Case, Violation, play


def check(known: Known) -> None:
    outcome = play(known.case)
    known.check(
        start=outcome.dates(outcome.start),
        finish=outcome.dates(outcome.finish),
        slot=outcome.slots,
        steps=outcome.steps,
        max_gap=max(outcome.gaps),
        externality=outcome.externality,
    )


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.title)
def test_schedules_worked_out_by_hand(known: Known) -> None:
    check(known)


def test_stored_schedules(shared: Path) -> None:
    stored = stored_schedules(shared)
    assert len(stored) == 60
    for known in stored:
        check(known)


def test_totals_of_a_case_small_enough_to_write_down() -> None:
    # r by step: 1 | 2, 1 | 3, 2 | 3 (the first has three tokens and starts a step before the second)
    case = Case("fcfs", 2, (0.0, 1.0), (3, 3), alpha=0, first_token_step=(2, 3))
    outcome = play(case)
    assert outcome.history == [[1], [2, 1], [3, 2], [3]]
    assert outcome.intrinsic == 6 + 6
    assert outcome.externality == 0 + 1 + 1 + 0
    assert outcome.gaps == [0, 1, 1, 0]
    assert outcome.violation_steps(0) == 2
    assert outcome.cost(per_step=5, per_token=7) == 4 * 5 + 7 * (1 + 2 * 2 + 2 * 3 + 3)
    assert outcome.first_token == {0: 2, 1: 4}
    assert outcome.makespan == outcome.busy_time == 4
    assert outcome.violations == 1
    assert outcome.first_violation == Violation(Fraction(1), step=1, request=1, slot=1, gap=1)


@pytest.mark.parametrize(
    ("release", "close"),
    [(1.0, False), (1.0 + 1e-12, True), (1.25, False)],
    ids=["exactly at a boundary", "next to it", "far from it"],
)
def test_notes_a_release_too_close_to_a_boundary_for_floats(release: float, *, close: bool) -> None:
    assert play(Case("fcfs", 1, (0.0, release), (2, 1))).close is close
