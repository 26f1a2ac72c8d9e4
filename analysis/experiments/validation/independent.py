"""Another simulator, written by others for continuous time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

from analysis.experiments.reproduce.task import Rows, Task
from analysis.experiments.validation.chapter import Chapter
from analysis.experiments.validation.check import Check, standard_error
from analysis.experiments.validation.comparison import Arguments, system_tasks
from analysis.experiments.validation.little import little_check, little_distance
from analysis.experiments.validation.measures import mean_wait
from analysis.experiments.validation.settings import Settings
from analysis.experiments.validation.system import System
from analysis.queueing.lengths import length_probabilities

SYSTEMS = (
    System(1, "uniform:low=1,high=30", 0.8),
    System(4, "uniform:low=1,high=30", 0.8),
    System(32, "uniform:low=1,high=30", 0.9),
    System(4, "geometric:mean=10", 0.9),
)

_MEASURES = (
    "Ciw (Palmer, Knight, Harper and Hawa 2019, 'Ciw: an open-source discrete event simulation library') "
    "simulates the continuous queue M/G/B, also where no formula is known. The mean wait in slotted time is "
    "half a step longer. The standard error is that of both simulators together. The first and the last "
    "system are known exactly as well, 40.667 and 18.711, so it shows which of the two errs by chance."
)


def tasks(settings: Settings) -> list[Task]:
    """One a system; none where Ciw is missing."""
    return [] if absent() else system_tasks("independent", SYSTEMS, work, settings)


def absent() -> str | None:
    """Why there is nothing to compare with."""
    return None if find_spec("ciw") else "Left out: Ciw is not installed, the extra 'test' brings it."


def work(system: Arguments, settings: Arguments) -> Rows:
    """Mean waits of both simulators."""
    simulated, size = System(**system), Settings(**settings)
    ours, distances = [], []
    for run in simulated.replicate(size):
        ours.append(mean_wait(run, size.warmup) - 0.5)
        distances.append(little_distance(run))
    others = list(_mean_waits(simulated, size))
    error = math.hypot(standard_error(ours), standard_error(others))
    quantity = "mean wait - 1/2 (steps), against Ciw"
    check = Check(simulated.name, quantity, float(np.mean(ours)), float(np.mean(others)), error)
    return [check.to_row(), little_check(simulated.name, distances).to_row()]


def _mean_waits(system: System, settings: Settings) -> Iterator[float]:
    import ciw

    probabilities = length_probabilities(system.distribution)
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(system.rate)],
        service_distributions=[ciw.dists.Pmf(list(range(len(probabilities))), probabilities.tolist())],
        number_of_servers=[system.slots],
    )
    for seed in system.seeds(settings.seed).generate_state(settings.replications):
        ciw.seed(int(seed))  # Ciw draws from global generators alone
        simulation = ciw.Simulation(network)
        simulation.simulate_until_max_customers(settings.other_requests, method="Finish")
        records: list[Any] = sorted(simulation.get_all_records(), key=lambda record: record.arrival_date)
        yield float(np.mean([record.waiting_time for record in records[settings.other_requests // 10 :]]))


CHAPTER = Chapter("independent", "An independent simulator", _MEASURES, tasks, absent)
