"""The nested frontier, pooling and reactive demand, in small."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.experiments.reproduce import demand, guarantees, nested_frontier, pooling, pricing, who_pays
from analysis.experiments.reproduce.experiment import Settings

SMALL = Settings(sets=2, replications=2, requests=80)


def test_the_optimum_never_rises_with_alpha() -> None:
    rows = nested_frontier.solve_small(
        seed=0, place=0, requests=6, longest=12, slots=2, alphas=[0, 1, 3, 6, 12]
    )
    assert all(row["lower"] == row["upper"] for row in rows)
    best = [row["upper"] for row in rows]
    assert best == sorted(best, reverse=True)
    assert best[0] > best[-1]


def test_the_large_bracket_is_nested_and_tight_without_freedom() -> None:
    rows = nested_frontier.bracket_large(seed=0, alphas=[0, 100, 1000])
    assert all(row["lower"] <= row["upper"] for row in rows)
    for end in ("lower", "upper"):
        values = [row[end] for row in rows]
        assert values == sorted(values, reverse=True)
    assert rows[0]["lower"] == rows[0]["upper"]  # at alpha 0 nothing beats LJF


def test_long_requests_cause_what_shorter_ones_suffer() -> None:
    results = {task.name: task.work(**task.arguments) for task in who_pays.tasks(SMALL)}
    frame = who_pays.item(results).frames["who-pays"]
    assert list(frame.columns) == [
        "quantity",
        "unit",
        "policy",
        "shortest",
        "longest",
        "measured",
        "low",
        "high",
    ]
    shares = frame[frame["quantity"] != "transfer"].groupby(["quantity", "policy"])["measured"].sum()
    np.testing.assert_allclose(shares, 100)
    fcfs = frame[frame["policy"] == "fcfs"].set_index(["quantity", "longest"])["measured"]
    assert fcfs["caused", 1000] > 50 > fcfs["suffered", 1000]
    assert fcfs["transfer", 1000] > 0 > fcfs["transfer", 500]


def test_every_promise_of_the_budget_is_kept() -> None:
    results = {task.name: task.work(**task.arguments) for task in pricing.tasks(SMALL)}
    item = guarantees.item(results)
    assert item.section.found[0] == "Of 140 promised leads, one a run and rival, 140 were kept."
    money = item.frames["guarantees"].pivot_table(index="alpha", columns="quantity", values="measured")
    assert (money["loss_by_run"] <= money["loss_by_theorem"]).all()
    assert (-money["over_ljf"] <= money["loss_by_run"] + 1e-9).all()  # LJF is one of the fair schedules


def test_unmatched_requests_by_hand() -> None:
    # intervals 1-10, 11-20, 21-30 hold 3, 2 and 1 requests: in pairs 1 + 0 + 1 are left over
    assert pooling.unmatched(np.array([1, 10, 5, 11, 20, 21]), slots=2, alpha=10) == 2


def test_the_pooling_bound_holds_in_every_pool() -> None:
    rows = pd.DataFrame(
        pooling.match(
            seed=0,
            lengths="uniform:low=1,high=95",
            longest=95,
            pools=[8, 64, 512],
            slots=4,
            alpha=10,
            replications=5,
        )
    )
    assert (rows["unmatched"] <= rows["bound"]).all()
    assert rows.groupby("pool")["unmatched"].mean().is_monotonic_decreasing


def test_demand_falls_with_load_and_is_reported_by_policy() -> None:
    results = {task.name: task.work(**task.arguments) for task in demand.tasks(SMALL)}
    frame = demand.item(results).frames["demand"]
    assert list(frame.columns) == ["policy", "load", "metric", "unit", "measured", "low", "high"]
    accepted = frame[frame["metric"] == "accepted"]
    assert accepted["measured"].between(0, 1).all()
    assert len(frame) == 6 * 5 * 3
