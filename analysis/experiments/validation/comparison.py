"""Simulate a system and hold what its runs tell against what is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from analysis.experiments.reproduce.task import Rows, Task
from analysis.experiments.validation.check import estimated
from analysis.experiments.validation.little import little_check, little_distance
from analysis.experiments.validation.settings import Settings
from analysis.experiments.validation.system import System
from serving_sim import Run

Arguments = dict[str, Any]
"""A dataclass as keyword arguments, which a task keeps as JSON."""

Known = Mapping[str, tuple[Callable[[Run, int], float], float]]
"""By quantity: its value in a run without so many first requests, and its exact value."""


def system_tasks(
    chapter: str, systems: Sequence[System], work: Callable[..., Rows], settings: Settings
) -> list[Task]:
    """One task a system; ``work`` takes system and settings as keyword arguments."""
    return [
        Task(f"{chapter}/system-{place}", work, {"system": asdict(system), "settings": asdict(settings)})
        for place, system in enumerate(systems)
    ]


def compare(system: System, settings: Settings, known: Known) -> Rows:
    """One check a quantity over independent runs, and Little's law in each of them."""
    found: dict[str, list[float]] = {quantity: [] for quantity in known}
    distances = []
    for run in system.replicate(settings):
        for quantity, (value, _) in known.items():
            found[quantity].append(value(run, settings.warmup))
        distances.append(little_distance(run))
    checks = [
        estimated(system.name, quantity, values, known[quantity][1]) for quantity, values in found.items()
    ]
    return [check.to_row() for check in (*checks, little_check(system.name, distances))]
