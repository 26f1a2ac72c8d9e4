"""Search for instances on which a policy does badly, by hill climbing with restarts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from time import monotonic

import numpy as np
from joblib import delayed

from analysis.bounds import best_lower_bound
from analysis.optimum import Optimum, optimum
from analysis.workers import results
from policies import parse_policy, states
from serving_sim import simulate
from workloads.adversaries import Instance


@dataclass(frozen=True)
class Space:
    """Where to search.

    Attributes
    ----------
    slots : int
        Slots of every instance.
    most_requests : int
        Largest number of requests.
    longest : int
        Largest length in tokens, and largest alpha: a larger one would allow no more.
    latest : int
        Latest release in steps; 0 searches backlogs.
    """

    slots: int
    most_requests: int = 6
    longest: int = 24
    latest: int = 0


@dataclass(frozen=True)
class Found:
    """An instance with the makespan of the policy and the proven optimum.

    Attributes
    ----------
    instance : Instance
        The requests, slots and alpha.
    makespan : int
        Of the policy, in steps.
    optimum : Optimum
        The best schedule, proven; alpha-fair where the policy promises fairness.
    """

    instance: Instance
    makespan: int
    optimum: Optimum

    @property
    def ratio(self) -> Fraction:
        """Optimum over makespan: the share of the best throughput the policy reached, exact."""
        return Fraction(self.optimum.upper, self.makespan)


def assess(
    policy: str, instance: Instance, *, at_most: Fraction | None = None, time_limit: float = 10.0
) -> Found | None:
    """The policy on an instance beside the optimum.

    None if the optimum was not proven in time, or if a quick bound shows that the ratio exceeds
    ``at_most``: most steps of a climb are dismissed so, without a solver.
    """
    scheduler = parse_policy(policy, defaults={"alpha": instance.alpha})
    makespan = round(simulate(instance.workload, scheduler, slots=instance.slots).makespan)
    # a policy that promises no fairness competes with all schedules
    budget = None if scheduler.alpha is None else instance.alpha
    problem = (instance.lengths, instance.slots, budget, instance.releases)
    if at_most is not None and best_lower_bound(*problem).value > at_most * makespan:
        return None
    best = optimum(*problem, time_limit=time_limit)
    return Found(instance, makespan, best) if best.proven else None


def search(
    policy: str,
    space: Space,
    *,
    seed: int = 0,
    steps: int = 10_000,
    seconds: float = inf,
    workers: int = 2,
) -> Found:
    """The worst instance found for a policy, shrunk.

    Climbs from random instances towards smaller ratios, one length, release or the budget at a time,
    and starts again when a climb stalls. Every ratio is exact: the optimum is proven for the very
    instance.

    Parameters
    ----------
    policy : str
        As on the command line; its alpha is the instance's.
    space : Space
        Where to search.
    seed : int
        Of the climbs; worker k climbs with the k-th stream spawned from it.
    steps : int
        Instances each worker tries. The same seed and steps find the same instance, as long as no machine
        is so slow, or so busy, that it misses an optimum which another proves within `_PROOF` seconds.
    seconds : float
        Wall-clock time after which a worker stops early; shrinking comes on top.
    workers : int
        Processes.

    Returns
    -------
    Found
        No request can be dropped, no length, release or budget lowered without a better ratio.

    Raises
    ------
    ValueError
        If the policy's text says its alpha.
    """
    if states(policy, "alpha"):
        raise ValueError(f"policy={policy!r}: must leave alpha open, each instance has its own")
    streams = np.random.SeedSequence(seed).spawn(workers)
    calls = [delayed(_climb)(policy, space, stream, steps, seconds) for stream in streams]
    climbs = results(calls, workers, in_order=True)
    return shrink(policy, min(climbs, key=_badness))


def shrink(policy: str, found: Found) -> Found:
    """The same or a worse ratio with fewer requests, smaller lengths, releases and budget."""
    smaller = _first_not_better(policy, found, _reductions(found.instance))
    while smaller is not None:
        found = smaller
        smaller = _first_not_better(policy, found, _reductions(found.instance))
    return found


def _first_not_better(policy: str, found: Found, candidates: Iterator[Instance]) -> Found | None:
    for candidate in candidates:
        tried = assess(policy, candidate, at_most=found.ratio)
        if tried is not None and tried.ratio <= found.ratio:
            return tried
    return None


def _reductions(instance: Instance) -> Iterator[Instance]:
    lengths, releases = instance.lengths, instance.releases
    for k in range(len(instance) - 1, -1, -1):
        if len(instance) > 1:
            yield replace(instance, lengths=_without(lengths, k), releases=releases and _without(releases, k))
    for divisor in (2, 3):
        scaled = tuple(max(1, length // divisor) for length in lengths)
        if scaled != lengths:
            yield replace(instance, lengths=scaled, alpha=instance.alpha // divisor)
    if releases is not None:
        yield from (
            replace(instance, releases=_with(releases, k, value - 1))
            for k, value in enumerate(releases)
            if value
        )
    yield from (
        replace(instance, lengths=_with(lengths, k, value - 1))
        for k, value in enumerate(lengths)
        if value > 1
    )
    if instance.alpha:
        yield replace(instance, alpha=instance.alpha - 1)


def _climb(policy: str, space: Space, stream: np.random.SeedSequence, steps: int, seconds: float) -> Found:
    deadline = monotonic() + seconds
    rng = np.random.default_rng(stream)
    worst = _start(policy, space, rng)
    here, stalled = worst, 0
    for _ in range(steps):
        if monotonic() > deadline:
            break
        if stalled > _PATIENCE * len(here.instance):
            here, stalled = _start(policy, space, rng), 0
        neighbour = _neighbour(here.instance, space, rng)
        tried = assess(policy, neighbour, at_most=here.ratio, time_limit=_PROOF)
        if tried is not None and tried.ratio <= here.ratio:
            stalled = stalled + 1 if tried.ratio == here.ratio else 0  # walk along plateaus, not for ever
            here = tried
        else:
            stalled += 1
        worst = min(worst, here, key=_badness)
    return worst


_PROOF = 2.0
"""Seconds for the optimum of one step; an instance whose optimum takes longer is passed over."""

_PATIENCE = 30
"""Fruitless steps per request before a climb starts again."""


def _badness(found: Found) -> tuple[Fraction, int, int]:
    return found.ratio, len(found.instance), sum(found.instance.lengths)


def _start(policy: str, space: Space, rng: np.random.Generator) -> Found:
    found = None
    while found is None:
        found = assess(policy, _random_instance(space, rng), time_limit=_PROOF)
    return found


def _random_instance(space: Space, rng: np.random.Generator) -> Instance:
    count = int(rng.integers(space.slots, space.most_requests + 1))
    releases = rng.integers(0, space.latest + 1, count) if space.latest else None
    return Instance(
        lengths=tuple(rng.integers(1, space.longest + 1, count).tolist()),
        slots=space.slots,
        alpha=int(rng.integers(1, space.longest)),
        releases=None if releases is None else tuple(releases.tolist()),
    )


def _neighbour(instance: Instance, space: Space, rng: np.random.Generator) -> Instance:
    moves: list[Callable[[], Instance]] = [
        lambda: replace(instance, lengths=_changed(instance.lengths, 1, space.longest, rng)),
        lambda: replace(instance, lengths=_copied(instance.lengths, rng)),
        lambda: replace(instance, alpha=_moved(instance.alpha, 0, space.longest, rng)),
        lambda: _resized(instance, space, rng),
    ]
    releases = instance.releases
    if releases is not None:
        moves.append(lambda: replace(instance, releases=_changed(releases, 0, space.latest, rng)))
    return moves[int(rng.integers(len(moves)))]()


def _resized(instance: Instance, space: Space, rng: np.random.Generator) -> Instance:
    lengths, releases = instance.lengths, instance.releases
    k = int(rng.integers(len(instance)))
    if len(instance) < space.most_requests and rng.random() < 0.5:
        grown = (*lengths, int(rng.integers(1, space.longest + 1)))
        late = None if releases is None else (*releases, int(rng.integers(space.latest + 1)))
        return replace(instance, lengths=grown, releases=late)
    if len(instance) == 1:
        return instance
    return replace(instance, lengths=_without(lengths, k), releases=releases and _without(releases, k))


def _changed(values: tuple[int, ...], low: int, high: int, rng: np.random.Generator) -> tuple[int, ...]:
    k = int(rng.integers(len(values)))
    return _with(values, k, _moved(values[k], low, high, rng))


def _moved(value: int, low: int, high: int, rng: np.random.Generator) -> int:
    if rng.random() < 0.2:  # a leap now and then
        return int(rng.integers(low, high + 1))
    return int(np.clip(value + rng.choice([-2, -1, 1, 2]), low, high))


def _copied(values: tuple[int, ...], rng: np.random.Generator) -> tuple[int, ...]:
    k, source = rng.integers(len(values), size=2)
    return _with(values, int(k), values[int(source)])


def _with(values: tuple[int, ...], k: int, value: int) -> tuple[int, ...]:
    return (*values[:k], value, *values[k + 1 :])


def _without(values: tuple[int, ...], k: int) -> tuple[int, ...]:
    return (*values[:k], *values[k + 1 :])
