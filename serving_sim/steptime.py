"""How long a step takes, as an affine function of the batch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import overload

from serving_sim.request import FloatArray


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
        """
        wanted = instant - start
        if self.quadratic == 0:
            k = math.ceil(wanted / self.linear)
            if start + (k - 1) * self.linear < instant <= start + k * self.linear and k > 0:
                return k  # nearly always; the loops below say the same at more cost
        else:
            half = self.linear / self.quadratic + 0.5
            doubled = 2 * wanted / self.quadratic
            k = math.ceil(doubled / (math.sqrt(half * half + doubled) + half))  # no difference of near equals
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
            if not (math.isfinite(value) and value >= 0):
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

    def alone(self, length: int) -> float:
        """Time units a request of ``length`` tokens takes on an otherwise empty worker."""
        return self.pace(active=1, max_progress=0, sum_progress=0).elapsed(length)
