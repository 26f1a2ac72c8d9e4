"""The best of all lower bounds, with releases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numpy.typing import ArrayLike

from analysis.bounds.pool import Pool
from analysis.bounds.steps import BOUNDS
from serving_sim.request import FloatArray, Workload

EVALUATIONS = 256
"""Instants the search over releases looks at; with no more distinct releases it is exhaustive."""


@dataclass(frozen=True)
class Bound:
    """A proven lower bound on the makespan.

    Attributes
    ----------
    value : int or float
        The bound in steps from time 0; an int where all releases are whole.
    name : str
        Which bound gave it: a key of `analysis.bounds.steps.BOUNDS`.
    since : int or float
        Release the bound counts from: that of the earliest request it looks at.
    """

    value: float
    name: str
    since: float = 0


def best_lower_bound(
    lengths: ArrayLike, slots: int, alpha: int | None = None, releases: ArrayLike | None = None
) -> Bound:
    """Best proven lower bound on the makespan of any alpha-fair nonpreemptive schedule.

    Parameters
    ----------
    lengths : array_like of int, shape (n,)
        Steps each request needs, whole and >= 1.
    slots : int
        Requests that fit into a batch, >= 1.
    alpha : int or None
        Fairness budget in tokens; None admits unfair schedules too.
    releases : array_like of float, shape (n,), optional
        Release of each request in steps, >= 0, whole or not; all 0 by default.

    Returns
    -------
    Bound
        ``max over r of r + bound(requests released at or after r)``. Real releases need no care:
        requests released from r on are served in whole steps that start at r or later, so a number
        of steps they need can be added to r as it stands.

    Raises
    ------
    ValueError
        If a value breaks a rule; the message names it.

    Notes
    -----
    O(n log n) for requests released together, 256 times O(n) for others: where there are more
    distinct releases than that, some r may be left out, which weakens the bound and keeps it valid.
    """
    if releases is None:
        releases = np.zeros(np.shape(lengths))
    workload = Workload(releases, lengths)
    pool = Pool(workload.length, slots, alpha)
    return best_over_releases(workload, workload.release, pool, best_steps)


def best_steps(pool: Pool) -> tuple[int, str]:
    """Largest bound on the steps of a pool and its name."""
    values = {name: bound(pool) for name, bound in BOUNDS.items()}
    name = max(values, key=values.__getitem__)  # the first of equals
    return values[name], name


def best_over_releases(
    workload: Workload, releases: FloatArray, pool: Pool, least_time: Callable[[Pool], tuple[float, str]]
) -> Bound:
    """Largest ``r + least_time(requests released at or after r)``.

    Parameters
    ----------
    workload : Workload
        The requests.
    releases : ndarray of float, shape (n,)
        When each can start at the earliest.
    pool : Pool
        The same requests as if released together.
    least_time : callable
        Time that a pool needs at least, and the name of the argument; must not become smaller when
        a request is added.
    """
    instants, rank = np.unique(releases, return_inverse=True)
    rank_of_sorted = rank[np.argsort(workload.length, kind="stable")[::-1]]

    def time_from(k: int) -> tuple[float, str]:
        return least_time(pool.keep(rank_of_sorted >= k))

    return _search(_whole_if_possible(instants), time_from)


def _search(instants: Sequence[float], time_from: Callable[[int], tuple[float, str]]) -> Bound:
    """Largest ``instants[k] + time_from(k)`` for a function that never rises with k.

    Branch and bound: over k = low .. high the sum is at most ``instants[high] + time_from(low)``.
    """
    last = len(instants) - 1
    time, name = time_from(0)
    best = Bound(instants[0] + time, name, instants[0])
    ranges = [(-(instants[last] + time), 0, last, time)]
    for _ in range(EVALUATIONS):
        ceiling, low, high, time = heappop(ranges)
        if -ceiling <= best.value:
            break
        middle = (low + high + 1) // 2
        right, name = time_from(middle)
        best = max(best, Bound(instants[middle] + right, name, instants[middle]), key=lambda b: b.value)
        heappush(ranges, (-(instants[middle - 1] + time), low, middle - 1, time))
        heappush(ranges, (-(instants[high] + right), middle, high, right))
    return best


def _whole_if_possible(instants: FloatArray) -> list[float]:
    """The instants as Python ints where all are whole, so that sums with steps stay exact."""
    whole = bool(np.all(instants == np.floor(instants)))
    return [int(instant) for instant in instants] if whole else instants.tolist()
