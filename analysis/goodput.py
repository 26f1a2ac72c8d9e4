"""Service-level objectives: which requests met them, and the throughput of those alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.definitions import check_request_metric, definition
from analysis.latency import latency
from analysis.text import number
from analysis.time_unit import TimeUnit
from serving_sim import Served, StepTime
from serving_sim.request import exact_sum

_OF_TOKENS = {"ttft", "tpot"}
"""Metrics that time the tokens of an answer."""


@dataclass(frozen=True)
class Goodput:
    """What a run achieved within its objectives.

    Attributes
    ----------
    objectives : dict of str to float
        Largest allowed value of each metric, in the metric's unit.
    requests : int
        Requests that met all of them.
    share : float
        The same as a share of all requests.
    tokens_per_time_unit : float
        Sum of their lengths over the makespan of the whole run.
    """

    objectives: dict[str, float]
    requests: int
    share: float
    tokens_per_time_unit: float


def check_objectives(objectives: Mapping[str, float]) -> None:
    """Refuse objectives that name no metric or no positive limit.

    Raises
    ------
    ValueError
        If one does.
    """
    for metric, limit in objectives.items():
        check_request_metric(metric, "goodput")
        if not limit > 0:
            raise ValueError(f"goodput={metric}:{limit!r}: the limit must be > 0")


def objectives_in_words(objectives: Mapping[str, float], time_unit: TimeUnit) -> str:
    """What a request must keep to, as in ``time to first token <= 200 steps``."""
    return " and ".join(
        f"{definition(metric).title} <= {number(limit)} {definition(metric).unit_in(time_unit)}".rstrip()
        for metric, limit in objectives.items()
    )


def met(served: Served, step_time: StepTime, objectives: Mapping[str, float]) -> NDArray[np.bool_]:
    """Whether each request met every objective, shape (n,).

    A metric that is undefined for a request cannot be missed by it, as the time per output token of a
    single one; but a request that makes no output token misses what is promised of its tokens.
    """
    check_objectives(objectives)
    good = np.ones(len(served.requests), dtype=np.bool_)
    silent = served.requests.without_output
    if silent is not None and _OF_TOKENS & objectives.keys():
        good[silent] = False
    for metric, limit in objectives.items():
        good &= ~(latency(served, step_time, metric) > limit)
    return good


def measure_goodput(
    served: Served, step_time: StepTime, makespan: float, objectives: Mapping[str, float]
) -> Goodput:
    """Goodput of a run with the given makespan in time units."""
    good = met(served, step_time, objectives)
    count = int(np.count_nonzero(good))
    return Goodput(
        objectives=dict(objectives),
        requests=count,
        share=count / len(good),
        tokens_per_time_unit=exact_sum(served.requests.length[good]) / makespan,
    )
