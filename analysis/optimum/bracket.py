"""What is known about the optimum: a proven bound below, a schedule above."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bracket:
    """An interval that holds the least makespan.

    Attributes
    ----------
    lower : int
        Proven lower bound in steps.
    upper : int
        Makespan of the schedule ``start``.
    start : tuple of int
        A schedule: the step at which each request starts.
    """

    lower: int
    upper: int
    start: tuple[int, ...]

    @property
    def proven(self) -> bool:
        """Whether the schedule is optimal."""
        return self.lower == self.upper
