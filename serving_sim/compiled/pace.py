"""`serving_sim.steptime` for the kernel: the same expressions in the same order of operations.

Products of whole numbers are exact there and below 2**63 here; `choice` sees to that.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from serving_sim.compiled.jit import inner


class Pace(NamedTuple):
    """Step m = 1, 2, .. takes ``linear + quadratic * m`` time units."""

    linear: float
    quadratic: float


class Coefficients(NamedTuple):
    """The fields of `serving_sim.steptime.StepTime`, and whether the step is constant."""

    base: float
    per_request: float
    per_max_token: float
    per_token: float
    constant: bool


@inner
def pace_of(step_time: Coefficients, active: int, max_progress: int, sum_progress: int) -> Pace:
    """Durations of the coming steps of a batch."""
    return Pace(
        step_time.base
        + step_time.per_request * active
        + step_time.per_max_token * max_progress
        + step_time.per_token * sum_progress,
        step_time.per_max_token + step_time.per_token * active,
    )


@inner
def elapsed(pace: Pace, steps: int) -> float:
    """Time units that the first ``steps`` steps take."""
    if pace.quadratic == 0.0:  # adding 0 changes no bit, and the square may not fit
        return steps * pace.linear
    return steps * pace.linear + pace.quadratic * (steps * (steps + 1) / 2)


@inner
def steps_to_reach(pace: Pace, start: float, instant: float) -> int:
    """Smallest k >= 0 with ``start + elapsed(k) >= instant``."""
    wanted = instant - start
    if pace.quadratic == 0.0:
        k = math.ceil(wanted / pace.linear)
        if k > 0 and start + (k - 1) * pace.linear < instant <= start + k * pace.linear:
            return k
    else:
        first = pace.linear + pace.quadratic / 2
        even = max(wanted / first, 0.0)
        k = math.ceil(2 * even / (1 + math.sqrt(1 + 2 * even * (pace.quadratic / first))))
    k = max(k, 0)
    while k > 0 and start + elapsed(pace, k - 1) >= instant:
        k -= 1
    while start + elapsed(pace, k) < instant:
        k += 1
    return k
