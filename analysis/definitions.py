"""The one table of metrics: what each is called, measured in, and defined as.

Tables, axes, reports and documentation take their words from here; a test holds the table against
the code that computes the metrics.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from analysis.time_unit import TimeUnit


@dataclass(frozen=True)
class Definition:
    """One metric.

    Attributes
    ----------
    key : str
        Name in Python, in files and on the command line.
    title : str
        Name in tables and on axes.
    unit : str
        Unit of the values; "time units" stands for whatever the run counts time in.
    formula : str
        Definition in the columns of the requests file and the totals of a run.
    better : {"lower", "higher"}
        Which direction is better.
    """

    key: str
    title: str
    unit: str
    formula: str
    better: Literal["lower", "higher"]

    def unit_in(self, time_unit: TimeUnit) -> str:
        """Unit of the values of a run that counts time in ``time_unit``."""
        unit = time_unit.in_service(self.unit)
        return unit.replace("time units", time_unit.plural).replace("time unit", time_unit.singular)

    def title_in(self, time_unit: TimeUnit) -> str:
        """Title, which speaks of no tokens where they are not what is counted."""
        return self.title.removeprefix("token ") if time_unit.in_chunks else self.title

    def label(self, time_unit: TimeUnit) -> str:
        """Title with the unit in brackets, as on an axis."""
        title = self.title_in(time_unit)
        return f"{title} ({self.unit_in(time_unit)})" if self.unit else title


REQUEST_METRICS = (
    Definition("queue_time", "queue time", "time units", "start - release", "lower"),
    Definition(
        "ttft",
        "time to first token",
        "time units",
        "first_token - release, undefined without an output token",
        "lower",
    ),
    Definition("e2el", "end-to-end latency", "time units", "finish - release", "lower"),
    Definition(
        "tpot",
        "time per output token",
        "time units",
        "(finish - first_token) / (output tokens - 1), undefined below two output tokens; output tokens "
        "are the steps from the first token on",
        "lower",
    ),
    Definition("normalized_latency", "normalized latency", "time units per token", "e2el / length", "lower"),
    Definition(
        "slowdown",
        "slowdown",
        "",
        "e2el / time the request takes alone on an empty worker",
        "lower",
    ),
)
"""Metrics with one value a request."""

RUN_METRICS = (
    Definition("makespan", "makespan", "time units", "last finish - 0", "lower"),
    Definition(
        "throughput", "token throughput", "tokens per time unit", "sum of lengths / makespan", "higher"
    ),
    Definition(
        "request_throughput", "request throughput", "requests per time unit", "requests / makespan", "higher"
    ),
    Definition(
        "goodput",
        "goodput",
        "tokens per time unit",
        "sum of lengths of requests that met every objective / makespan; without an output token none of "
        "ttft and tpot is met",
        "higher",
    ),
    Definition("goodput_share", "attainment", "", "requests that met every objective / requests", "higher"),
    Definition(
        "occupancy", "occupancy", "requests", "mean number of active requests over busy steps", "higher"
    ),
    Definition(
        "occupancy_all_time",
        "occupancy over all time",
        "requests",
        "mean number of active requests over [0, makespan]",
        "higher",
    ),
    Definition(
        "extent_mean",
        "mean gap",
        "tokens",
        "mean over busy steps of the largest minus the smallest progress",
        "lower",
    ),
    Definition(
        "extent_max",
        "max gap",
        "tokens",
        "largest over busy steps, of all replications, of the largest minus the smallest progress",
        "lower",
    ),
)
"""Metrics with one value a run."""

MAXIMA = frozenset({"extent_max"})
"""Those of which several runs have the largest value, where of the others they have the mean."""

COST_METRICS = (
    Definition(
        "intrinsic_cost",
        "tau Q",
        "money",
        "tau * sum of length * (length + 1) / 2, as in every schedule",
        "lower",
    ),
    Definition("time_cost", "c T", "money", "c * busy steps", "lower"),
    Definition(
        "externality_cost",
        "tau E",
        "money",
        "tau * sum over steps and requests of the tokens by which the longest cache of the batch is ahead",
        "lower",
    ),
    Definition("cost", "cost", "money", "tau Q + c T + tau E", "lower"),
    Definition("cost_per_request", "cost per request", "money", "cost / requests", "lower"),
    Definition("revenue", "revenue", "money", "price * sum of lengths, as in every schedule", "higher"),
    Definition("profit", "profit", "money", "revenue - cost", "higher"),
)
"""What a run costs and brings, one value a run."""

_BY_KEY = {entry.key: entry for entry in (*REQUEST_METRICS, *RUN_METRICS)}


def definition(key: str) -> Definition:
    """Definition of the metric called ``key``."""
    return _BY_KEY[key]


def check_metric(key: str) -> str:
    """``key`` itself if it names a metric, of requests or of runs.

    Raises
    ------
    ValueError
        If it does not; the message lists the names.
    """
    return _one_of(key, _BY_KEY)


def check_request_metric(key: str, where: str = "metric") -> str:
    """``key`` itself if it names a metric with one value a request; ``where`` says who names it.

    Raises
    ------
    ValueError
        If it does not; the message lists the names.
    """
    return _one_of(key, [entry.key for entry in REQUEST_METRICS], where)


def _one_of(key: str, names: Collection[str], where: str = "metric") -> str:
    if key not in names:
        raise ValueError(f"{where}={key!r}: must be one of {', '.join(names)}")
    return key
