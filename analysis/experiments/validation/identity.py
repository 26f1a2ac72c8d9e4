"""Request by request: slotted starts are the continuous ones, rounded up."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from analysis.experiments.reproduce.task import Rows, Task
from analysis.experiments.validation.chapter import Chapter
from analysis.experiments.validation.check import Check
from analysis.experiments.validation.comparison import Arguments
from analysis.experiments.validation.little import little_check, little_distance
from analysis.experiments.validation.settings import Settings
from analysis.experiments.validation.system import System
from analysis.queueing import continuous_starts

SYSTEMS = tuple(
    System(slots, "geometric:mean=50", 0.9, arrivals=f"gamma:burstiness={burstiness}")
    for slots in (1, 4, 32)
    for burstiness in (0.25, 1, 4)
)

_MEASURES = (
    "First come, first served in slotted time starts every request at the ceiling of its start in the "
    "continuous queue G/G/B (Kiefer and Wolfowitz), for any arrivals and whole lengths: a slot that is free "
    "at a whole time stays free until the next one. So one request that starts elsewhere refutes the "
    "simulator; nothing here is a matter of chance."
)


def tasks(settings: Settings) -> list[Task]:
    """One a system."""
    arguments = {"seed": settings.seed, "requests": settings.identity_requests}
    return [
        Task(f"identity/system-{place}", work, {"system": asdict(system), **arguments})
        for place, system in enumerate(SYSTEMS)
    ]


def work(system: Arguments, seed: int, requests: int) -> Rows:
    """Count the requests that start elsewhere."""
    simulated = System(**system)
    run = simulated.run(requests, simulated.seeds(seed))
    assert run.requests is not None
    elsewhere = run.start != np.ceil(continuous_starts(run.requests, simulated.slots))
    quantity = f"starts that differ, of {requests:,}"
    mismatches = Check(simulated.name, quantity, float(np.count_nonzero(elsewhere)), 0.0)
    return [mismatches.to_row(), little_check(simulated.name, [little_distance(run)]).to_row()]


CHAPTER = Chapter("identity", "Every start, against the recursion", _MEASURES, tasks)
