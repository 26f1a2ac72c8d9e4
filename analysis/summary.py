"""One run in numbers: what ``summary.json`` holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from analysis import sectioning
from analysis.definitions import REQUEST_METRICS
from analysis.estimate import Estimate
from analysis.goodput import Goodput, measure_goodput
from analysis.latency import arrival_series, served_requests
from analysis.metric_memory import memory_of_metric
from analysis.queue_memory import NO_THEORY, Memory
from analysis.robustness import Robustness, robustness
from analysis.ruled_out import ruled_out
from analysis.stability import UNKNOWN, Stability, WorkRates, judge, no_steady_state
from analysis.statistic import MEAN, PERCENTILES, Statistic, quantiles
from analysis.token_audit import token_audit
from serving_sim import Audit, Run
from serving_sim.request import FloatArray

_NOT_ASKED_FOR = "no interval was asked for"


@dataclass(frozen=True)
class Distribution:
    """One metric over the measured requests.

    Attributes
    ----------
    count : int
        Requests with a value.
    mean : Estimate
        Mean with its interval.
    std : float or None
        Standard deviation over requests.
    max : float or None
        Largest value.
    quantiles : dict of str to Estimate
        By name, as in ``p99.9``.
    """

    count: int
    mean: Estimate
    std: float | None
    max: float | None
    quantiles: dict[str, Estimate]

    def estimates(self) -> dict[str, Estimate]:
        """Mean and quantiles by name."""
        return {MEAN.name: self.mean, **self.quantiles}


@dataclass(frozen=True)
class Summary:
    """One run in numbers. Times are in time units, steps, tokens and Q and E exact whole numbers.

    Attributes
    ----------
    policy, slots, step_time, slotted, engine
        What ran.
    requests, tokens : int
        Requests served and the sum of their lengths.
    warmup : int
        First requests that the metrics leave out; the totals count all.
    makespan, busy_time : float
        Last finish, and time with a non-empty batch.
    steps : int
        T, busy steps.
    Q, E : int
        Intrinsic work and batching externality (Yao and Zhou, equations 5 and 6).
    throughput, request_throughput : float
        Tokens and requests per time unit of the makespan.
    goodput : Goodput or None
        None where no objectives were given.
    occupancy, occupancy_all_time : float
        Mean number of active requests over busy steps, and over all time.
    extent_mean, extent_max : float, int
        Gap over busy steps in tokens.
    metrics : dict of str to Distribution
        By key of `analysis.definitions.REQUEST_METRICS`.
    fairness : Audit
        Gaps held against alpha.
    fairness_in_tokens : Audit or None
        The same with progress in tokens; None where it was not asked for.
    stability : Stability or None
        Whether the policy kept up; None where the question makes no sense, as for a backlog.
    predictions : Robustness or None
        None where the requests came without upper predictions.
    """

    policy: str
    slots: int
    step_time: dict[str, float]
    slotted: bool
    engine: str
    requests: int
    tokens: int
    warmup: int
    makespan: float
    busy_time: float
    steps: int
    Q: int
    E: int
    throughput: float
    request_throughput: float
    goodput: Goodput | None
    occupancy: float
    occupancy_all_time: float
    extent_mean: float
    extent_max: int
    metrics: dict[str, Distribution]
    fairness: Audit
    fairness_in_tokens: Audit | None
    stability: Stability | None
    predictions: Robustness | None

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain objects for JSON; None stands for what is undefined."""
        in_tokens = self.fairness_in_tokens
        audits = {
            "fairness": audit_record(self.fairness),
            "fairness_in_tokens": None if in_tokens is None else audit_record(in_tokens),
        }
        return {**asdict(self), **audits}


def audit_record(audit: Audit) -> dict[str, Any]:
    """What an audit found as plain objects for JSON."""
    found = asdict(audit)
    found["first_violation"] = found.pop("first")
    return {"fair": audit.fair, **found}


def summarize(
    run: Run,
    *,
    percentiles: Sequence[float] = PERCENTILES,
    warmup: int = 0,
    goodput: Mapping[str, float] | None = None,
    rates: WorkRates | None = UNKNOWN,
    prefill_chunk: int | None = None,
    intervals: bool = True,
    one_log: bool = False,
) -> Summary:
    """Summarize a run.

    Parameters
    ----------
    run : Run
        A run that kept its requests.
    percentiles : sequence of float
        Percentiles of every metric, each strictly between 0 and 100.
    warmup : int
        Number of requests, first in arrival order, that the metrics leave out.
    goodput : mapping of str to float, optional
        Largest allowed value of each metric named, as in ``{"ttft": 200.0}``.
    rates : WorkRates or None
        What is known of the work beside the run, for the verdict on stability; None for a closed loop,
        on which there is none.
    prefill_chunk : int, optional
        Tokens of a prompt that a step reads; given, the audit in tokens is made, as in `token_audit`.
    intervals : bool
        Whether the metrics get intervals, which take most of the time; a study makes its own, over
        replications.
    one_log : bool
        Whether the run is a draw among several from one log, or passes over it, so that they get none.

    Returns
    -------
    Summary
        Every request is finished when a run ends, so nothing hides in unfinished ones.

    Raises
    ------
    ValueError
        If the run kept no requests, for a percentile, metric, limit or warm-up that cannot be, or
        where progress in tokens is unknown.
    """
    served, totals = served_requests(run), run.totals
    stability = judge(run, rates)
    periods = None if rates is None else rates.periods(totals.requests - warmup)
    note = ruled_out(one_log=one_log, periods=periods)
    note = note or (no_steady_state(run, stability) if intervals else _NOT_ASKED_FOR)
    return Summary(
        policy=run.policy,
        slots=run.slots,
        step_time=asdict(run.step_time),
        slotted=run.slotted,
        engine=run.engine,
        requests=totals.requests,
        tokens=totals.tokens,
        warmup=warmup,
        makespan=totals.makespan,
        busy_time=totals.busy_time,
        steps=totals.steps,
        Q=totals.intrinsic,
        E=totals.externality,
        throughput=run.throughput,
        request_throughput=totals.requests / totals.makespan,
        goodput=measure_goodput(served, run.step_time, run.makespan, goodput) if goodput else None,
        occupancy=run.occupancy,
        occupancy_all_time=run.occupancy_all_time,
        extent_mean=run.extent_mean,
        extent_max=run.max_gap,
        metrics=_metrics(run, quantiles(percentiles), warmup, stability, note),
        fairness=run.audit,
        fairness_in_tokens=None if prefill_chunk is None else token_audit(run, prefill_chunk),
        stability=stability,
        predictions=None if served.requests.upper is None else robustness(run),
    )


def _metrics(
    run: Run, statistics: Sequence[Statistic], warmup: int, stability: Stability | None, note: str | None
) -> dict[str, Distribution]:
    keys = [entry.key for entry in REQUEST_METRICS]
    return {
        key: distribution(
            arrival_series(run, key, warmup),
            statistics,
            note,
            memory_of_metric(key, [run], stability, warmup),
        )
        for key in keys
    }


def distribution(
    values: FloatArray, statistics: Sequence[Statistic], note: str | None, memory: Memory = NO_THEORY
) -> Distribution:
    """Distribution of one metric, with intervals by sectioning unless ``note`` says why not."""
    every = [MEAN, *statistics]
    if note is None:
        found = sectioning.estimates(every, values, memory=memory)
    else:
        found = sectioning.values_alone(every, values, note)
    return Distribution(
        count=len(values),
        mean=found.pop(MEAN.name),
        std=float(np.std(values, ddof=1)) if len(values) > 1 else None,
        max=float(np.max(values)) if len(values) else None,
        quantiles=found,
    )
