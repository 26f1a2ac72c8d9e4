"""Least makespan of a tiny instance by trying everything: one token a turn, every set of admissions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

Active = tuple[tuple[int, int], ...]
"""Of each running request: tokens to go, tokens made."""
Waiting = tuple[tuple[int, int], ...]
"""Of each waiting request: length, release."""


def least_makespan(
    lengths: Sequence[int], slots: int, alpha: int | None, releases: Sequence[int] | None = None
) -> int:
    """Breadth-first search over time; a state is who runs, how far, and who waits."""
    start: Waiting = tuple(sorted(zip(lengths, releases or [0] * len(lengths), strict=True)))
    states: set[tuple[Active, Waiting]] = {((), start)}
    now = 0
    while ((), ()) not in states:
        states = {after for state in states for after in _after_a_step(*state, now, slots, alpha)}
        now += 1
    return now


def _after_a_step(
    active: Active, waiting: Waiting, now: int, slots: int, alpha: int | None
) -> Iterator[tuple[Active, Waiting]]:
    for admitted in _admissions(active, waiting, now, slots, alpha):
        batch = active + tuple((waiting[i][0], 0) for i in admitted)
        left = tuple(request for i, request in enumerate(waiting) if i not in admitted)
        yield tuple(sorted((togo - 1, made + 1) for togo, made in batch if togo > 1)), left


def _admissions(
    active: Active, waiting: Waiting, now: int, slots: int, alpha: int | None
) -> Iterator[tuple[int, ...]]:
    yield ()
    if alpha is not None and any(made > alpha for _, made in active):
        return
    there = [i for i, (_, release) in enumerate(waiting) if release <= now]
    for count in range(1, min(slots - len(active), len(there)) + 1):
        yield from combinations(there, count)
