"""What a claim is, and what a check says about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from workloads.adversaries import Instance


class Kind(StrEnum):
    """Outcome of a check."""

    HOLDS = "holds"
    """True on every instance tried."""
    EXACT = "holds exactly"
    """An identity, met without any rounding on every instance tried."""
    REPRODUCED = "reproduced"
    """The stated numbers or their order come out again."""
    FAILS = "fails"
    """False on an instance that is shown, or at odds with the paper's own numbers."""
    NOT_TESTABLE = "not testable"
    """Nothing that can be run decides it."""


@dataclass(frozen=True)
class Budget:
    """How hard a check tries.

    Attributes
    ----------
    effort : int
        Multiple of the instances that the quick run tries. Budgets count instances, never seconds, so
        that a verdict depends on the seed alone.
    """

    effort: int = 1

    def of(self, instances: int) -> int:
        """Instances to try where the quick run tries ``instances``."""
        return instances * self.effort


QUICK = Budget()
THOROUGH = Budget(effort=10)


@dataclass(frozen=True)
class Schedule:
    """Who runs where and when.

    Attributes
    ----------
    title : str
        Who made it.
    start : tuple of int
        Step at which each request starts, in input order.
    slot : tuple of int
        Slot of each request, from 0.
    makespan : int
        Last end, in steps.
    """

    title: str
    start: tuple[int, ...]
    slot: tuple[int, ...]
    makespan: int


@dataclass(frozen=True)
class Counterexample:
    """An instance on which a claim is false.

    Attributes
    ----------
    instance : Instance
        The input.
    played : Schedule
        What the policy under test does.
    best : Schedule or None
        A shortest alpha-fair schedule, for claims about the optimum; an independent check has found
        it feasible.
    upper : tuple of int or None
        Upper predictions, for claims about uncertain lengths.
    """

    instance: Instance
    played: Schedule
    best: Schedule | None = None
    upper: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Verdict:
    """What a run of a check found.

    Attributes
    ----------
    kind : Kind
        Outcome.
    evidence : str
        One sentence with the figures behind it.
    instances : int
        Inputs tried.
    margin : float or None
        Smallest distance to the claimed bound, in the bound's own unit; negative where it is broken.
    counterexample : Counterexample or None
        Smallest instance found on which the claim is false.
    why : str or None
        Reason of a failure, or why nothing can be run.
    """

    kind: Kind
    evidence: str
    instances: int = 0
    margin: float | None = None
    counterexample: Counterexample | None = None
    why: str | None = None


Check = Callable[[np.random.Generator, Budget], Verdict]


@dataclass(frozen=True)
class Claim:
    """A statement of the paper that can be held against a run.

    Attributes
    ----------
    name : str
        How the paper numbers it, with a word in parentheses where one number makes several claims.
    states : str
        What it says, in our words.
    check : callable
        Takes a generator and a budget and gives a `Verdict`.
    assumes : str
        Under which conditions.
    reading : str
        How we read what the paper leaves open; empty where nothing is.
    tested : str
        The algorithm under test; empty for formulas.
    needs_optimum : bool
        Whether the check solves instances to optimality.
    """

    name: str
    states: str
    check: Check
    assumes: str
    reading: str = ""
    tested: str = ""
    needs_optimum: bool = False


@dataclass(frozen=True)
class Finding:
    """A claim and its verdict."""

    claim: Claim
    verdict: Verdict
