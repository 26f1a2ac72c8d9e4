"""One policy on all its replications, in numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from analysis import replications
from analysis.attainment import attained, attainment
from analysis.definitions import MAXIMA, REQUEST_METRICS
from analysis.estimate import Estimate
from analysis.latency import arrival_series
from analysis.metric_memory import memory_of_difference, memory_of_metric
from analysis.ruled_out import ruled_out
from analysis.stability import (
    UNKNOWN,
    Stability,
    Verdict,
    WorkRates,
    are_finite,
    judge_together,
    no_long_run,
    of_burst,
)
from analysis.statistic import MEAN, PERCENTILES, quantiles
from analysis.summary import Summary, audit_record, summarize
from serving_sim import Audit, Run

FIGURES = (
    "makespan",
    "steps",
    "E",
    "throughput",
    "request_throughput",
    "occupancy",
    "occupancy_all_time",
    "extent_mean",
    "extent_max",
)
"""Fields of `Summary` with one number a run."""


@dataclass(frozen=True)
class Outcome:
    """What one policy did on R >= 1 replications of a workload.

    Attributes
    ----------
    policy : str
        Name with parameters.
    runs : tuple of Run, length R
        Replication r of every policy compared served the same arrivals.
    summaries : tuple of Summary, length R
        One a run.
    metrics : dict of str to dict of str to Estimate
        Mean and quantiles of every metric: by sectioning of a single run, over replications else.
    figures : dict of str to Estimate
        Totals by name, means over the runs but for `MAXIMA`; without intervals for a single run.
    stability : Stability or None
        Whether the policy kept up, over all replications.
    ruled_out : str or None
        Why these arrivals give no interval under any policy, as `analysis.ruled_out.ruled_out` finds.
    """

    policy: str
    runs: tuple[Run, ...]
    summaries: tuple[Summary, ...]
    metrics: dict[str, dict[str, Estimate]]
    figures: dict[str, Estimate]
    stability: Stability | None
    ruled_out: str | None = None

    @property
    def verdict(self) -> Verdict | None:
        """Whether the policy kept up; None where the question makes no sense."""
        return None if self.stability is None else self.stability.verdict

    @property
    def unstable(self) -> bool:
        """Whether the queue grows as long as requests arrive."""
        return self.verdict == "unstable"

    @property
    def violations(self) -> int:
        """Admissions that broke the fairness budget, in all replications."""
        return sum(summary.fairness.violations for summary in self.summaries)

    @property
    def token_audits(self) -> tuple[Audit, ...]:
        """Audits of the runs with progress in tokens; none where they were not asked for."""
        audits = (summary.fairness_in_tokens for summary in self.summaries)
        return tuple(each for each in audits if each is not None)

    @property
    def fair(self) -> bool | None:
        """Whether no run broke the budget, None without one."""
        verdicts = [summary.fairness.fair for summary in self.summaries]
        return None if None in verdicts else all(verdicts)

    def to_dict(self) -> dict[str, Any]:
        """Estimates as plain objects for JSON."""
        return {
            "policy": self.policy,
            "replications": len(self.runs),
            "fair": self.fair,
            "violations": self.violations,
            "fairness_in_tokens": [audit_record(each) for each in self.token_audits] or None,
            "stability": None if self.stability is None else asdict(self.stability),
            "figures": {name: asdict(value) for name, value in self.figures.items()},
            "metrics": {
                metric: {name: asdict(value) for name, value in estimates.items()}
                for metric, estimates in self.metrics.items()
            },
        }


def evaluate(
    runs: Sequence[Run],
    *,
    percentiles: Sequence[float] = PERCENTILES,
    warmup: int = 0,
    goodput: Mapping[str, float] | None = None,
    rates: WorkRates | None = UNKNOWN,
    prefill_chunk: int | None = None,
    one_log: bool = False,
) -> Outcome:
    """Summarize the R >= 1 replications of one policy; parameters as in `summarize`.

    ``one_log`` says that all requests are draws from one log, replications or passes: these are not
    independent, and nothing has an interval.
    """
    summaries = tuple(
        summarize(
            run,
            percentiles=percentiles,
            warmup=warmup,
            goodput=goodput,
            rates=rates,
            prefill_chunk=prefill_chunk,
            one_log=one_log,
        )
        for run in runs
    )
    stability = judge_together([summary.stability for summary in summaries])
    stationary = not are_finite(map(of_burst, runs))
    metrics = {
        entry.key: _estimates(
            entry.key,
            runs,
            summaries,
            percentiles,
            warmup=warmup,
            stability=stability,
            stationary=stationary,
        )
        for entry in REQUEST_METRICS
    }
    counted = min(run.totals.requests for run in runs) - warmup
    periods = None if rates is None else rates.periods(counted)
    arrivals = ruled_out(one_log=one_log, periods=periods, replications=len(runs))
    withheld = no_long_run(None if stability is None else stability.verdict, ruled_out=arrivals)
    if withheld is not None:
        metrics = {
            key: {name: estimate.withheld(withheld) for name, estimate in estimates.items()}
            for key, estimates in metrics.items()
        }
    figures = _figures(summaries, one_log=one_log)
    if goodput:
        figures["goodput_share"] = _share(runs, goodput, stability, one_log=one_log)
    return Outcome(
        policy=runs[0].policy,
        runs=tuple(runs),
        summaries=summaries,
        metrics=metrics,
        figures=figures,
        stability=stability,
        ruled_out=arrivals,
    )


def _estimates(
    metric: str,
    runs: Sequence[Run],
    summaries: Sequence[Summary],
    percentiles: Sequence[float],
    *,
    warmup: int,
    stability: Stability | None,
    stationary: bool,
) -> dict[str, Estimate]:
    if len(runs) == 1:
        return summaries[0].metrics[metric].estimates()
    series = [arrival_series(run, metric, warmup) for run in runs]
    memory = memory_of_metric(metric, runs, stability, warmup)
    return replications.estimates(
        (MEAN, *quantiles(percentiles)), series, stationary=stationary, memory=memory
    )


def _share(
    runs: Sequence[Run], objectives: Mapping[str, float], stability: Stability | None, *, one_log: bool
) -> Estimate:
    """Of the requests, those that met the objectives, warm-up included as in all figures of whole runs."""
    if len(runs) == 1:
        return replications.average([attained(runs[0], objectives)])
    found = attainment(runs, objectives, memory=memory_of_difference("ttft", stability))
    return found.withheld(replications.ONE_LOG) if one_log else found


def _figures(summaries: Sequence[Summary], *, one_log: bool) -> dict[str, Estimate]:
    values = {name: [getattr(summary, name) for summary in summaries] for name in FIGURES}
    goodputs = [summary.goodput for summary in summaries]
    if None not in goodputs:
        values["goodput"] = [each.tokens_per_time_unit for each in goodputs if each is not None]
    return {
        name: replications.largest(each) if name in MAXIMA else replications.average(each, one_log=one_log)
        for name, each in values.items()
    }
