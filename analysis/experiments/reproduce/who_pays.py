"""Who pays for whom: the externality that requests suffer and cause, by length (Yao and Zhou, section 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from itertools import chain

import pandas as pd

from analysis.experiments.pricing import BUCKET, COST, LONGEST, SET, serve
from analysis.experiments.reproduce.experiment import Experiment, Item, Results, Settings
from analysis.experiments.reproduce.noise import Measured, over_sets
from analysis.experiments.reproduce.pricing import set_lengths
from analysis.experiments.reproduce.task import Rows, Task
from analysis.externality import by_length_class, request_shares
from analysis.plots.costs import transfers
from analysis.plots.ratios import Line
from analysis.report import Picture, Section
from analysis.tables import Table
from analysis.text import with_interval

_POLICIES = ("fcfs", "lpt", "isjl:alpha=50", "isjl:alpha=150", "isjl:alpha=300", "isjl:alpha=500")
_ENDS = range(0, LONGEST + 1, BUCKET)
_UNITS = {"suffered": "% of E", "caused": "% of E", "transfer": "money per request"}

_MEASURES = (
    (
        "The runs of table 1 again, request by request. In every step a request suffers the tokens by which "
        "the longest cache of its batch is ahead of its own cache, and the request with the longest cache "
        "causes them; summed over all steps either gives the batching externality E. The first table tells "
        "which lengths suffer it, the second which cause it, in per cent of E. LJF is left out, it has none."
    ),
    (
        "The transfer is what a request causes less what it suffers, at tau a token and step, in money: "
        "above zero others pay for it, below zero it pays for others. Under one price a token it is a hidden "
        "subsidy, which the price does not show."
    ),
)


def tasks(settings: Settings) -> list[Task]:
    """One task a set of five replications."""
    return [
        Task(f"who-pays/set-{place:03}", split_set, {"seed": settings.seed, "place": place})
        for place in range(settings.sets)
    ]


def split_set(seed: int, place: int) -> Rows:
    """Shares by bucket of length over the five workloads of a set, one row a policy and bucket."""
    workloads = [set_lengths(seed, place, replication) for replication in range(SET)]
    rows: Rows = []
    for policy in _POLICIES:
        runs = (serve(lengths, policy, record_batches=True) for lengths in workloads)
        classes = by_length_class(pd.concat(map(request_shares, runs)), _ENDS)
        rows += [{"set": place, "policy": policy, **asdict(each)} for each in classes]
    return rows


_Shares = Mapping[tuple[str, str, int], Measured]
"""By quantity, policy and longest length of the bucket."""


def item(results: Results) -> Item:
    """Shares and transfers by policy and bucket."""
    measured = _measure(pd.DataFrame(list(chain.from_iterable(results.values()))))
    frame = pd.DataFrame([_row(*key, value) for key, value in measured.items()])
    picture = Picture(
        "who-pays",
        "Transfer between requests by length",
        "One line a policy: the money that a request of this length makes others pay, less what it pays for "
        "others. Below zero it pays for others.",
        transfers({policy: _line(measured, policy) for policy in _POLICIES}),
    )
    tables = [_table(measured, quantity) for quantity in ("suffered", "caused")]
    section = Section("who-pays", EXPERIMENT.title, _MEASURES, _found(measured), tables, [picture])
    return Item(section, {"who-pays": frame})


def _measure(rows: pd.DataFrame) -> _Shares:
    total = rows.groupby(["set", "policy"])["suffered"].transform("sum")
    columns = {
        "suffered": 100 * rows["suffered"] / total,
        "caused": 100 * rows["caused"] / total,
        "transfer": COST.tau * (rows["caused"] - rows["suffered"]) / rows["requests"],
    }
    bucket = (rows["longest"] + BUCKET - 1) // BUCKET * BUCKET
    return {
        (quantity, policy, end): over_sets(column[(rows["policy"] == policy) & (bucket == end)].tolist())
        for quantity, column in columns.items()
        for policy in _POLICIES
        for end in _ENDS[1:]
    }


def _row(quantity: str, policy: str, longest: int, measured: Measured) -> dict[str, object]:
    return {
        "quantity": quantity,
        "unit": _UNITS[quantity],
        "policy": policy,
        "shortest": longest - BUCKET + 1,
        "longest": longest,
        "measured": measured.value,
        "low": measured.low,
        "high": measured.high,
    }


def _line(measured: _Shares, policy: str) -> Line:
    middles = [end - BUCKET / 2 for end in _ENDS[1:]]
    return middles, [measured["transfer", policy, end].value for end in _ENDS[1:]]


def _table(measured: _Shares, quantity: str) -> Table:
    rows = [
        (
            f"{end - BUCKET + 1} to {end}",
            *(with_interval(measured[quantity, policy, end].estimate) for policy in _POLICIES),
        )
        for end in _ENDS[1:]
    ]
    title = f"externality {quantity} by length, {_UNITS[quantity]}, ± half of a 95 % interval"
    return Table(title, ("length, tokens", *_POLICIES), rows)


def _found(measured: _Shares) -> list[str]:
    half = LONGEST // 2

    def shorter(quantity: str, policy: str) -> float:
        return sum(measured[quantity, policy, end].value for end in _ENDS[1:] if end <= half)

    return [
        f"{policy}: requests of at most {half} tokens suffer {shorter('suffered', policy):.0f} % of the "
        f"externality and cause {shorter('caused', policy):.0f} %."
        for policy in _POLICIES
    ]


EXPERIMENT = Experiment("who-pays", "Section 5: who pays for whom", tasks, item)
