"""The flaws of printed ISJL: drawn, explained, minimal, and shown as the documentation shows them."""

from __future__ import annotations

import re
from itertools import combinations_with_replacement
from pathlib import Path

import pytest
from refusal import refusal

from analysis.printed_isjl import explain
from analysis.violation import audit_text
from policies import make_policy, parse_policy
from serving_sim import Run, Workload, simulate
from workloads import get_preset

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "why-the-guard.md"
FLAWS = ("printed-flaw-1", "printed-flaw-2", "printed-flaw-3")


def printed(length: list[int], alpha: int, release: list[float] | None = None, slots: int = 3) -> Run:
    workload = Workload([0.0] * len(length) if release is None else release, length)
    policy = make_policy("isjl-as-printed", alpha=alpha)
    return simulate(workload, policy, slots=slots, alpha=alpha, record_batches=True)


def kind(run: Run) -> int | None:
    """Which flaw the first violation shows, as its explanation says it."""
    text = explain(run)
    if text is None:
        return None
    joined = text.replace("\n", " ")
    signs = {1: " is the long of slot ", 2: " is the longest. ", 3: " is packed on slot "}
    return next(number for number, sign in signs.items() if sign in joined)


@pytest.mark.parametrize(("name", "number"), [(name, int(name[-1])) for name in FLAWS])
def test_each_preset_shows_its_flaw_and_the_guard_mends_it(name: str, number: int) -> None:
    preset = get_preset(name)
    workload = preset.workload(0)
    run = printed(workload.length.tolist(), preset.alpha, slots=preset.slots)
    assert kind(run) == number
    assert run.audit.violations == 1
    guarded = simulate(workload, make_policy("isjl", alpha=preset.alpha), slots=preset.slots)
    assert guarded.max_gap <= preset.alpha


def test_fewer_requests_do_not_show_them() -> None:
    shown: dict[int, set[int | None]] = {count: set() for count in range(1, 6)}
    for count, kinds in shown.items():
        for length in combinations_with_replacement(range(7, 0, -1), count):
            for alpha in (1, 2):
                run = printed(list(length), alpha)
                if not run.audit.fair:
                    kinds.add(kind(run))
    assert shown[1] == shown[2] == shown[3] == set()
    assert shown[4] == {1}
    assert 2 not in shown[5]


def test_the_page_counts_what_the_guard_costs() -> None:
    rows = re.findall(r"^\| (printed-flaw-\d) \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for name, _ in rows] == list(FLAWS)
    for name, cells in rows:
        preset = get_preset(name)
        runs = [
            simulate(preset.workload(0), make_policy(policy, alpha=preset.alpha), slots=preset.slots)
            for policy in ("isjl-as-printed", "isjl")
        ]
        found = " | ".join([*(f"{run.steps}, {run.max_gap}" for run in runs), str(preset.alpha)])
        assert found == cells


def test_several_requests_can_enter_at_once_and_long_bars_are_scaled() -> None:
    workload = Workload([0, 0, 3, 3], [100, 1, 60, 50], request_id=["ab", "c", "", "e"])
    run = simulate(workload, parse_policy("fcfs"), slots=12, alpha=2, record_batches=True)
    assert audit_text(run).splitlines() == [
        "fcfs breaks alpha = 2 in 2 of 4 admissions and 60 of 100 steps",
        "",
        "first at step 3, time 3",
        "  slot 0  request ab  #.................................  3 of 100",
        "> slot 1  request ''  ....................                enters",
        "> slot 2  request e   .................                   enters",
        "               alpha  -                                   2",
        "                 gap  -                                   3",
        "a mark is 3 tokens, begun ones count",
    ]


def test_the_picture_counts_steps_where_time_does_not() -> None:
    workload = Workload([10.5, 10.5, 13.25], [4, 1, 2])
    run = simulate(workload, parse_policy("fcfs"), slots=2, alpha=0, slotted=False, record_batches=True)
    assert "first at step 3, time 13.5\n  slot 0  request 0  ###.  3 of 4\n" in audit_text(run)


def test_other_policies_and_later_plans_are_not_explained() -> None:
    assert explain(simulate(Workload([0, 0], [9, 1]), parse_policy("fcfs"), slots=1, alpha=1)) is None
    late = printed([9, 9, 3, 3, 2, 2], 1, release=[0.0, 0.0, 20.0, 20.0, 20.0, 20.0])
    assert late.audit.first is not None
    assert explain(late) is None


def test_refusals() -> None:
    workload = Workload([0, 0, 0], [5, 2, 1])
    without_budget = simulate(workload, parse_policy("fcfs"), slots=2)
    assert refusal(lambda: audit_text(without_budget)) == "audit: needs a fairness budget alpha"
    without_record = simulate(workload, parse_policy("fcfs"), slots=2, alpha=1)
    assert refusal(lambda: audit_text(without_record)) == (
        "audit: needs a run that kept its requests and recorded its batches"
    )
