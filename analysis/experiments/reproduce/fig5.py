"""Figure 5: what each policy costs, and the frontier of profit and throughput."""

from __future__ import annotations

import pandas as pd

from analysis.experiments.paper import TABLE1
from analysis.experiments.reproduce.experiment import Experiment, Item, Results
from analysis.experiments.reproduce.noise import over_sets
from analysis.experiments.reproduce.pricing import BASELINES, ISJL, by_set, tasks, values
from analysis.plots.costs import cost_bars, profit_frontier
from analysis.report import Picture, Section
from analysis.text import number

_COLUMNS = ("tau_q", "c_t", "tau_e", "throughput", "profit")
_POLICIES = (*BASELINES, "lpt", *ISJL)

_MEASURES = (
    (
        "The runs of table 1 as pictures. The bars stack the three parts of the cost, in money: what "
        "every order pays (tau Q), the steps (c T), and the batching externality (tau E). The frontier "
        "shows what a policy earns against how fast it serves: up and to the right is better."
    ),
)


def item(results: Results) -> Item:
    """Numbers and pictures of the decomposition, the paper's points beside the measured ones."""
    sets = by_set(results)
    frame = pd.DataFrame([_row(sets, policy) for policy in _POLICIES])
    parts = {
        policy: {name: float(value) for name, value in zip(_COLUMNS[:3], row, strict=True)}
        for policy, *row in frame[["policy", *_COLUMNS[:3]]].itertuples(index=False)
    }
    measured = {
        _label(str(policy)): (float(x), float(y))
        for policy, x, y in frame[["policy", "throughput", "profit"]].itertuples(index=False)
    }
    stated = {_label(policy): (row["throughput"], row["profit"]) for policy, row in TABLE1.items()}
    pictures = [
        Picture(
            "fig5-costs",
            "Where the cost comes from",
            "One bar a policy. The first part is the same for all, since all serve the same requests.",
            cost_bars(parts),
        ),
        Picture(
            "fig5-frontier",
            "Profit against throughput",
            "Filled points are measured, open points are the paper's; a thin line joins the two of a "
            "policy. ISJL carries its alpha alone.",
            profit_frontier(measured, stated),
        ),
    ]
    return Item(Section("fig5", EXPERIMENT.title, _MEASURES, _found(sets), (), pictures), {"fig5": frame})


def _label(policy: str) -> str:
    return policy.removeprefix("isjl:alpha=")  # full names would cover each other


def _row(sets: pd.DataFrame, policy: str) -> dict[str, object]:
    row: dict[str, object] = {"policy": policy}
    for column in _COLUMNS:
        measured = over_sets(values(sets, policy, column))
        row |= {column: measured.value, f"{column}_low": measured.low, f"{column}_high": measured.high}
    stated = TABLE1.get(policy, {})
    return row | {f"paper_{column}": stated.get(column) for column in _COLUMNS}


def _found(sets: pd.DataFrame) -> list[str]:
    profit = {policy: over_sets(values(sets, policy, "profit")).value for policy in _POLICIES}
    speed = {policy: over_sets(values(sets, policy, "throughput")).value for policy in _POLICIES}
    richest, fastest = max(profit, key=profit.__getitem__), max(speed, key=speed.__getitem__)
    return [
        (
            f"{richest} earns most ({number(profit[richest])}), {fastest} serves fastest "
            f"({number(speed[fastest])} tokens per step)."
        ),
        (
            f"Policies that beat LJF in throughput: {_beating(speed) or 'none'}; in profit: "
            f"{_beating(profit) or 'none'}."
        ),
    ]


def _beating(values_of: dict[str, float]) -> str:
    return ", ".join(policy for policy, value in values_of.items() if value > values_of["ljf"])


EXPERIMENT = Experiment("fig5", "Figure 5: cost decomposition and profit against throughput", tasks, item)
