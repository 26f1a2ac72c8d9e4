"""A simulated number held against theory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from analysis.experiments.reproduce.task import Row

TOLERANCE = 4.0
"""Standard errors that a simulated number may be away from theory."""


@dataclass(frozen=True)
class Check:
    """One number that was simulated and is known.

    Attributes
    ----------
    case : str
        The system.
    quantity : str
        What is compared, with its unit.
    found : float
        Simulated.
    expected : float
        Exact, or the estimate of an independent simulator.
    error : float or None
        Standard error of ``found - expected``; None where both must be equal.
    rounding : float
        Largest difference that floating point explains.
    """

    case: str
    quantity: str
    found: float
    expected: float
    error: float | None = None
    rounding: float = 0.0

    @property
    def deviation(self) -> float | None:
        """Distance from theory in standard errors; None where both must be equal."""
        return None if self.error is None else (self.found - self.expected) / self.error

    @property
    def met(self) -> bool:
        """Whether theory is within `TOLERANCE` standard errors, or met to rounding."""
        if self.deviation is None:
            return abs(self.found - self.expected) <= self.rounding
        return abs(self.deviation) <= TOLERANCE

    def to_row(self) -> Row:
        """As JSON keeps it."""
        return asdict(self)

    @classmethod
    def from_row(cls, row: Row) -> Check:
        """From what `to_row` gave."""
        return cls(**row)


def estimated(case: str, quantity: str, values: Sequence[float], expected: float) -> Check:
    """Check of a mean over independent replications, at least two."""
    return Check(case, quantity, float(np.mean(values)), expected, standard_error(values))


def standard_error(values: Sequence[float]) -> float:
    """Of the mean of independent values, at least two."""
    return float(np.std(values, ddof=1)) / math.sqrt(len(values))
