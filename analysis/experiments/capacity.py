"""Capacity of several policies: limits of the arrival rate, and what happens on the way there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from joblib import delayed

from analysis import replications, sectioning
from analysis.capacity import (
    AT_LEAST,
    ONE_SEQUENCE,
    Bench,
    Limit,
    attained,
    attaining_speed,
    over_replications,
    stable_speed,
)
from analysis.definitions import definition
from analysis.estimate import Estimate
from analysis.latency import arrival_series
from analysis.plots.load_curves import load_curves
from analysis.plots.ratios import Line
from analysis.report import Picture, Section
from analysis.stability import UNDECIDED, WorkRates, judge, judge_together
from analysis.statistic import MEAN, quantiles
from analysis.tables import Table
from analysis.text import number, with_interval
from analysis.time_unit import TimeUnit
from analysis.workers import results

_ATTAINED = "attainment"

_MARKS = {"unstable": " !", "undecided": " ?"}

_NOTES = {
    "unstable": "! the queue grows: the number depends on the length of the run",
    "undecided": f"? {UNDECIDED}: no interval",
}

_READING = (
    "A line ends where its policy no longer keeps up; at a hollow square the runs are too short to tell "
    "whether it does."
)

_OPEN = (
    "at least: so it still is where requests come a quarter faster than they are served from a backlog, the "
    "fastest that was tried"
)


@dataclass(frozen=True)
class Question:
    """What is asked of every policy.

    Attributes
    ----------
    metric : str
        Key of `analysis.definitions.REQUEST_METRICS` whose mean and quantiles are drawn.
    percentiles : sequence of float
        Which quantiles.
    loads : sequence of float
        Where to look: fractions of what all slots can do. Where steps have no fixed duration,
        fractions of the most that any of the policies keeps up with.
    objectives : mapping of str to float or None
        Largest allowed value of each metric named.
    share : float
        Share of the requests that must meet all objectives.
    warmup : int
        First requests that metrics and shares leave out.
    """

    metric: str
    percentiles: Sequence[float]
    loads: Sequence[float]
    objectives: Mapping[str, float] | None
    share: float
    warmup: int = 0


@dataclass(frozen=True)
class Point:
    """One statistic of one policy at one load.

    Attributes
    ----------
    policy : str
        Name with parameters.
    load, rate : float
        How much arrives: as the question names it, and in requests per time unit.
    verdict : str or None
        Of `analysis.stability.judge_together`.
    statistic : str
        Mean or quantile of the metric, or ``attainment``: the share that met the objectives.
    estimate : Estimate
        Its value; without an interval where the queue grows or nobody can tell.
    """

    policy: str
    load: float
    rate: float
    verdict: str | None
    statistic: str
    estimate: Estimate

    def to_dict(self) -> dict[str, Any]:
        """The point as one flat row."""
        row = {key: value for key, value in asdict(self).items() if key != "estimate"}
        return {**row, **asdict(self.estimate)}


@dataclass(frozen=True)
class Capacity:
    """What came of it.

    Attributes
    ----------
    stable, attaining : dict of str to Limit
        By policy: the fastest arrivals it keeps up with, and those of which enough requests meet the
        objectives; the latter is empty without objectives.
    curve : tuple of Point
        For every policy, every load, every statistic.
    full : float or None
        Tokens per time unit that all slots can do; None where steps have no fixed duration.
    """

    stable: dict[str, Limit]
    attaining: dict[str, Limit]
    curve: tuple[Point, ...]
    full: float | None

    def load(self, limit: Limit) -> Estimate:
        """The limit as a load; without a value where there is no such thing."""
        return Estimate(None) if self.full is None else limit.work.scaled(1 / self.full)

    def to_dict(self) -> dict[str, Any]:
        """The limits and the curve as plain objects for JSON."""
        limits = {"stable": self.stable, "objectives": self.attaining}
        return {
            **{
                kind: {
                    policy: {**asdict(limit), "load": asdict(self.load(limit))}
                    for policy, limit in found.items()
                }
                for kind, found in limits.items()
            },
            "curve": [point.to_dict() for point in self.curve],
        }

    def frame(self) -> pd.DataFrame:
        """The curve, one row a point."""
        return pd.DataFrame([point.to_dict() for point in self.curve])

    def points(self, statistic: str, policy: str) -> list[Point]:
        """One line of the curve."""
        return [point for point in self.curve if (point.statistic, point.policy) == (statistic, policy)]


Benches = Sequence[Sequence[Bench]]
"""Policy by policy, one before each replication."""


def count_tasks(benches: Benches, question: Question) -> int:
    """Pieces of work of `measure`."""
    limits = len(benches) * len(benches[0]) * (1 if question.objectives is None else 2)
    return limits + len(benches) * len(question.loads)


def measure(benches: Benches, question: Question, *, jobs: int, done: Callable[[str], None]) -> Capacity:
    """Find the limits of every policy and its latencies on the way there.

    Parameters
    ----------
    benches : sequence of sequences of Bench
        Policies before R >= 1 replications of the same arrivals; intervals need two.
    question : Question
        What is asked.
    jobs : int
        Processes.
    done : callable
        Told what each piece of work was about when it is done.

    Raises
    ------
    ValueError
        If there are too few requests to tell what a policy keeps up with.
    """
    stable = _limits(benches, stable_speed, jobs, done)
    attaining = {}
    if question.objectives is not None:
        search = partial(
            attaining_speed,
            objectives=question.objectives,
            share=question.share,
            warmup=question.warmup,
        )
        attaining = _limits(benches, search, jobs, done)
    first = benches[0][0]
    full = first.slots / first.step_time.base if first.step_time.constant else None
    most = full or max(limit.work.value or 0 for limit in stable.values())
    calls = [
        delayed(_points)(benches_of, load, load * most, question)
        for benches_of in benches
        for load in question.loads
    ]
    return Capacity(stable, attaining, tuple(chain.from_iterable(_in_order(calls, jobs, done))), full)


def _limits(
    benches: Benches, search: Callable[[Bench], float | None], jobs: int, done: Callable[[str], None]
) -> dict[str, Limit]:
    calls = [delayed(search)(bench) for benches_of in benches for bench in benches_of]
    speeds = list(_in_order(calls, jobs, done))
    found = {}
    for place, benches_of in enumerate(benches):
        count = len(benches_of)
        mine = speeds[place * count : (place + 1) * count]
        found[benches_of[0].policy.describe()] = over_replications(benches_of, mine)
    return found


def _in_order(calls: Sequence[Any], jobs: int, done: Callable[[str], None]) -> Any:  # noqa: ANN401
    for result in results(calls, jobs, in_order=True):
        done("")
        yield result


def _points(benches: Sequence[Bench], load: float, work: float, question: Question) -> list[Point]:
    """One point of every statistic."""
    # arrivals of the wanted mean work in the long run: each replication has its own share of luck
    mean_work = float(np.mean([bench.work for bench in benches]))
    runs = [bench.run(work / mean_work) for bench in benches]
    rates = WorkRates(offered=work)  # that is how fast they were made to come
    found = judge_together([judge(run, rates) for run in runs])
    verdict = None if found is None else found.verdict
    series = [arrival_series(run, question.metric, question.warmup) for run in runs]
    single = len(series) == 1
    statistics = (MEAN, *quantiles(question.percentiles))
    estimates = (
        sectioning.estimates(statistics, series[0]) if single else replications.estimates(statistics, series)
    )
    if question.objectives is not None:
        shares = [attained(run, question.objectives, question.warmup) for run in runs]
        estimates[_ATTAINED] = (
            Estimate(shares[0], note=ONE_SEQUENCE) if single else replications.interval(shares)
        )
    if found is not None and found.verdict != "stable":
        estimates = {name: each.withheld(found.reason) for name, each in estimates.items()}
    rate = float(np.mean([bench.rate for bench in benches])) * work / mean_work
    policy = benches[0].policy.describe()
    return [Point(policy, load, rate, verdict, name, estimate) for name, estimate in estimates.items()]


def capacity_section(found: Capacity, question: Question, time_unit: TimeUnit) -> Section:
    """Tables and pictures of the limits and the curves."""
    return Section(
        "capacity",
        "What each policy can serve",
        _measures(question, time_unit),
        _sentences(found, question, time_unit),
        [limits_table(found, question, time_unit), *_curve_tables(found, question, time_unit)],
        _pictures(found, question, time_unit),
    )


def limits_table(found: Capacity, question: Question, time_unit: TimeUnit) -> Table:
    """The largest rates and loads of every policy."""
    header = ["policy", "keeps up to, rate"]
    columns = [{policy: limit.rate for policy, limit in found.stable.items()}]
    if found.full is not None:
        header.append("load")
        columns.append({policy: found.load(limit) for policy, limit in found.stable.items()})
    if question.objectives is not None:
        header.append("meets objectives to, rate")
        columns.append({policy: limit.rate for policy, limit in found.attaining.items()})
        if found.full is not None:
            header.append("load")
            columns.append({policy: found.load(limit) for policy, limit in found.attaining.items()})
    rows = [(policy, *(_bounded(column[policy]) for column in columns)) for policy in found.stable]
    title = f"largest arrival rates in requests per {time_unit.singular}, ± half of a 95 % interval"
    open_ = any(estimate.note == AT_LEAST for column in columns for estimate in column.values())
    return Table(title, header, rows, notes=[_OPEN] if open_ else ())


def _objectives(question: Question, time_unit: TimeUnit) -> str:
    assert question.objectives is not None
    limits = " and ".join(
        f"{definition(metric).title} <= {number(limit)} {definition(metric).unit_in(time_unit)}".rstrip()
        for metric, limit in question.objectives.items()
    )
    return f"{100 * question.share:g} % of the requests meet {limits}"


def _measures(question: Question, time_unit: TimeUnit) -> list[str]:
    texts = [
        (
            "A policy keeps up with a rate of arrivals if its waiting queue still empties in the second half "
            "of the run. The largest such rate is found by bisection in every replication, which gives it an "
            "interval. All policies serve the same requests, whose arrivals come faster or slower as a whole."
        )
    ]
    if question.objectives is not None:
        texts.append(
            f"Objectives are met if {_objectives(question, time_unit)}, counted over the requests of a run."
        )
    return texts


def _sentences(found: Capacity, question: Question, time_unit: TimeUnit) -> list[str]:
    unit = f"requests per {time_unit.singular}"
    texts = []
    for policy, limit in found.stable.items():
        text = f"{policy} keeps up with {_limit(found, limit, unit)}"
        if question.objectives is not None:
            text += f" and meets the objectives up to {_limit(found, found.attaining[policy], unit)}"
        texts.append(f"{text}.")
    return texts


def _limit(found: Capacity, limit: Limit, unit: str) -> str:
    if limit.rate.value is None:
        return "no rate at all"
    load = found.load(limit)
    beside = "" if load.value is None else f", a load of {_bounded(load)}"
    return f"{_bounded(limit.rate)} {unit}{beside}"


def _bounded(estimate: Estimate) -> str:
    return f"at least {with_interval(estimate)}" if estimate.note == AT_LEAST else with_interval(estimate)


def _curve_tables(found: Capacity, question: Question, time_unit: TimeUnit) -> list[Table]:
    header = ("policy", *(f"load {load:g}" for load in question.loads))
    tables = []
    for statistic in _statistics(question):
        lines = {policy: found.points(statistic, policy) for policy in found.stable}
        verdicts = {point.verdict for points in lines.values() for point in points}
        tables.append(
            Table(
                f"{statistic} of the {definition(question.metric).label(time_unit)}"
                if statistic != _ATTAINED
                else "share of the requests that meet the objectives",
                header,
                [(policy, *map(_cell, points)) for policy, points in lines.items()],
                notes=[note for verdict, note in _NOTES.items() if verdict in verdicts],
            )
        )
    return tables


def _cell(point: Point) -> str:
    return with_interval(point.estimate) + _MARKS.get(point.verdict or "", "")


def _statistics(question: Question) -> list[str]:
    latencies = [statistic.name for statistic in (MEAN, *quantiles(question.percentiles))]
    return latencies if question.objectives is None else [*latencies, _ATTAINED]


def _pictures(found: Capacity, question: Question, time_unit: TimeUnit) -> list[Picture]:
    latencies = [name for name in _statistics(question) if name != _ATTAINED]
    pictures = [
        Picture(
            "latency-against-load",
            f"The {definition(question.metric).title} against load",
            f"One panel a statistic, one line a policy. {_READING}",
            load_curves(
                _panels(found, latencies),
                definition(question.metric).label(time_unit),
                undecided=_panels(found, latencies, ("undecided",)),
            ),
        )
    ]
    if question.objectives is not None:
        pictures.append(
            Picture(
                "attainment-against-load",
                "Share of the requests that meet the objectives, against load",
                f"One line a policy. {_READING}",
                load_curves(
                    _panels(found, [_ATTAINED]),
                    "share of requests",
                    scale="linear",
                    undecided=_panels(found, [_ATTAINED], ("undecided",)),
                ),
            )
        )
    return pictures


def _panels(
    found: Capacity,
    statistics: Sequence[str],
    verdicts: Sequence[str | None] = ("stable", "undecided", None),
) -> dict[str, dict[str, Line]]:
    """Lines through the points with one of the verdicts."""
    return {
        statistic: {policy: _line(found.points(statistic, policy), verdicts) for policy in found.stable}
        for statistic in statistics
    }


def _line(points: Sequence[Point], verdicts: Sequence[str | None]) -> Line:
    shown = [
        (point.load, point.estimate.value)
        for point in points
        if point.verdict in verdicts and point.estimate.value is not None
    ]
    return [load for load, _ in shown], [value for _, value in shown]
