"""Schedules of policies and of the optimum, as the claims show them."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.experiments.claims.cases import Case
from analysis.experiments.claims.claim import Counterexample, Schedule
from analysis.optimum import Optimum, check_schedule, optimum
from serving_sim import Policy, Run, simulate
from workloads.adversaries import Instance

_TIME_LIMIT = 120.0
"""Seconds; the instances of the claims take milliseconds."""


def serve(case: Case, policy: Policy) -> Run:
    """Run a policy on a case, audited with the budget of the instance.

    Where there are upper predictions the policy sees them in the place of the lengths.
    """
    return simulate(
        case.workload,
        policy,
        slots=case.instance.slots,
        alpha=case.instance.alpha,
        information="exact" if case.upper is None else "interval",
    )


def least_makespan(instance: Instance) -> Optimum:
    """The exact optimum over alpha-fair schedules.

    Raises
    ------
    RuntimeError
        If the solver ran out of time: no claim is judged by a guess.
    """
    best = optimum(
        instance.lengths, instance.slots, instance.alpha, instance.releases, time_limit=_TIME_LIMIT
    )
    if not best.proven:
        raise RuntimeError(f"{instance}: not solved within {_TIME_LIMIT:g} s")
    return best


def played(run: Run) -> Schedule:
    """The schedule of a run in whole steps."""
    start = tuple(int(begin) for begin in run.start)
    return Schedule(run.policy, start, tuple(run.slot.tolist()), int(run.makespan))


def shortest(instance: Instance) -> Schedule:
    """The first in lexicographic order of all shortest alpha-fair schedules, checked independently.

    A solver may return any of them, another on another machine.
    """
    makespan = least_makespan(instance).upper
    start = _first_schedule(instance, makespan)
    found = check_schedule(start, instance.lengths, instance.slots, instance.alpha, instance.releases)
    assert found == makespan
    return Schedule("optimum", start, slots_of(start, instance.lengths), makespan)


def against_optimum(case: Case, policy: Policy) -> Counterexample:
    """What ``policy`` does beside a shortest schedule of the same requests."""
    return Counterexample(case.instance, played(serve(case, policy)), shortest(case.instance), case.upper)


def by_itself(case: Case, policy: Policy) -> Counterexample:
    """What ``policy`` does, where the optimum has no part in the claim."""
    return Counterexample(case.instance, played(serve(case, policy)), upper=case.upper)


def slots_of(start: Sequence[int], lengths: Sequence[int]) -> tuple[int, ...]:
    """Slots for given starts: each request takes the lowest one free when it starts."""
    free_at: list[int] = []
    slots = [0] * len(start)
    for request in sorted(range(len(start)), key=lambda request: (start[request], request)):
        slot = next((slot for slot, end in enumerate(free_at) if end <= start[request]), len(free_at))
        if slot == len(free_at):
            free_at.append(0)
        free_at[slot] = start[request] + lengths[request]
        slots[request] = slot
    return tuple(slots)


def _first_schedule(instance: Instance, makespan: int) -> tuple[int, ...]:
    lengths = instance.lengths
    releases = instance.releases or (0,) * len(lengths)
    start: list[int] = []

    def place() -> bool:
        request = len(start)
        if request == len(lengths):
            return True
        for begin in range(releases[request], makespan - lengths[request] + 1):
            start.append(begin)
            if _fits_the_last(instance, start) and place():
                return True
            start.pop()
        return False

    found = place()
    assert found, "a schedule of this makespan exists"
    return tuple(start)


def _fits_the_last(instance: Instance, start: Sequence[int]) -> bool:
    """Whether the last of the requests placed so far overlaps fairly and finds a slot."""
    *others, begin = start
    end = begin + instance.lengths[len(others)]
    beside = [
        (other, other + length)
        for other, length in zip(others, instance.lengths, strict=False)
        if other < end and other + length > begin
    ]
    if any(abs(other - begin) > instance.alpha for other, _ in beside):
        return False
    instants = [begin, *(other for other, _ in beside if other > begin)]
    return all(sum(left <= t < right for left, right in beside) < instance.slots for t in instants)
