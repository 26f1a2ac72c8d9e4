"""The row of numbers of one cell."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from analysis.latency import arrival_series, served_requests
from analysis.metric_memory import memory_of_metric
from analysis.outcome import FIGURES
from analysis.stability import WorkRates, of_burst, probed_work
from analysis.statistic import MEAN, quantiles
from analysis.study.cell import Cell
from analysis.summary import Distribution, Summary, summarize
from analysis.version import project_version
from serving_sim import Run

Row = dict[str, Any]
"""Numbers and words by column, as JSON has them."""


@dataclass(frozen=True)
class Result:
    """What came of a cell: exactly one of the two.

    Attributes
    ----------
    row : str or None
        Its row as JSON text, as the store keeps it.
    error : str or None
        Why there is none.
    """

    row: str | None = None
    error: str | None = None


def attempt(cell: Cell, digest: str) -> Result:
    """Measure a cell in a worker process; whatever it raises is its result and stops no other cell.

    Parameters
    ----------
    cell : Cell
        What to simulate.
    digest : str
        The cell's digest in the process that asks: a worker with other code would give another row.
    """
    try:
        if cell.digest != digest:
            other = f"another version of the project or of its user's code: {project_version()}"
            return Result(error=f"its worker has {other}")
        return Result(row=json.dumps(measure(cell), ensure_ascii=False, allow_nan=False))
    except BaseException as error:  # noqa: BLE001  (a study outlives whatever a policy may raise)
        return Result(error=f"{type(error).__name__}: {' '.join(str(error).split())}")


def measure(cell: Cell) -> Row:
    """Simulate a cell.

    Returns
    -------
    Row
        The same bytes in any process: no clock and no counter of a process is in it.

    Raises
    ------
    ValueError, ServingSimError
        Whatever the workload, the policy or the engine refuses.
    """
    run = cell.serve(cell.workload())
    settings = cell.settings
    rates = _rates(cell, run)
    summary = summarize(
        run,
        percentiles=settings.percentiles,
        warmup=settings.warmup,
        goodput=settings.goodput,
        rates=rates,
        intervals=False,
    )
    row = _whole_run(summary) | {
        "burst": of_burst(run),
        "periods": rates.periods(summary.requests - settings.warmup),
    }
    for metric, distribution in summary.metrics.items():
        values = _values(distribution) | _observations(run, metric, cell, summary)
        row |= {f"{metric}_{name}": value for name, value in values.items()}
    return row


def _rates(cell: Cell, run: Run) -> WorkRates:
    # the backlog is short, for which no engine would be loaded: the one of the run already is
    sustained = probed_work(lambda backlog: cell.serve(backlog, run.engine), served_requests(run).requests)
    return replace(cell.rates(), sustained=sustained)


def _whole_run(summary: Summary) -> Row:
    goodput, stability = summary.goodput, summary.stability
    return {
        "label": summary.policy,
        "engine": summary.engine,
        "requests": summary.requests,
        "tokens": summary.tokens,
        "Q": summary.Q,
        **{name: getattr(summary, name) for name in FIGURES},
        "goodput": None if goodput is None else goodput.tokens_per_time_unit,
        "goodput_share": None if goodput is None else goodput.share,
        "stability": None if stability is None else stability.verdict,
        "queue_growth": None if stability is None else stability.growth,
        "violations": None if summary.fairness.alpha is None else summary.fairness.violations,
    }


def _values(distribution: Distribution) -> dict[str, float | int | None]:
    estimates = {name: estimate.value for name, estimate in distribution.estimates().items()}
    return {"count": distribution.count, **estimates, "std": distribution.std, "max": distribution.max}


def _observations(run: Run, metric: str, cell: Cell, summary: Summary) -> dict[str, float | None]:
    """Independent observations behind each statistic: what an interval over replications rests on."""
    warmup = cell.settings.warmup
    series = arrival_series(run, metric, warmup)
    found = summary.metrics[metric].estimates()
    memory = memory_of_metric(metric, [run], summary.stability, warmup)
    return {
        f"{statistic.name}_observations": (
            statistic.observations(series, memory, found=found[statistic.name].value) if len(series) else None
        )
        for statistic in (MEAN, *quantiles(cell.settings.percentiles))
    }
