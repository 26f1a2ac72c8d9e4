"""The smallest or the largest first, as priorities."""

from __future__ import annotations

from functools import partial

import numpy as np

from analysis.experiments.reproduce.task import Rows, Task
from analysis.experiments.validation.chapter import Chapter
from analysis.experiments.validation.comparison import Arguments, Known, compare, system_tasks
from analysis.experiments.validation.measures import mean_wait, waits
from analysis.experiments.validation.settings import Settings
from analysis.experiments.validation.system import System
from analysis.queueing import priority_waits, single_server_wait
from serving_sim import Run
from serving_sim.request import FloatArray

_LONGEST = 30
_LENGTHS = np.arange(1.0, _LONGEST + 1)

SYSTEMS = tuple(System(1, f"uniform:low=1,high={_LONGEST}", 0.8, policy) for policy in ("fcfs", "sjf", "ljf"))

_MEASURES = (
    "On one slot, shortest and longest job first are nonpreemptive priorities with a class for each length "
    "(Cobham), first come first served is a single class. The mean wait weighted by length is the same for "
    "all of them (Kleinrock's conservation law)."
)


def tasks(settings: Settings) -> list[Task]:
    """One a policy."""
    return system_tasks("priorities", SYSTEMS, work, settings)


def work(system: Arguments, settings: Arguments) -> Rows:
    """Mean wait of all, of some lengths, and weighted by length."""
    simulated = System(**system)
    exact = _waits_by_length(simulated)
    known: Known = {
        "mean wait (steps)": (mean_wait, float(np.mean(exact))),
        "mean wait weighted by length (steps)": (_weighted, float(exact @ _LENGTHS / _LENGTHS.sum())),
    }
    by_length: Known = {
        f"mean wait of length {length} (steps)": (partial(_of_length, length), float(exact[length - 1]))
        for length in (1, 15, 30)
    }
    return compare(simulated, Settings(**settings), {**known, **by_length})


def _waits_by_length(system: System) -> FloatArray:
    rates = np.full(_LONGEST, system.rate / _LONGEST)
    if system.policy == "fcfs":
        square = float(np.mean(_LENGTHS**2))
        wait = single_server_wait(system.rate, system.distribution.mean, square) + 0.5
        return np.full(_LONGEST, wait)
    if system.policy == "sjf":
        return priority_waits(rates, _LENGTHS, slotted=True)
    return priority_waits(rates, _LENGTHS[::-1], slotted=True)[::-1]


def _weighted(run: Run, warmup: int) -> float:
    assert run.requests is not None
    return float(np.average(waits(run, warmup), weights=run.requests.length[warmup:]))


def _of_length(length: int, run: Run, warmup: int) -> float:
    assert run.requests is not None
    return float(np.mean(waits(run, warmup)[run.requests.length[warmup:] == length]))


CHAPTER = Chapter("priorities", "Shortest and longest first", _MEASURES, tasks)
