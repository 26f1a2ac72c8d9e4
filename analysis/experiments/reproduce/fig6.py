"""Figure 6: profit of ISJL less profit of LJF, as the cost of a step varies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.experiments.paper import ALPHAS, TABLE2
from analysis.experiments.pricing import COST
from analysis.experiments.reproduce.experiment import Experiment, Item, Results
from analysis.experiments.reproduce.noise import over_sets
from analysis.experiments.reproduce.pricing import by_set, tasks, values
from analysis.plots.costs import profit_differences
from analysis.report import Picture, Section
from analysis.text import number

_STEP_COSTS = np.geomspace(1e-4, 1e-1, 31).tolist()

_MEASURES = (
    (
        "What ISJL earns less what LJF earns on the same requests, in money, against the cost c of a "
        "step. By the decomposition of table 1 the difference is c (T_LJF - T_ISJL) - tau E: a straight "
        "line in c that starts below zero and rises only if ISJL takes fewer steps than LJF."
    ),
)


def item(results: Results) -> Item:
    """The lines, measured and as the numbers of table 2 imply them."""
    sets = by_set(results)
    frame = pd.DataFrame([_row(sets, alpha, c) for alpha in ALPHAS for c in _STEP_COSTS])
    lines = {
        name: {
            f"alpha = {alpha}": (_STEP_COSTS, group[name].astype(float).tolist())
            for alpha, group in frame.groupby("alpha", sort=False)
        }
        for name in ("measured", "paper")
    }
    picture = Picture(
        "fig6",
        "Profit of ISJL less profit of LJF against the cost of a step",
        "Left as measured, right as the paper's table 2 implies; above zero ISJL earns more. The dashed "
        "line is the step cost of table 1. The horizontal axis is logarithmic.",
        profit_differences(lines["measured"], lines["paper"], baseline=COST.c),
    )
    return Item(Section("fig6", EXPERIMENT.title, _MEASURES, _found(frame), (), [picture]), {"fig6": frame})


def _row(sets: pd.DataFrame, alpha: int, c: float) -> dict[str, object]:
    policy = f"isjl:alpha={alpha}"
    saving, added = (np.array(values(sets, policy, metric)) for metric in ("saving", "tau_e"))
    measured = over_sets((c * saving - added).tolist())
    return {
        "alpha": alpha,
        "c": c,
        "paper": c * TABLE2[alpha]["saving"] - TABLE2[alpha]["tau_e"],
        "measured": measured.value,
        "low": measured.low,
        "high": measured.high,
    }


def _found(frame: pd.DataFrame) -> list[str]:
    highest = max(_STEP_COSTS)
    at_most = frame[frame["c"] == highest].set_index("alpha")["measured"]
    winners = [alpha for alpha in ALPHAS if at_most[alpha] > 0]
    times = f"{highest / COST.c:g} times the paper's baseline"
    measured = f"Up to c = {highest:g}, {times}, ISJL comes to earn more than LJF for {_alphas(winners)}."
    return [measured, _stated(highest)]


def _stated(highest: float) -> str:
    """Where the lines that table 2 implies cross zero."""
    crossings = {alpha: row["tau_e"] / row["saving"] for alpha, row in TABLE2.items()}
    winners = [alpha for alpha in ALPHAS if crossings[alpha] < highest]
    first, last = min(winners, key=crossings.__getitem__), max(winners, key=crossings.__getitem__)
    begin, end = (f"alpha = {each}, from c = {number(crossings[each])} on" for each in (first, last))
    return (
        f"By the numbers of the paper's table 2 it would for {_alphas(winners)}: first for {begin}, "
        f"last for {end}."
    )


def _alphas(winners: Sequence[int]) -> str:
    if len(winners) == len(ALPHAS):
        return "every alpha of the table"
    return f"alpha = {', '.join(map(str, winners))}" if winners else "no alpha of the table"


EXPERIMENT = Experiment(
    "fig6", "Figure 6: profit of ISJL less profit of LJF against the step cost", tasks, item
)
