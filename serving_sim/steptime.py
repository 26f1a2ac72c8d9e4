"""How long a step takes, as an affine function of the batch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import overload

from serving_sim.arguments import is_finite
from serving_sim.request import FloatArray

FURTHEST = 2**50
"""Steps from 0 to the latest instant of a run.

Up to there floats lie at most a quarter of a step apart, so the three roundings of a date leave the ends
of two steps two numbers, and whole numbers are exact. Past 2**53 steps, one instant is the end of several.
"""


def too_late(name: str, instant: float, step: float) -> str:
    """The refusal of an instant more than `FURTHEST` steps away from 0."""
    return f"{name}={instant!r}: too late to tell steps of {step!r} time units apart"


@dataclass(frozen=True)
class Pace:
    """Durations of consecutive steps while the batch does not change.

    Step m = 1, 2, .. takes ``linear + quadratic * m`` time units, so k steps take a quadratic in k
    and nobody needs to loop over them.
    """

    linear: float
    quadratic: float

    @overload
    def elapsed(self, steps: int) -> float: ...

    @overload
    def elapsed(self, steps: FloatArray) -> FloatArray: ...

    def elapsed(self, steps: int | FloatArray) -> float | FloatArray:
        """Time units that the first ``steps`` steps take, for one number or an array of them."""
        return steps * self.linear + self.quadratic * (steps * (steps + 1) / 2)

    def steps_to_reach(self, start: float, instant: float) -> int:
        """Smallest k >= 0 with ``start + elapsed(k) >= instant``.

        The root of the quadratic is a guess; rounding can move it off by a step, so it is corrected
        against the very expression that dates the step ends.

        Raises
        ------
        ValueError
            If the instant is too late for floats to tell steps apart.
        """
        if instant - start > FURTHEST * (self.linear + self.quadratic):
            raise ValueError(too_late("instant", instant, self.elapsed(1)))
        # steps if none grew longer; times the growth it is the root, without a difference of near equals
        # and without a square that could overflow
        even = (instant - start) / (self.linear + self.quadratic / 2)
        if self.quadratic == 0:
            k = math.ceil(even)
            if start + (k - 1) * self.linear < instant <= start + k * self.linear and k > 0:
                return k  # nearly always; the loops below say the same at more cost
        else:
            growth = self.quadratic / (self.linear + self.quadratic / 2)
            k = math.ceil(2 * even / (1 + math.sqrt(1 + 2 * even * growth))) if even > 0 else 0
        k = max(k, 0)
        while k > 0 and start + self.elapsed(k - 1) >= instant:
            k -= 1
        while start + self.elapsed(k) < instant:
            k += 1
        return k


@dataclass(frozen=True)
class StepTime:
    """Duration of a step: ``base + per_request |S| + per_max_token max r + per_token sum r``.

    Parameters
    ----------
    base : float
        Time units every step takes.
    per_request : float
        Time units per active request.
    per_max_token : float
        Time units per token of the longest cache in the batch, with r = progress + 1.
    per_token : float
        Time units per cached token summed over the batch.

    Raises
    ------
    ValueError
        If a coefficient is negative or not finite, or if all are zero.

    Notes
    -----
    The default counts time in steps, as Yao and Zhou, section 2, do.
    """

    base: float = 1.0
    per_request: float = 0.0
    per_max_token: float = 0.0
    per_token: float = 0.0

    def __post_init__(self) -> None:
        for name in ("base", "per_request", "per_max_token", "per_token"):
            value = getattr(self, name)
            if not (is_finite(value) and value >= 0):
                raise ValueError(f"{name}={value!r}: must be a finite number >= 0")
            object.__setattr__(self, name, float(value))
        if self.base + self.per_request + self.per_max_token + self.per_token == 0:
            raise ValueError("step time: at least one coefficient must be positive")

    @property
    def constant(self) -> bool:
        """Whether every step takes ``base``, whatever the batch."""
        return self.per_request == self.per_max_token == self.per_token == 0

    def pace(self, active: int, max_progress: int, sum_progress: int) -> Pace:
        """Durations of the coming steps of a batch with the given size and progress in tokens."""
        return Pace(
            linear=self.base
            + self.per_request * active
            + self.per_max_token * max_progress
            + self.per_token * sum_progress,
            quadratic=self.per_max_token + self.per_token * active,
        )

    @property
    def latest(self) -> float:
        """Last instant of a run, in time units: floats cannot tell the shortest steps after it apart."""
        return FURTHEST * self.alone(1)

    def alone(self, length: int) -> float:
        """Time units a request of ``length`` tokens takes on an otherwise empty worker."""
        return self.pace(active=1, max_progress=0, sum_progress=0).elapsed(length)
