"""The section of the report that holds policies against alpha."""

from __future__ import annotations

from analysis.outcome import Outcome, evaluate
from analysis.plots.extent import undominated
from analysis.report import fairness_section
from analysis.time_unit import TimeUnit
from policies import parse_policy
from serving_sim import Workload, simulate


def outcome(policy: str, alpha: int | None = 2) -> Outcome:
    # under fcfs the third request joins the first at step 3 and stays 3 tokens behind it for 4 steps
    workload = Workload(release=[0, 0, 0.5, 20], length=[9, 3, 4, 2])
    run = simulate(workload, parse_policy(policy), slots=2, alpha=alpha, record_batches=True)
    return evaluate([run])


def test_what_was_found_and_the_audit_by_hand() -> None:
    section = fairness_section([outcome("fcfs"), outcome("isjl:alpha=2")], TimeUnit("step"))
    assert section.found == [
        "fcfs breaks alpha in 4 busy steps, 36 % of all.",
        "isjl:alpha=2 keeps alpha throughout.",
    ]
    (table,) = section.tables
    assert table.rows[0] == ("fcfs", "2", "3", "1", "4", "3")
    assert table.rows[1][1:] == ("2", table.rows[1][2], "0", "0", "-")
    assert [picture.name for picture in section.pictures] == ["gap-over-time", "gap-against-throughput"]


def test_one_step_beyond_alpha_among_very_many_is_not_none() -> None:
    # the second request joins when the first has 11 tokens and one to go
    workload = Workload(release=[0, 11, 40], length=[12, 12, 40_000])
    run = simulate(workload, parse_policy("fcfs"), slots=2, alpha=10, record_batches=True)
    assert run.steps == 40_023
    section = fairness_section([evaluate([run])], TimeUnit("step"))
    assert section.found == ["fcfs breaks alpha in 1 busy step, 0.0025 % of all."]


def test_without_a_budget_nothing_is_judged() -> None:
    section = fairness_section([outcome("fcfs", alpha=None)], TimeUnit("step"))
    assert section.found == ["No alpha was given, so nothing was held against one."]
    assert section.tables[0].rows == [("fcfs", "-", "3", "-", "-", "-")]


def test_the_frontier_leaves_out_who_is_beaten_in_both() -> None:
    points = [(5.0, 3.0), (0.0, 1.0), (4.0, 3.0), (2.0, 1.0), (0.0, 0.5), (3.0, 2.0)]
    assert undominated(points) == [(0.0, 1.0), (3.0, 2.0), (4.0, 3.0)]
