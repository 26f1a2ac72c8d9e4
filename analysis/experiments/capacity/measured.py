"""Limits of the arrival rate of several policies, and their latencies on the way there."""

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
from analysis.attainment import ATTAINED, attained, attainment
from analysis.capacity import (
    ONE_SEQUENCE,
    Bench,
    Edge,
    Limit,
    attaining_rate,
    over_replications,
    stable_rate,
)
from analysis.estimate import Estimate
from analysis.latency import arrival_series
from analysis.metric_memory import memory_of_difference, memory_of_metric
from analysis.pace import check_pace
from analysis.stability import WorkRates, judge, judge_together, no_long_run
from analysis.statistic import MEAN, quantiles
from analysis.workers import results

"""The statistic that is the share of requests which meet the objectives."""


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
    note : str or None
        Why the limits have no intervals, None where independent replications give them.
    """

    stable: dict[str, Limit]
    attaining: dict[str, Limit]
    curve: tuple[Point, ...]
    full: float | None
    note: str | None = None

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


def measure(
    benches: Benches,
    question: Question,
    *,
    jobs: int,
    done: Callable[[str], None],
    ruled_out: str | None = None,
) -> Capacity:
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
    ruled_out : str or None
        Why the arrivals give no intervals, as `analysis.ruled_out.ruled_out` finds.

    Raises
    ------
    ValueError
        If there are too few requests to tell what a policy keeps up with, or a load is so low that the
        last of them comes too late to tell steps apart.
    """
    first = benches[0][0]
    full = first.slots / first.step_time.base if first.step_time.constant else None
    if full is not None:
        _check_lowest(benches[0], question.loads[0], full)
    note = ruled_out or (ONE_SEQUENCE if len(benches[0]) == 1 else None)
    stable = _limits(benches, stable_rate, jobs, done, ruled_out=ruled_out)
    attaining = {}
    if question.objectives is not None:
        search = partial(
            attaining_rate,
            objectives=question.objectives,
            share=question.share,
            warmup=question.warmup,
        )
        attaining = _limits(benches, search, jobs, done, ruled_out=ruled_out)
    most = full or max(limit.work.value or 0 for limit in stable.values())
    calls = [
        delayed(_points)(benches_of, load, load * most, question, ruled_out=ruled_out)
        for benches_of in benches
        for load in question.loads
    ]
    return Capacity(stable, attaining, tuple(chain.from_iterable(_in_order(calls, jobs, done))), full, note)


def _limits(
    benches: Benches,
    search: Callable[[Bench], Edge],
    jobs: int,
    done: Callable[[str], None],
    *,
    ruled_out: str | None,
) -> dict[str, Limit]:
    calls = [delayed(search)(bench) for benches_of in benches for bench in benches_of]
    edges = list(_in_order(calls, jobs, done))
    found = {}
    for place, benches_of in enumerate(benches):
        count = len(benches_of)
        mine = edges[place * count : (place + 1) * count]
        found[benches_of[0].policy.describe()] = over_replications(benches_of, mine, ruled_out=ruled_out)
    return found


def _in_order(calls: Sequence[Any], jobs: int, done: Callable[[str], None]) -> Any:  # noqa: ANN401
    for result in results(calls, jobs, in_order=True):
        done("")
        yield result


def _check_lowest(benches: Sequence[Bench], load: float, full: float) -> None:
    """Refuse a load at which no run can be dated, before the limits are looked for."""
    for bench in benches:
        count, rate = len(bench.workload), bench.rate * load * full / bench.work
        check_pace(f"loads={load!r}", count, count / rate, slots=bench.slots, step_time=bench.step_time)


def _points(
    benches: Sequence[Bench], load: float, work: float, question: Question, *, ruled_out: str | None
) -> list[Point]:
    """One point of every statistic."""
    # arrivals of the wanted mean work in the long run: each replication has its own share of luck
    mean_work = float(np.mean([bench.work for bench in benches]))
    runs = [bench.run(work / mean_work) for bench in benches]
    rates = WorkRates(offered=work)  # that is how fast they were made to come
    found = judge_together([judge(run, rates) for run in runs])
    verdict = None if found is None else found.verdict
    series = [arrival_series(run, question.metric, question.warmup) for run in runs]
    single, memory = len(series) == 1, memory_of_metric(question.metric, runs, found, question.warmup)
    statistics = (MEAN, *quantiles(question.percentiles))
    estimates = (
        sectioning.estimates(statistics, series[0], memory=memory)
        if single
        else replications.estimates(statistics, series, memory=memory)
    )
    if question.objectives is not None:
        estimates[ATTAINED] = (
            Estimate(attained(runs[0], question.objectives, question.warmup), note=ONE_SEQUENCE)
            if single
            else attainment(runs, question.objectives, question.warmup, memory_of_difference("ttft", found))
        )
    withheld = no_long_run(verdict, ruled_out=ruled_out)
    if withheld is not None:
        estimates = {name: each.withheld(withheld) for name, each in estimates.items()}
    rate = float(np.mean([bench.rate for bench in benches])) * work / mean_work
    policy = benches[0].policy.describe()
    return [Point(policy, load, rate, verdict, name, estimate) for name, estimate in estimates.items()]
