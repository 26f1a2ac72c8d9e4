"""Least makespan of an alpha-fair schedule, or the interval that holds it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Literal, get_args

from numpy.typing import ArrayLike

from analysis.bounds import best_lower_bound
from analysis.optimum.bracket import Bracket
from analysis.optimum.deadline import Deadline
from analysis.optimum.feasibility import check_schedule
from analysis.optimum.heuristics import best_heuristic
from analysis.optimum.instance import Instance
from policies.parameters import check_count

Solver = Literal["cp-sat", "milp"]


@dataclass(frozen=True)
class Optimum(Bracket):
    """What a solver found out about the least makespan.

    Attributes
    ----------
    lower, upper : int
        Proven bound, and makespan of the schedule found, in steps; equal where it is the optimum.
    start : tuple of int
        The schedule: the step at which each request starts.
    solver : str
        Which one: ``"cp-sat"`` or ``"milp"``.
    seconds : float
        Wall-clock time it took.
    """

    solver: Solver
    seconds: float


def optimum(
    lengths: ArrayLike,
    slots: int,
    alpha: int | None,
    releases: ArrayLike | None = None,
    *,
    solver: Solver = "cp-sat",
    time_limit: float = 10.0,
    workers: int = 1,
) -> Optimum:
    """Least makespan of an alpha-fair nonpreemptive schedule, in steps.

    Parameters
    ----------
    lengths : array_like of int, shape (n,)
        Steps each request needs, whole and >= 1.
    slots : int
        Requests that may run at the same time, >= 1.
    alpha : int or None
        Requests that overlap start at most this many steps apart; None asks for no fairness.
    releases : array_like of int, shape (n,), optional
        Earliest start of each request, whole and >= 0; all 0 by default.
    solver : {"cp-sat", "milp"}
        OR-tools CP-SAT, or the paper's integer program with HiGHS.
    time_limit : float
        Wall-clock seconds for everything, > 0 and finite: quick schedules, model and search.
    workers : int
        Threads of CP-SAT, >= 1; HiGHS has one.

    Returns
    -------
    Optimum
        A bracket: proven where ``lower == upper``, an interval past the time limit.

    Raises
    ------
    ValueError
        If a value breaks a rule; the message names it.
    ImportError
        If OR-tools is needed and not installed; the message names the extra.
    """
    instance = Instance.of(lengths, slots, alpha, releases)
    if not 0 < time_limit < math.inf:
        raise ValueError(f"time_limit={time_limit!r}: must be a finite number of seconds > 0")
    search = _search_of(solver, check_count("workers", workers))
    begun = perf_counter()
    deadline = Deadline(time_limit)
    bracket = first_bracket(instance, deadline)
    if not bracket.proven and deadline.left:
        bracket = search(instance, bracket, deadline)
    end = check_schedule(bracket.start, instance.lengths, slots, alpha, instance.releases)
    assert bracket.lower <= end == bracket.upper
    return Optimum(bracket.lower, bracket.upper, bracket.start, solver=solver, seconds=perf_counter() - begun)


def first_bracket(instance: Instance, deadline: Deadline) -> Bracket:
    """Best bound and best quick schedule."""
    start = best_heuristic(instance, deadline)
    bound = best_lower_bound(instance.lengths, instance.slots, instance.alpha, instance.releases)
    return Bracket(int(bound.value), instance.makespan(start), start)


def _search_of(solver: str, workers: int) -> Callable[[Instance, Bracket, Deadline], Bracket]:
    if solver == "cp-sat":
        from analysis.optimum import cpsat  # needs an extra

        return partial(cpsat.solve, workers=workers)
    if solver == "milp":
        from analysis.optimum import milp

        return milp.solve
    raise ValueError(f"solver={solver!r}: must be one of {', '.join(get_args(Solver))}")
