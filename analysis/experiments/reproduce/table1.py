"""Table 1: profit and cost under linear pricing."""

from __future__ import annotations

import pandas as pd

from analysis.experiments.paper import METRICS, TABLE1
from analysis.experiments.pricing import SET
from analysis.experiments.reproduce.experiment import Experiment, Item, Results
from analysis.experiments.reproduce.noise import DIFFERS, REPRODUCED, Measured, over_sets
from analysis.experiments.reproduce.pricing import BASELINES, BEYOND, ISJL, by_set, tasks, values
from analysis.report import Section
from analysis.tables import Table
from analysis.text import number, with_interval

UNITS = {
    "profit": "money",
    "cost": "money",
    "tau_q": "money",
    "c_t": "money",
    "tau_e": "money",
    "throughput": "tokens per step",
    "gain": "% over LJF",
    "extent": "tokens",
}

LABELS = {"tau_q": "tau Q", "c_t": "c T", "tau_e": "tau E"}
"""Names of columns that are formulas."""

_MARKS = {DIFFERS: " *"}
_SHOWN = ["verdict", "paper", "measured", "low", "high", "set_low", "set_high"]

_MEASURES = (
    (
        "An operator sells tokens at a fixed price, so what a set of accepted requests brings does not "
        "depend on the order in which they are served. What serving them costs does: a step costs a fixed "
        "amount c, and tau for every request of the batch and every token of the longest cache in it, "
        "since the whole batch waits for its longest member. The cost splits exactly into three: tau Q, "
        "which every order pays; c T for the T steps taken; and tau E, the batching externality, what "
        "requests pay for sharing batches with longer ones."
    ),
    (
        "Of 400 requests with lengths uniform on 1 to 1,000 tokens about half accept their price; all are "
        "there at the start and are served on 50 slots. Money is in the unit of the price (1/500 a "
        "token), throughput in tokens per step. The extent is the mean over steps of how many tokens the "
        "furthest request of the batch is ahead of the nearest. FCFS admits in order of arrival, LJF "
        "forms static batches of the longest requests, LPT admits the longest whenever a slot is free, "
        "and ISJL admits so that no two requests of a batch are ever more than alpha tokens apart."
    ),
    (
        f"The paper averages {SET} replications. Measured values are means over many such sets, ± half of "
        "a 95 % confidence interval. A number of the paper is within noise if it lies in the 95 % "
        "interval for one more set of five, which is much wider."
    ),
)


def item(results: Results) -> Item:
    """The table with a verdict for every cell and every row."""
    sets = by_set(results)
    frame = pd.DataFrame(
        [_row(sets, policy, metric) for policy in (*BASELINES, *ISJL, *BEYOND) for metric in METRICS]
    )
    section = Section(
        "table1", EXPERIMENT.title, _MEASURES, _found(sets, frame), [_table(frame), _savings(sets)]
    )
    return Item(section, {"table1": frame})


def _row(sets: pd.DataFrame, policy: str, metric: str) -> dict[str, object]:
    measured = over_sets(values(sets, policy, metric))
    paper = TABLE1[policy][metric] if policy in TABLE1 else None
    verdict = None if paper is None else measured.verdict(paper)
    return {
        "policy": policy,
        "metric": metric,
        "unit": UNITS[metric],
        "paper": paper,
        "measured": measured.value,
        "low": measured.low,
        "high": measured.high,
        "set_low": measured.set_low,
        "set_high": measured.set_high,
        "verdict": verdict,
        "why": _why(sets, policy) if verdict == DIFFERS else None,
    }


def _why(sets: pd.DataFrame, policy: str) -> str:
    if policy not in ISJL:
        return "outside of what sets of five give"
    possible = over_sets(values(sets, policy, "best_saving"))
    stated = implied_saving(sets, policy)
    if stated > possible.set_high:
        return "impossible: no alpha-fair schedule saves so many steps on these workloads"
    return "possible for some schedule, but not what the algorithm gives"


def implied_saving(sets: pd.DataFrame, policy: str) -> float:
    """Steps that the paper's throughput saves over LJF on a mean workload of these sets."""
    steps = float(sets.xs("ljf", level="policy")["steps"].mean())
    return steps * (1 - TABLE1["ljf"]["throughput"] / TABLE1[policy]["throughput"])


def cell(measured: Measured, paper: float | None) -> str:
    """Measured value, half of its interval, and the paper's value in brackets."""
    varies = measured.low < measured.high
    text = with_interval(measured.estimate) if varies else number(measured.value)
    return text if paper is None else f"{text} ({number(paper)})"


def _table(frame: pd.DataFrame) -> Table:
    rows = []
    for policy, group in frame.groupby("policy", sort=False):
        cells = [
            cell(Measured(*row[2:]), None if pd.isna(row[1]) else row[1]) + _MARKS.get(row[0], "")
            for row in group[_SHOWN].itertuples(index=False)
        ]
        rows.append((str(policy), _row_verdict(group), *cells))
    header = ("policy", "verdict", *(f"{LABELS.get(metric, metric)}, {UNITS[metric]}" for metric in METRICS))
    return Table("measured ± half of a 95 % interval (paper); * differs", header, rows)


def _row_verdict(group: pd.DataFrame) -> str:
    if group["verdict"].isna().all():
        return "not in the paper"
    differing = int((group["verdict"] == DIFFERS).sum())
    return f"{differing} of {len(group)} differ" if differing else REPRODUCED


def _savings(sets: pd.DataFrame) -> Table:
    rows = []
    for policy in ISJL:
        cohort, best = (over_sets(values(sets, policy, f"{bound}_saving")) for bound in ("cohort", "best"))
        most = max(values(sets, policy, "best_saving"))
        measured = over_sets(values(sets, policy, "saving"))
        stated = implied_saving(sets, policy)
        rows.append(
            (
                policy,
                number(stated),
                cell(cohort, None),
                cell(best, None),
                number(most),
                cell(measured, None),
                "impossible" if stated > best.set_high else "not excluded",
            )
        )
    header = (
        "policy",
        "paper",
        "at most, cohort bound",
        "at most, best bound",
        "best bound, largest of the sets",
        "measured",
        "the paper's saving is",
    )
    return Table("steps saved over LJF by an alpha-fair schedule", header, rows)


def _found(sets: pd.DataFrame, frame: pd.DataFrame) -> list[str]:
    count = len(sets.index.unique("set"))
    found = []
    for policy in BASELINES:
        rows = frame[frame["policy"] == policy]
        agree = int((rows["verdict"] == REPRODUCED).sum())
        outside = rows.loc[rows["verdict"] == DIFFERS, "metric"]
        ending = (
            "." if outside.empty else f"; outside: {', '.join(LABELS.get(each, each) for each in outside)}."
        )
        found.append(
            f"{policy.upper()}: {agree} of {len(rows)} numbers of the paper lie within what {count} sets "
            f"of five replications give{ending}"
        )
    excluded = [
        policy
        for policy in ISJL
        if implied_saving(sets, policy) > over_sets(values(sets, policy, "best_saving")).set_high
    ]
    if excluded:
        first = over_sets(values(sets, excluded[0], "best_saving"))
        found.append(
            f"ISJL, {_alphas(excluded)}: no algorithm can reproduce this. A proven lower bound on the "
            "steps of every alpha-fair schedule leaves less to save over LJF than the paper reports; for "
            f"{_alphas(excluded[:1])} at most {number(first.value)} steps on average where the paper has "
            f"{number(implied_saving(sets, excluded[0]))}."
        )
    better = [policy for policy in ISJL if over_sets(values(sets, policy, "saving")).low > 0]
    found.append(
        "ISJL takes fewer steps than LJF for " + _alphas(better) + "."
        if better
        else "ISJL, run as defined, takes more steps than LJF on these workloads for every alpha of the "
        "table: most requests are longer than alpha, and the slots they leave wait for the longest to end."
    )
    printed = [policy for policy in BEYOND if policy.startswith("isjl-as-printed")]
    gaps = ", ".join(number(float(sets.xs(policy, level="policy")["max_gap"].max())) for policy in printed)
    found.append(
        "The algorithm as printed breaks its own fairness constraint on 50 slots: mean largest gaps of a "
        f"set reach {gaps} tokens for the budgets of the table, and its rows do not match the paper's "
        "either."
    )
    return found


def _alphas(policies: list[str]) -> str:
    return "alpha = " + ", ".join(policy.rpartition("=")[2] for policy in policies)


EXPERIMENT = Experiment("table1", "Table 1: profit and cost under linear pricing", tasks, item)
