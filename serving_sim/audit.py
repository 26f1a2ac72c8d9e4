"""Fairness audit: constraint (1) checked at every admission."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Violation:
    """An admission that put two requests more than alpha tokens apart.

    Attributes
    ----------
    time : float
        Epoch of the admission, in time units.
    step : int
        Busy steps before it.
    request : int
        Row of the admitted request in the workload.
    slot : int
        Slot it took.
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
        The first such admission.
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
