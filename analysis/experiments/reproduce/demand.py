"""Demand that reacts to waiting: an extension of the paper (its section 5.3 leaves it out)."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pandas as pd

from analysis.economics import costs
from analysis.experiments.pricing import COST, PRICE
from analysis.experiments.reproduce.experiment import Experiment, Item, Results, Settings
from analysis.experiments.reproduce.task import Rows, Task
from analysis.plots.load_curves import load_curves
from analysis.replications import interval
from analysis.report import Picture, Section
from analysis.tables import Table
from analysis.text import with_interval
from policies import parse_policy
from serving_sim import simulate
from workloads import make_workload
from workloads.arrivals import Poisson, rate_for_load
from workloads.demand import DelaySensitiveDemand, Potential
from workloads.lengths import LmsysLike

_LOADS = (0.5, 0.8, 1.0, 1.5, 2.0)
_POLICIES = ("fcfs", "sjf", "ljf", "isjl:alpha=50", "isjl:alpha=150", "isjl:alpha=300")
_SLOTS = 16
_PATIENCE = 500
_MEMORY = 1000.0

_METRICS = {
    "accepted": "share of the requests that could come",
    "profit_rate": "money per 1,000 steps",
    "wait": "steps",
}

_AXES = {"accepted": "accepted share of requests", "profit_rate": "profit (money per 1,000 steps)"}

_MEASURES = (
    (
        "An extension: the paper fixes the accepted requests before any policy serves them and only names "
        "this loop. Here a user sends a request if it is worth its price and the waiting: v - p - h W >= 0, "
        "with W the waiting time that requests met recently under the policy that runs. A slow policy so "
        "loses requests, which makes it faster and poorer, until both agree."
    ),
    (
        f"Lengths are those of chats, {_SLOTS} slots, prices and costs those of table 1. The value v is the "
        f"price p times one plus an exponential variable of mean 1; waiting for {_PATIENCE} steps costs a "
        "user as much as a request of mean length. Load counts the requests that could come: 1 would just "
        "fill the slots if all did. All policies face the same users. "
        "W knows only requests that have started: one that starves is seen when its wait is over."
    ),
)


def tasks(settings: Settings) -> list[Task]:
    """One task a replication."""
    return [
        Task(
            f"demand/replication-{place:02}",
            serve,
            {"seed": settings.seed, "place": place, "requests": settings.requests},
        )
        for place in range(settings.replications)
    ]


def serve(seed: int, place: int, requests: int) -> Rows:
    """All policies at all loads, one row each."""
    traffic, margins = np.random.SeedSequence(seed, spawn_key=(place,)).spawn(2)
    margin = np.random.default_rng(margins).exponential(1.0, requests)
    lengths = LmsysLike()
    rows: Rows = []
    for load in _LOADS:
        rate = rate_for_load(load, slots=_SLOTS, mean_length=lengths.mean)
        workload = make_workload(requests, lengths, Poisson(rate), traffic)
        surplus = PRICE * workload.length * margin
        potential = Potential(workload, surplus, PRICE * lengths.mean / _PATIENCE)
        for policy in _POLICIES:
            source = DelaySensitiveDemand(potential, _MEMORY)
            run = simulate(source, parse_policy(policy), slots=_SLOTS)
            assert run.requests is not None
            profit = costs(run, COST).profit(PRICE * run.totals.tokens)
            rows.append(
                {
                    "replication": place,
                    "load": load,
                    "policy": policy,
                    "accepted": len(source.accepted) / requests,
                    "profit_rate": 1000 * profit / run.makespan,
                    "wait": float(np.mean(run.start - run.requests.release)),
                }
            )
    return rows


def item(results: Results) -> Item:
    """Accepted share, profit rate and waiting by policy and load."""
    rows = pd.DataFrame(list(chain.from_iterable(results.values())))
    records = []
    for (policy, load), group in rows.groupby(["policy", "load"], sort=False):
        for metric, unit in _METRICS.items():
            estimate = interval(group[metric].tolist())
            records.append(
                {
                    "policy": policy,
                    "load": load,
                    "metric": metric,
                    "unit": unit,
                    "measured": estimate.value,
                    "low": estimate.low,
                    "high": estimate.high,
                    "cell": with_interval(estimate),
                }
            )
    frame = pd.DataFrame(records)
    tables = [_table(frame, metric) for metric in _METRICS]
    curves = {
        metric.replace("_", " "): {
            policy: (_LOADS, _column(frame, metric, policy, "measured")) for policy in _POLICIES
        }
        for metric in ("accepted", "profit_rate")
    }
    pictures = [
        Picture(
            f"demand-{title.replace(' ', '-')}",
            f"{title.capitalize()} against load",
            "One line a policy; load counts the requests that could come.",
            load_curves({title: lines}, _AXES[title.replace(" ", "_")], scale="linear"),
        )
        for title, lines in curves.items()
    ]
    found = [_best(frame, load) for load in _LOADS]
    section = Section("demand", EXPERIMENT.title, _MEASURES, found, tables, pictures)
    return Item(section, {"demand": frame.drop(columns="cell")})


def _column(frame: pd.DataFrame, metric: str, policy: str, column: str) -> list[float]:
    chosen = frame[(frame["metric"] == metric) & (frame["policy"] == policy)]
    return [float(value) for value in chosen[column]]


def _table(frame: pd.DataFrame, metric: str) -> Table:
    chosen = frame[frame["metric"] == metric]
    cells = [
        (policy, *chosen.loc[chosen["policy"] == policy, "cell"].astype(str).tolist()) for policy in _POLICIES
    ]
    title = f"{metric.replace('_', ' ')}: {_METRICS[metric]}, ± half of a 95 % interval"
    return Table(title, ("policy", *(f"load {load:g}" for load in _LOADS)), cells)


def _best(frame: pd.DataFrame, load: float) -> str:
    place = _LOADS.index(load)
    rate = {policy: _column(frame, "profit_rate", policy, "measured")[place] for policy in _POLICIES}
    share = {policy: _column(frame, "accepted", policy, "measured")[place] for policy in _POLICIES}
    richest, poorest = max(rate, key=rate.__getitem__), min(rate, key=rate.__getitem__)
    return (
        f"Load {load:g}: {richest} earns most, {rate[richest]:.1f} per 1,000 steps with "
        f"{100 * share[richest]:.0f} % accepted; {poorest} least, {rate[poorest]:.1f} with "
        f"{100 * share[poorest]:.0f} %."
    )


EXPERIMENT = Experiment("demand", "Extension: demand that reacts to waiting", tasks, item)
