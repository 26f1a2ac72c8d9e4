"""Share of the requests that meet their objectives, with an interval where the runs carry one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from analysis.estimate import Estimate
from analysis.goodput import met
from analysis.latency import measured_rows, served_requests
from analysis.queue_memory import NO_THEORY, Memory
from analysis.replications import enough_observations, interval
from analysis.statistic import Statistic
from serving_sim import Run
from serving_sim.request import FloatArray

ATTAINED = "attainment"

ALL_OR_NONE = "no interval: every request met the objectives, or none did"


def attained(run: Run, objectives: Mapping[str, float], warmup: int = 0) -> float:
    """Share of the requests, after the first ``warmup``, that met every objective."""
    return float(np.mean(_met(run, objectives, warmup)))


def attainment(
    runs: Sequence[Run], objectives: Mapping[str, float], warmup: int = 0, memory: Memory = NO_THEORY
) -> Estimate:
    """Mean share over R >= 2 replications.

    Parameters
    ----------
    runs : sequence of R Run
        Replications of a steady state.
    objectives : mapping of str to float
        Largest allowed value of each metric named.
    warmup : int
        First requests to leave out.
    memory : Memory
        Of the queue behind them.

    Returns
    -------
    Estimate
        Within 0 and 1. A share p is to the requests that meet the objectives what p is to those up to a
        quantile: without an interval where the rarer kind holds too few independent observations, so
        where there is only one kind.
    """
    kept = [_met(run, objectives, warmup) for run in runs]
    shares = [float(np.mean(each)) for each in kept]
    share = float(np.mean(shares))
    if share in (0, 1):
        return Estimate(share, note=ALL_OR_NONE)
    shortage = _shortage([(~each).astype(np.float64) for each in kept], share, memory)
    if shortage is not None:
        return Estimate(share, note=shortage)
    found = interval(shares)
    assert found.low is not None
    assert found.high is not None
    return Estimate(share, max(0.0, found.low), min(1.0, found.high))


def _shortage(missed: Sequence[FloatArray], share: float, memory: Memory) -> str | None:
    """Why replications cannot carry an interval; a request is 0 where it met the objectives, 1 else."""
    statistic, enough = Statistic(ATTAINED, share), enough_observations(len(missed))
    notes = (statistic.shortage(each, memory, enough=enough, found=0.0) for each in missed)
    return next((f"{note} in each replication" for note in notes if note is not None), None)


def _met(run: Run, objectives: Mapping[str, float], warmup: int) -> NDArray[np.bool_]:
    """Whether each request met every objective, in arrival order."""
    return met(served_requests(run), run.step_time, objectives)[measured_rows(run, warmup)]
