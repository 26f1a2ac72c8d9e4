"""What alpha guarantees of the profit, beside what the runs of table 1 earn (Yao and Zhou, section 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from statistics import fmean

import pandas as pd

from analysis.economics import Costs, certified_loss, guaranteed_difference, measured_loss, profit_difference
from analysis.experiments.paper import ALPHAS
from analysis.experiments.pricing import COST
from analysis.experiments.reproduce.experiment import Experiment, Item, Results
from analysis.experiments.reproduce.noise import Measured, over_sets
from analysis.experiments.reproduce.pricing import tasks
from analysis.experiments.reproduce.table1 import cell
from analysis.experiments.reproduce.task import Row
from analysis.report import Section
from analysis.tables import Table
from analysis.text import number

_MEANINGS = {
    "over_ljf_promised": "lead over LJF, at least",
    "over_ljf": "lead over LJF",
    "over_fcfs_promised": "lead over FCFS, at least",
    "over_fcfs": "lead over FCFS",
    "loss_by_theorem": "below the best, at most by theorem 5.2",
    "loss_by_run": "below the best, at most by the run",
}

_MEASURES = (
    (
        "The runs of table 1 again. That no two requests of a batch are more than alpha tokens apart bounds "
        "the externality E by alpha times all tokens, whatever the schedule. So before E is measured alpha "
        "promises by how much ISJL leads LJF and FCFS in profit, at least (equations 13 and 14); a negative "
        "lead is a limit on what is lost."
    ),
    (
        "The most profitable schedule with the same alpha cannot be computed for 200 requests. Theorem 5.2 "
        "bounds how much more it earns from the ratio of its steps to those of ISJL, here with a proven "
        "lower bound on its steps. Once E is measured more is known: no such schedule pays less than tau Q "
        "and c times that bound. All columns but alpha are in money."
    ),
)


_Runs = Mapping[tuple[str, int], Sequence[Row]]
"""Runs of five replications by policy and set."""


def item(results: Results) -> Item:
    """Promises of every alpha beside what was measured."""
    runs = _by_policy_and_set(results)
    measured = {
        (alpha, name): over_sets(values)
        for alpha in ALPHAS
        for name, values in _set_means(runs, alpha).items()
    }
    frame = pd.DataFrame([_row(*key, value) for key, value in measured.items()])
    table = Table(
        "profit of ISJL in money, ± half of a 95 % interval",
        ("alpha, tokens", *_MEANINGS.values()),
        [(str(alpha), *(cell(measured[alpha, name], None) for name in _MEANINGS)) for alpha in ALPHAS],
    )
    section = Section("guarantees", EXPERIMENT.title, _MEASURES, _found(runs, measured), [table])
    return Item(section, {"guarantees": frame})


def _row(alpha: int, quantity: str, measured: Measured) -> dict[str, object]:
    return {
        "alpha": alpha,
        "quantity": quantity,
        "unit": "money",
        "measured": measured.value,
        "low": measured.low,
        "high": measured.high,
    }


def _by_policy_and_set(results: Results) -> _Runs:
    runs: dict[tuple[str, int], list[Row]] = {}
    for row in chain.from_iterable(results.values()):
        runs.setdefault((row["policy"], row["set"]), []).append(row)
    return runs


def _set_means(runs: _Runs, alpha: int) -> dict[str, list[float]]:
    sets = sorted({place for _, place in runs})
    of_runs = [_quantities(runs, alpha, place) for place in sets]
    return {name: [fmean(each[name]) for each in of_runs] for name in _MEANINGS}


def _quantities(runs: _Runs, alpha: int, place: int) -> dict[str, list[float]]:
    """Promised and measured money of each replication of a set."""
    ours = runs[f"isjl:alpha={alpha}", place]
    bounded = [(_costs(row), row["best_bound"]) for row in ours]
    found = {
        "loss_by_theorem": [certified_loss(own, least, alpha) for own, least in bounded],
        "loss_by_run": [measured_loss(own, least) for own, least in bounded],
    }
    for name in ("ljf", "fcfs"):
        pairs = [(_costs(row), _costs(other)) for row, other in zip(ours, runs[name, place], strict=True)]
        found[f"over_{name}_promised"] = [guaranteed_difference(*pair, alpha) for pair in pairs]
        found[f"over_{name}"] = [profit_difference(*pair) for pair in pairs]
    return found


def _costs(row: Row) -> Costs:
    return Costs(row["intrinsic"], row["steps"], row["externality"], row["tokens"], COST)


def _found(runs: _Runs, measured: Mapping[tuple[int, str], Measured]) -> list[str]:
    kept = [
        promised <= lead
        for alpha in ALPHAS
        for place in sorted({place for _, place in runs})
        for name in ("over_ljf", "over_fcfs")
        for found in [_quantities(runs, alpha, place)]
        for promised, lead in zip(found[f"{name}_promised"], found[name], strict=True)
    ]
    first = ALPHAS[0]
    return [
        f"Of {len(kept):,} promised leads, one a run and rival, {sum(kept):,} were kept.",
        (
            "The budget alone guarantees that ISJL earns more than FCFS for "
            f"{_safe(measured, 'over_fcfs_promised')}, and more than LJF for "
            f"{_safe(measured, 'over_ljf_promised')}."
        ),
        (
            f"At alpha = {first} the best schedule with this budget earns at most "
            f"{number(measured[first, 'loss_by_run'].value)} more than ISJL; theorem 5.2 alone leaves "
            f"{number(measured[first, 'loss_by_theorem'].value)}."
        ),
    ]


def _safe(measured: Mapping[tuple[int, str], Measured], promise: str) -> str:
    """Budgets whose mean promise is a profit."""
    safe = [str(alpha) for alpha in ALPHAS if measured[alpha, promise].low > 0]
    return f"alpha = {', '.join(safe)}" if safe else "no alpha of the table"


EXPERIMENT = Experiment("guarantees", "Section 5: what alpha guarantees of the profit", tasks, item)
