"""Waiting for a slot in M/M/c."""

from __future__ import annotations

from analysis.experiments.reproduce.task import Rows, Task
from analysis.experiments.validation.chapter import Chapter
from analysis.experiments.validation.comparison import Arguments, compare, system_tasks
from analysis.experiments.validation.measures import delayed, mean_wait
from analysis.experiments.validation.settings import Settings
from analysis.experiments.validation.system import System
from analysis.queueing import delay_probability

SYSTEMS = (
    System(4, "geometric:mean=10000", 0.9),
    System(32, "geometric:mean=10000", 0.8),
    System(32, "geometric:mean=10000", 0.95),
)

_MEASURES = (
    "Geometric lengths of mean 10,000 are exponential but for steps that are a ten-thousandth of them: the "
    "share of requests that wait is Erlang's C(B, a) with a = B * load, and their mean wait is "
    "C / (B - a) mean lengths and half a step."
)


def tasks(settings: Settings) -> list[Task]:
    """One a system."""
    return system_tasks("erlang", SYSTEMS, work, settings)


def work(system: Arguments, settings: Arguments) -> Rows:
    """Share that waits, and mean wait."""
    simulated = System(**system)
    offered = simulated.slots * simulated.load
    waiting = delay_probability(simulated.slots, offered)
    wait = waiting / (simulated.slots - offered) * simulated.distribution.mean + 0.5
    known = {"share that waits for a slot": (delayed, waiting), "mean wait (steps)": (mean_wait, wait)}
    return compare(simulated, Settings(**settings), known)


CHAPTER = Chapter("erlang", "Erlang's formula", _MEASURES, tasks)
