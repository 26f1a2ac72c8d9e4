"""How much of the memory of a queue is felt in each metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from analysis.latency import arrival_series
from analysis.queue_memory import NO_THEORY, Memory
from analysis.stability import Stability
from serving_sim import Run

DILUTED = 0.1
"""Part of the variance of end-to-end latencies below which waiting is a small addition to them."""

_WITHOUT_WAIT = "tpot"


def memory_of_metric(metric: str, runs: Sequence[Run], found: Stability | None, warmup: int = 0) -> Memory:
    """What theory knows of the queue behind one metric of a policy.

    Parameters
    ----------
    metric : str
        Key of `analysis.definitions.REQUEST_METRICS`.
    runs : sequence of Run
        Replications that kept their requests.
    found : Stability or None
        Verdict on them.
    warmup : int
        First requests to leave out.

    Returns
    -------
    Memory
        None of a time per output token, which begins when the wait is over. Diluted is an end-to-end
        latency that is nearly all the request's own service, as where slots are plenty. Queue time and
        time to first token are wait alone, and so nearly are normalized latency and slowdown of short
        requests.
    """
    memory = memory_of_difference(metric, found)
    if metric != "e2el" or not memory.requests:
        return memory
    waits, latencies = (
        math.fsum(float(np.var(arrival_series(run, each, warmup))) for run in runs)
        for each in ("queue_time", "e2el")
    )
    return replace(memory, diluted=waits < DILUTED * latencies)


def memory_of_difference(metric: str, *found: Stability | None) -> Memory:
    """What theory knows of the slowest queue behind a difference of one metric between policies.

    Service is the same under all of them, so that little but waiting is left.
    """
    if metric == _WITHOUT_WAIT:
        return NO_THEORY
    known = [each for each in found if each is not None]
    return Memory(
        max((each.memory for each in known), default=0.0),
        together=max((each.clustering for each in known), default=1.0),
    )
