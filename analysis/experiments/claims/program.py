"""Appendix 8.1: the integer program."""

from __future__ import annotations

import numpy as np

from analysis.experiments.claims.cases import Space
from analysis.experiments.claims.claim import Budget, Claim, Kind, Verdict
from analysis.experiments.claims.schedules import least_makespan
from analysis.experiments.claims.verdicts import described, exact
from analysis.optimum import optimum

_SPACES = (Space(slots=(2, 3), most=5, longest=10), Space(slots=(2, 3), most=5, longest=10, released=True))


def _agrees(rng: np.random.Generator, budget: Budget) -> Verdict:
    count = budget.of(24)
    for turn in range(count):
        instance = _SPACES[turn % 2].draw(rng).instance
        integer = optimum(
            instance.lengths, instance.slots, instance.alpha, instance.releases, solver="milp", time_limit=120
        )
        constraint = least_makespan(instance)
        if not integer.proven:
            return Verdict(Kind.NOT_TESTABLE, f"{described(instance)}: not solved", turn, why="time limit")
        if integer.upper != constraint.upper:
            return exact(
                "", turn + 1, broken=f"{described(instance)}: {integer.upper} and {constraint.upper}"
            )
    return exact(
        "HiGHS on the integer program and CP-SAT on a model of start times find the same optimum", count
    )


CLAIMS = (
    Claim(
        "Appendix 8.1",
        "The time-indexed integer program has the optimal makespan as its value.",
        _agrees,
        assumes="half of the instances with releases",
        reading="Constraint (6) is written without the big M; the feasible starts are the same.",
        needs_optimum=True,
    ),
)
