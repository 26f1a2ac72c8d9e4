"""Nine systems whose waits and latencies are known exactly."""

from __future__ import annotations

from functools import partial

import numpy as np

from analysis.experiments.reproduce.task import Rows, Task
from analysis.experiments.validation.chapter import Chapter
from analysis.experiments.validation.comparison import Arguments, Known, compare, system_tasks
from analysis.experiments.validation.measures import delayed, latencies, mean_latency, mean_wait
from analysis.experiments.validation.settings import Settings
from analysis.experiments.validation.system import System
from analysis.queueing import slotted_fcfs
from serving_sim import Run

SYSTEMS = (
    System(1, "fixed:length=1", 0.8),
    System(1, "fixed:length=10", 0.8),
    System(1, "uniform:low=1,high=30", 0.7),
    System(1, "geometric:mean=10", 0.8),
    System(4, "fixed:length=10", 0.9),
    System(4, "geometric:mean=10", 0.9),
    System(32, "geometric:mean=100", 0.8),
    System(32, "geometric:mean=20", 0.9),
    System(32, "fixed:length=100", 0.95),
)

_MEASURES = (
    "First come, first served under Poisson arrivals, in slotted time. One slot: Pollaczek and Khinchine, "
    "with the whole distribution from its generating function. Equal lengths: Crommelin's chain. Geometric "
    "lengths: the chain of the number in the system. A quantile is checked where it is unbiased: the share "
    "of requests that do not exceed the exact quantile."
)


def tasks(settings: Settings) -> list[Task]:
    """One a system."""
    return system_tasks("waiting", SYSTEMS, work, settings)


def work(system: Arguments, settings: Arguments) -> Rows:
    """Means, and shares within exact quantiles."""
    simulated = System(**system)
    exact = slotted_fcfs(simulated.slots, simulated.distribution, simulated.rate)
    known: Known = {
        "mean wait (steps)": (mean_wait, exact.mean_wait),
        "mean latency (steps)": (mean_latency, exact.mean_latency),
        "share that waits for a slot": (delayed, exact.delayed),
    }
    limits = {share: exact.quantile(share) for share in (0.5, 0.9, 0.99)}
    shares: Known = {
        f"share of latencies up to {limit:.3f} steps": (partial(_within, limit), share)
        for share, limit in limits.items()
    }
    return compare(simulated, Settings(**settings), {**known, **shares})


def _within(limit: float, run: Run, warmup: int) -> float:
    return float(np.mean(latencies(run, warmup) <= limit))


CHAPTER = Chapter("waiting", "Waits and latencies, exactly", _MEASURES, tasks)
