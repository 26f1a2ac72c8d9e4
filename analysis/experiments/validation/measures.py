"""What a run tells, one number a function; times in steps, the first ``warmup`` requests left out."""

from __future__ import annotations

import numpy as np

from serving_sim import Run
from serving_sim.request import FloatArray


def waits(run: Run, warmup: int) -> FloatArray:
    """Time from release to start of each request."""
    assert run.requests is not None
    return (run.start - run.requests.release)[warmup:]


def latencies(run: Run, warmup: int) -> FloatArray:
    """Time from release to finish of each request."""
    assert run.requests is not None
    return (run.finish - run.requests.release)[warmup:]


def mean_wait(run: Run, warmup: int) -> float:
    """Mean of start - release."""
    return float(np.mean(waits(run, warmup)))


def mean_latency(run: Run, warmup: int) -> float:
    """Mean of finish - release."""
    return float(np.mean(latencies(run, warmup)))


def delayed(run: Run, warmup: int) -> float:
    """Share of requests that do not start with the first step after their release."""
    assert run.requests is not None
    late = run.start > np.ceil(run.requests.release)
    return float(np.mean(late[warmup:]))
