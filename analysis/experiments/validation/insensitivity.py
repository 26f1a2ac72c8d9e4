"""Where the mean of the lengths alone counts."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import stats

from analysis.experiments.reproduce.task import Rows, Task
from analysis.experiments.validation.chapter import Chapter
from analysis.experiments.validation.comparison import Arguments, Known, compare, system_tasks
from analysis.experiments.validation.settings import Settings
from analysis.experiments.validation.system import System
from serving_sim import Run
from serving_sim.request import IntArray

_SLOTS = 64
_OFFERED = 8.0

SYSTEMS = tuple(
    System(_SLOTS, lengths, _OFFERED / _SLOTS)
    for lengths in ("fixed:length=16", "uniform:low=1,high=31", "geometric:mean=16")
)

_MEASURES = (
    "With more slots than anybody needs, nobody waits for one, and the number of requests in a step is "
    f"Poisson of mean {_OFFERED:g} whatever the lengths, as long as their mean is the same (M/G/infinity: "
    "Erlang 1917, Sevastyanov 1957). Mean, variance and a tail of that number are compared."
)


def tasks(settings: Settings) -> list[Task]:
    """One a distribution of lengths."""
    return system_tasks("insensitivity", SYSTEMS, work, settings)


def work(system: Arguments, settings: Arguments) -> Rows:
    """Moments and tail of the number in a step."""
    many = 12
    known: Known = {
        "mean number in a step": (_mean, _OFFERED),
        "mean squared distance of the number from 8": (_variance, _OFFERED),
        f"share of steps with more than {many}": (
            partial(_beyond, many),
            float(stats.poisson.sf(many, _OFFERED)),
        ),
    }
    return compare(System(**system), Settings(**settings), known)


def _numbers(run: Run, warmup: int) -> IntArray:
    """Requests in each step from the last release of the warm-up to the last release."""
    assert run.requests is not None
    first, last = run.requests.release[[warmup, -1]].astype(np.int64)
    begin = np.bincount(run.start.astype(np.int64), minlength=last)[:last]
    end = np.bincount(run.finish.astype(np.int64), minlength=last)[:last]
    return np.cumsum(begin - end)[first:]


def _mean(run: Run, warmup: int) -> float:
    return float(np.mean(_numbers(run, warmup)))


def _variance(run: Run, warmup: int) -> float:
    return float(np.mean((_numbers(run, warmup) - _OFFERED) ** 2))


def _beyond(many: int, run: Run, warmup: int) -> float:
    return float(np.mean(_numbers(run, warmup) > many))


CHAPTER = Chapter("insensitivity", "Insensitivity to the lengths", _MEASURES, tasks)
