"""Quick schedules that solvers start from."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from analysis.optimum.deadline import Deadline, OutOfTimeError
from analysis.optimum.instance import Instance

Starts = tuple[int, ...]


def best_heuristic(instance: Instance, deadline: Deadline) -> Starts:
    """The shortest of the schedules below that are made in time, equal requests in input order."""
    best = batch_in_order(instance, _longest_first(instance))  # takes next to no time
    with suppress(OutOfTimeError):
        for other in _insertions(instance, deadline):
            best = min(best, other, key=instance.makespan)
    return instance.in_twin_order(best)


def insert_in_order(instance: Instance, order: Iterable[int], deadline: Deadline) -> Starts:
    """Give each request in turn the earliest start that fits those already placed.

    A later request may start before an earlier one: gaps are filled.

    Raises
    ------
    OutOfTimeError
        If the deadline passes before all are placed.
    """
    start: dict[int, int] = {}
    for request in order:
        deadline.check()
        start[request] = _earliest_fit(instance, start, request)
    return tuple(start[request] for request in range(len(instance)))


def batch_in_order(instance: Instance, order: Iterable[int]) -> Starts:
    """Fill the slots, run the batch until it is empty, fill them again; fair for every alpha.

    From the longest request on this is LJF.
    """
    waiting = list(order)
    start = [0] * len(instance)
    now = 0
    while waiting:
        now = max(now, min(instance.releases[request] for request in waiting))
        batch = [request for request in waiting if instance.releases[request] <= now][: instance.slots]
        placed = set(batch)
        waiting = [request for request in waiting if request not in placed]
        for request in batch:
            start[request] = now
        now += max(instance.lengths[request] for request in batch)
    return tuple(start)


def _insertions(instance: Instance, deadline: Deadline) -> Iterable[Starts]:
    longest_first = _longest_first(instance)
    shortest_first = longest_first[::-1]
    for order in (longest_first, shortest_first):
        yield insert_in_order(instance, order, deadline)
        yield insert_in_order(instance, sorted(order, key=lambda i: instance.releases[i]), deadline)
    some = max(1, len(instance) // 16)  # the time a schedule takes grows with the cube of n
    for short in range(1, len(instance), some):  # short requests first let long ones join late
        order = shortest_first[:short] + longest_first[: len(instance) - short]
        yield insert_in_order(instance, order, deadline)


def _longest_first(instance: Instance) -> list[int]:
    return sorted(range(len(instance)), key=lambda i: -instance.lengths[i])


def _earliest_fit(instance: Instance, start: dict[int, int], request: int) -> int:
    """The earliest start is a release, an end, or alpha before another start: there things change."""
    release, alpha = instance.releases[request], instance.alpha
    ends = {begin + instance.lengths[other] for other, begin in start.items()}
    early = {begin - alpha for begin in start.values()}
    instants = sorted(instant for instant in {release} | ends | early if instant >= release)
    return next(instant for instant in instants if _fits(instance, start, request, instant))


def _fits(instance: Instance, start: dict[int, int], request: int, instant: int) -> bool:
    end = instant + instance.lengths[request]
    overlapping = [
        other for other, begin in start.items() if begin < end and begin + instance.lengths[other] > instant
    ]
    if any(abs(start[other] - instant) > instance.alpha for other in overlapping):
        return False
    # The load of the overlapping requests is largest where one of them starts, or at the instant.
    return all(
        sum(start[j] <= moment < start[j] + instance.lengths[j] for j in overlapping) < instance.slots
        for moment in {instant} | {start[i] for i in overlapping if start[i] >= instant}
    )
