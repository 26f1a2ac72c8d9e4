"""Several policies on the very same arrivals: paired differences against the first."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from analysis import replications, sectioning
from analysis.definitions import check_request_metric
from analysis.estimate import Estimate
from analysis.latency import arrival_series, served_requests
from analysis.metric_memory import memory_of_difference
from analysis.outcome import Outcome
from analysis.outward import withhold_outward
from analysis.queue_memory import Memory
from analysis.replications import ONE_LOG
from analysis.series import Series
from analysis.simultaneous import confidence_of_each
from analysis.stability import (
    ONE_BACKLOG,
    ONE_BURST,
    are_finite,
    no_long_run,
    no_steady_state,
    of_burst,
)
from analysis.statistic import MEAN, PERCENTILES, Statistic, quantiles
from serving_sim import Workload

Verdict = Literal[
    "lower",
    "higher",
    "identical",
    "cannot tell apart",
    "not enough data",
    "no steady state",
    "one log",
    "one draw",
]

_NOT_MENDED: dict[str | None, Verdict] = {ONE_LOG: "one log", ONE_BACKLOG: "one draw", ONE_BURST: "one draw"}
"""Notes of intervals that no larger number of requests would give."""


@dataclass(frozen=True)
class Difference:
    """One statistic of a policy minus the same statistic of the baseline.

    Attributes
    ----------
    policy, baseline : str
        Whose statistic is compared with whose.
    metric, statistic : str
        What is compared, as in ``e2el`` and ``p99``.
    estimate : Estimate
        The difference, in the unit of the metric.
    identical : bool
        Whether the metric is the same for every single request that has it, and some have. Equal
        quantiles do not say so.
    steady : bool
        Whether neither of the two queues grows as long as requests arrive. Behind a growing queue the
        difference is as large as the run is long.
    variance_reduction : float or None
        Variance of the difference of two independent runs over that of the paired difference, from
        the values of replications or sections: what common arrivals are worth, or below 1 cost. None
        where these do not vary, and where the estimate has no interval that they could narrow.
    """

    policy: str
    baseline: str
    metric: str
    statistic: str
    estimate: Estimate
    identical: bool
    steady: bool
    variance_reduction: float | None

    @property
    def verdict(self) -> Verdict:
        """What the interval lets one say about the policy."""
        estimate = self.estimate
        if self.identical:
            return "identical"
        if not self.steady:
            return "no steady state"
        if estimate.low is None or estimate.value is None:
            return _NOT_MENDED.get(estimate.note, "not enough data")
        if not estimate.excludes_zero:
            return "cannot tell apart"
        return "lower" if estimate.value < 0 else "higher"


@dataclass(frozen=True)
class Comparison:
    """Policies side by side.

    Attributes
    ----------
    outcomes : tuple of Outcome, length K
        One a policy; the first is the baseline.
    metrics : tuple of str
        Metrics compared.
    statistics : tuple of str
        Names of the statistics compared, mean first.
    differences : tuple of Difference
        For every metric, every policy but the first, every statistic.
    confidence : float
        Nominal coverage of each interval: 1 - 0.05 / (K - 1), so that for one statistic all K - 1
        intervals hold at once with at least 95 % (Bonferroni).
    warmup : int
        Number of requests, first in arrival order, that the metrics leave out.
    log : bool
        Whether the requests are all that a log has: no option makes more of them.
    """

    outcomes: tuple[Outcome, ...]
    metrics: tuple[str, ...]
    statistics: tuple[str, ...]
    differences: tuple[Difference, ...]
    confidence: float
    warmup: int
    log: bool = False

    @property
    def baseline(self) -> str:
        """Policy that the others are compared with."""
        return self.outcomes[0].policy

    def difference(self, policy: str, metric: str, statistic: str) -> Difference:
        """The difference with the given names."""
        wanted = (policy, metric, statistic)
        return next(each for each in self.differences if (each.policy, each.metric, each.statistic) == wanted)

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain objects for JSON."""
        return {
            "baseline": self.baseline,
            "confidence": self.confidence,
            "outcomes": [outcome.to_dict() for outcome in self.outcomes],
            "differences": [{**asdict(each), "verdict": each.verdict} for each in self.differences],
        }


def compare(
    outcomes: Sequence[Outcome],
    *,
    metrics: Sequence[str] = ("e2el",),
    percentiles: Sequence[float] = PERCENTILES,
    warmup: int = 0,
    log: bool = False,
) -> Comparison:
    """Compare policies that served the same arrivals.

    Parameters
    ----------
    outcomes : sequence of Outcome, length K >= 1
        One a policy, each with the same number of replications; the first is the baseline.
    metrics : sequence of str
        Keys of `analysis.definitions.REQUEST_METRICS`.
    percentiles : sequence of float
        Percentiles of every metric, each strictly between 0 and 100.
    warmup : int
        Number of requests, first in arrival order, that the metrics leave out.
    log : bool
        Whether the requests come from a log, so that there are no more of them.

    Returns
    -------
    Comparison
        Differences are taken within a replication, or section by section within the single run.
        Tests that assume independent samples (Tukey, Dunnett) would be invalid here.

    Raises
    ------
    ValueError
        If two outcomes have the same name or served different requests, or if a metric does not exist
        or stands there twice.
    """
    _check_same_arrivals(outcomes)
    check_metrics(metrics)
    statistics = (MEAN, *quantiles(percentiles))
    confidence = confidence_of_each(len(outcomes) - 1)
    differences = [
        difference
        for metric in metrics
        for pair in _pairs(outcomes, metric, statistics, warmup)
        for difference in pair.differences(statistics, confidence)
    ]
    return Comparison(
        outcomes=tuple(outcomes),
        metrics=tuple(metrics),
        statistics=tuple(statistic.name for statistic in statistics),
        differences=tuple(differences),
        confidence=confidence,
        warmup=warmup,
        log=log,
    )


def differences_from(
    comparison: Comparison, policy: str, metric: str, others: Collection[str]
) -> list[Difference]:
    """Mean of a metric of each of some policies minus that of the policy named.

    Parameters
    ----------
    comparison : Comparison
        K policies.
    policy : str
        In the place of the baseline; it may be chosen for its mean.
    metric : str
        Key of `analysis.definitions.REQUEST_METRICS`.
    others : collection of str
        Policies to take the differences of, in any order.

    Returns
    -------
    list of Difference
        In the order of the comparison, at its confidence. That a policy has the lowest mean because
        all other differences are surely above 0 is so wrong in at most 5 % of the cases, although the
        data chose it: it would have to beat the one that truly has the lowest, in one of K - 1 pairs
        (Hsu 1984, "Constrained simultaneous confidence intervals for multiple comparisons with the
        best").
    """
    known = {outcome.policy: outcome for outcome in comparison.outcomes}
    compared = [known[policy], *(known[each] for each in known if each in others)]
    pairs = _pairs(compared, metric, (MEAN,), comparison.warmup)
    return [difference for pair in pairs for difference in pair.differences((MEAN,), comparison.confidence)]


def _pairs(
    outcomes: Sequence[Outcome], metric: str, statistics: Sequence[Statistic], warmup: int
) -> list[_Pair]:
    def series(outcome: Outcome) -> list[Series]:
        return [Series(arrival_series(run, metric, warmup), statistics) for run in outcome.runs]

    baseline = outcomes[0]
    baselines = series(baseline)
    return [
        _Pair(
            policy=outcome.policy,
            baseline=baseline.policy,
            metric=metric,
            series=series(outcome),
            baselines=baselines,
            finite=are_finite(map(of_burst, outcome.runs)),
            steady=not (baseline.unstable or outcome.unstable),
            withheld=no_long_run(baseline.verdict, outcome.verdict, ruled_out=outcome.ruled_out)
            or (no_steady_state(outcome.runs[0], None) if len(outcome.runs) == 1 else None),
            memory=memory_of_difference(metric, baseline.stability, outcome.stability),
        )
        for outcome in outcomes[1:]
    ]


@dataclass(frozen=True)
class _Pair:
    """One metric of a policy and of the baseline, a series a replication."""

    policy: str
    baseline: str
    metric: str
    series: Sequence[Series]
    baselines: Sequence[Series]
    finite: bool
    """Whether the replications are finite sets of requests rather than pieces of a stream."""
    steady: bool
    withheld: str | None
    """Why these latencies have no intervals whatever their number, None where they may have."""
    memory: Memory

    @cached_property
    def identical(self) -> bool:
        pairs = zip(self.series, self.baselines, strict=True)
        return any(len(each.values) for each in self.series) and all(
            np.array_equal(each.values, baseline.values) for each, baseline in pairs
        )

    def differences(self, statistics: Sequence[Statistic], confidence: float) -> list[Difference]:
        estimates = {each.name: self.estimate(each, confidence) for each in statistics}
        estimates = withhold_outward(statistics, estimates)
        return [
            Difference(
                policy=self.policy,
                baseline=self.baseline,
                metric=self.metric,
                statistic=each.name,
                estimate=estimates[each.name],
                identical=self.identical,
                steady=self.steady,
                variance_reduction=(
                    None if estimates[each.name].low is None else self.variance_reduction(each)
                ),
            )
            for each in statistics
        ]

    def estimate(self, statistic: Statistic, confidence: float) -> Estimate:
        if len(self.series) > 1:
            estimate = replications.estimate_difference(
                statistic,
                self.series,
                self.baselines,
                confidence,
                stationary=not self.finite,
                memory=self.memory,
            )
        else:
            (series,), (baseline,) = self.series, self.baselines
            estimate = sectioning.estimate_difference(
                statistic, series, baseline, confidence, memory=self.memory
            )
        return estimate if self.withheld is None else estimate.withheld(self.withheld)

    def variance_reduction(self, statistic: Statistic) -> float | None:
        parts, base_parts = _parts(self.series), _parts(self.baselines)
        if any(statistic.name not in part for part in parts):
            return None
        values, bases = (np.array([part[statistic.name] for part in each]) for each in (parts, base_parts))
        paired = float(np.var(values - bases))
        return float(np.var(values) + np.var(bases)) / paired if paired > 0 else None


def _parts(series: Sequence[Series]) -> list[dict[str, float]]:
    """What gives one value of a statistic each: replications, or sections of the single run."""
    return [each.found for each in series] if len(series) > 1 else series[0].sections


def check_metrics(metrics: Sequence[str], where: str = "metrics") -> None:
    """Refuse metrics that do not exist or come twice; ``where`` says who names them.

    Raises
    ------
    ValueError
        With the metric.
    """
    for place, metric in enumerate(metrics):
        check_request_metric(metric, where)
        if metric in metrics[:place]:
            raise ValueError(f"{where}={metric!r}: must not be named twice")


def check_distinct(policies: Sequence[str]) -> None:
    """Refuse to compare a policy with itself.

    Raises
    ------
    ValueError
        If a name with its parameters comes twice.
    """
    for place, policy in enumerate(policies):
        if policy in policies[:place]:
            raise ValueError(f"policy={policy!r}: must not be compared with itself")


def _check_same_arrivals(outcomes: Sequence[Outcome]) -> None:
    check_distinct([outcome.policy for outcome in outcomes])
    first = [served_requests(run).requests for run in outcomes[0].runs]
    for outcome in outcomes:
        arrivals = [served_requests(run).requests for run in outcome.runs]
        if len(arrivals) != len(first) or not all(map(_same_arrivals, arrivals, first)):
            raise ValueError(f"policy={outcome.policy!r}: must have served the arrivals of the first policy")


def _same_arrivals(one: Workload, other: Workload) -> bool:
    # predictions may differ: what a policy gains by knowing more is a fair question
    return np.array_equal(one.release, other.release) and np.array_equal(one.length, other.length)
