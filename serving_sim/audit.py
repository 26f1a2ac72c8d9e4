"""Fairness audit: constraint (1) checked at every admission."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Violation:
    """Two requests of a batch more than alpha tokens apart, for the first time in a run.

    In lockstep a gap does not change after an admission, so it begins at one.

    Attributes
    ----------
    time : float
        Start of the first step with the gap, in time units; in lockstep the epoch of an admission.
    step : int
        Busy steps before it.
    request : int
        Row in the workload of the request with the least progress; in lockstep the one admitted.
    slot : int
        Slot of that request.
    other : int
        Row of the request with the largest progress.
    other_slot : int
        Slot of that request.
    gap : int
        Tokens between the two.
    """

    time: float
    step: int
    request: int
    slot: int
    other: int
    other_slot: int
    gap: int


@dataclass(frozen=True)
class Audit:
    """What the run's audit found.

    Capacity, causality and service exactly once are enforced while the run goes on: breaking them
    ends it with a `PolicyError`. Fairness is measured.

    Attributes
    ----------
    alpha : int or None
        Budget that the gaps were held against, in tokens.
    max_gap : int
        Largest gap over all busy steps, in tokens.
    violations : int
        Admissions at which the largest progress exceeded alpha.
    violation_steps : int
        Busy steps with a gap above alpha.
    first : Violation or None
        Where the budget was broken first.
    """

    alpha: int | None
    max_gap: int
    violations: int
    violation_steps: int
    first: Violation | None

    @property
    def fair(self) -> bool | None:
        """Whether constraint (1) of Yao and Zhou held throughout; None without an alpha."""
        return None if self.alpha is None else self.violation_steps == 0
