"""Hardly any traffic, and nearly too much."""

from __future__ import annotations

from functools import partial

from analysis.experiments.reproduce.task import Rows, Task
from analysis.experiments.validation.chapter import Chapter
from analysis.experiments.validation.comparison import Arguments, compare, system_tasks
from analysis.experiments.validation.measures import mean_wait
from analysis.experiments.validation.settings import Settings
from analysis.experiments.validation.system import System
from analysis.queueing import heavy_traffic_wait, slotted_fcfs
from serving_sim import Run

_LIGHT = System(1, "uniform:low=1,high=30", 0.002)
_MEAN, _SQUARE = 15.5, 315 + 1 / 6
_HEAVY = (
    (1, "uniform:low=1,high=30", _SQUARE / _MEAN**2 - 1),
    (4, "fixed:length=10", 0.0),
    (4, "geometric:mean=10", 0.9),
)
"""Slots, lengths and their squared coefficient of variation."""

_MEASURES = (
    "In light traffic a request on one slot waits for the end of the step and, rarely, for one other: "
    "(mean wait - 1/2) over rate E[o^2] / 2 tends to 1. In heavy traffic the mean wait over "
    "(1 + c^2) / 2 E[o] / (B (1 - load)) tends to 1 (Kingman; Kollerstrom). The ratio in light traffic is "
    "held against the limit itself, at a load where theory is as near to it as the simulation; the ratios "
    "in heavy traffic against their exact values, which show how far the limit still is."
)


def tasks(settings: Settings) -> list[Task]:
    """One for light traffic, and one for each system and load towards heavy traffic."""
    heavy = [System(slots, lengths, load) for slots, lengths, _ in _HEAVY for load in settings.loads]
    return [
        *system_tasks("limits/light", [_LIGHT], light, settings),
        *system_tasks("limits/heavy", heavy, work, settings),
    ]


def light(system: Arguments, settings: Arguments) -> Rows:
    """Wait over its first-order term."""
    simulated = System(**system)
    first_order = simulated.rate * _SQUARE / 2
    quantity = "(mean wait - 1/2) / first-order term"
    return compare(simulated, Settings(**settings), {quantity: (partial(_ratio, 0.5, first_order), 1.0)})


def work(system: Arguments, settings: Arguments) -> Rows:
    """Wait over its limit."""
    simulated = System(**system)
    lengths = simulated.distribution
    scv = next(scv for slots, text, scv in _HEAVY if (slots, text) == (simulated.slots, simulated.lengths))
    limit = heavy_traffic_wait(simulated.slots, simulated.load, lengths.mean, scv)
    exact = slotted_fcfs(simulated.slots, lengths, simulated.rate).mean_wait
    known = {"mean wait / heavy-traffic limit": (partial(_ratio, 0.0, limit), exact / limit)}
    return compare(simulated, Settings(**settings), known)


def _ratio(less: float, over: float, run: Run, warmup: int) -> float:
    return (mean_wait(run, warmup) - less) / over


CHAPTER = Chapter("limits", "Light and heavy traffic", _MEASURES, tasks)
