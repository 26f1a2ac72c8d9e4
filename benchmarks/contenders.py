"""What one would take in the place of the engines: a loop by hand, plain SimPy, Ciw.

All serve first come, first served. The loop keeps the step grid of the model and gives the results of the
engines to the bit; plain SimPy and Ciw know no grid, and agree with each other.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np
import simpy

from serving_sim.request import FloatArray


class Schedule(NamedTuple):
    """What the bare loop finds: a column each, and its turns."""

    start: list[float]
    finish: list[float]
    slot: list[int]
    turns: int


def bare_loop(release: list[float], length: list[int], slots: int) -> Schedule:
    """First come, first served on a step grid that restarts whenever the worker was empty."""
    count = len(length)
    start, finish, slot_of = [math.nan] * count, [math.nan] * count, [-1] * count
    free = list(range(slots))
    ends: list[int] = []  # last step * slots + slot
    step = joined = head = turns = 0
    now = anchor = 0.0
    anchor_step = 0
    release = [*release, math.inf]
    while head < count or ends:
        turns += 1
        if not ends and release[joined] > now:
            now = anchor = release[joined]
            anchor_step = step
        elif ends:
            target = ends[0] // slots
            if free and release[joined] < anchor + (target - anchor_step):
                ahead = math.ceil(release[joined] - anchor)
                while anchor + (ahead - 1) >= release[joined]:
                    ahead -= 1
                while anchor + ahead < release[joined]:
                    ahead += 1
                target = min(target, anchor_step + ahead)
            step = target
            now = anchor + (step - anchor_step)
            while ends and ends[0] // slots <= step:
                heappush(free, heappop(ends) % slots)
        while release[joined] <= now:
            joined += 1
        while head < joined and free:
            slot = heappop(free)
            end = step + length[head]
            start[head], slot_of[head] = now, slot
            finish[head] = anchor + (end - anchor_step)
            heappush(ends, end * slots + slot)
            head += 1
    return Schedule(start, finish, slot_of, turns)


def plain_simpy(release: list[float], length: list[int], slots: int) -> tuple[list[float], int]:
    """Finishes, and events scheduled, of one process per request on a resource."""
    environment = simpy.Environment()
    resource = simpy.Resource(environment, slots)
    finish = [math.nan] * len(length)

    def request(number: int) -> Generator[simpy.Event, Any, None]:
        yield environment.timeout(release[number])
        with resource.request() as turn:
            yield turn
            yield environment.timeout(length[number])
        finish[number] = environment.now

    for number in range(len(length)):
        environment.process(request(number))
    environment.run()
    return finish, next(environment._eid)  # noqa: SLF001  (SimPy counts events nowhere else)


def ciw_queue(release: list[float], length: list[int], slots: int) -> FloatArray:
    """Finishes in arrival order; Ciw counts no events."""
    import ciw  # optional, and it takes its time

    class Given(ciw.dists.Distribution):  # type: ignore[misc]
        """Ciw copies distributions, and its own Sequential holds what Python 3.14 does not copy."""

        def __init__(self, values: list[float]) -> None:
            self._values = iter(values)

        def sample(self, t: float | None = None, ind: object = None) -> float:
            return next(self._values)

    network = ciw.create_network(
        arrival_distributions=[Given([*np.diff(release, prepend=0.0), math.inf])],
        service_distributions=[Given([*length])],
        number_of_servers=[slots],
    )
    simulation = ciw.Simulation(network)
    simulation.simulate_until_max_customers(len(length), method="Finish")
    records = sorted(simulation.get_all_records(), key=lambda record: record.id_number)
    return np.array([record.exit_date for record in records])
