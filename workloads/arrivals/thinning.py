"""Poisson arrivals at a rate that changes with the hour."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from serving_sim.columns import FloatArray

_MOST = 1 << 20
"""Candidates at a time where they seldom stay."""

_LONGEST_LULL = 100_000_000
"""Candidates in a row of which none stays; what begins with a lull of 10^30 would never end."""


def thinned(
    n: int,
    rng: np.random.Generator,
    *,
    intensity: Callable[[FloatArray], FloatArray],
    peak: float,
    rate: float,
) -> FloatArray:
    """The first ``n`` arrivals of a non-homogeneous Poisson process, shape (n,), in time units.

    Candidates come at the rate ``peak``; one at time t stays with probability ``intensity(t) / peak``
    (Lewis and Shedler 1979, "Simulation of nonhomogeneous Poisson processes by thinning", theorem 1).

    Parameters
    ----------
    n : int
        Arrivals.
    rng : Generator
        Where candidates and their fates come from.
    intensity : callable
        Requests per time unit at each of an array of instants, never above ``peak``.
    peak, rate : float
        Largest and mean intensity; the mean decides only how many candidates are drawn at a time.

    Raises
    ------
    ValueError
        If nobody comes for 10^8 mean gaps of the busiest time.
    """
    kept: list[FloatArray] = []
    missing, now, count, lull = n, 0.0, 0, 0
    while missing > 0:
        # at least twice as many as before: a long lull must not be crossed in small steps
        count = max(math.ceil(missing * peak / rate) + 1, min(2 * count, _MOST))
        candidates = now + np.cumsum(rng.exponential(1 / peak, size=count))
        stays = rng.random(count) * peak < intensity(candidates)
        kept.append(candidates[stays])
        missing -= len(kept[-1])
        now = candidates[-1]
        lull = 0 if len(kept[-1]) else lull + count
        if lull > _LONGEST_LULL:
            raise ValueError(
                f"time={now:.4g}: nobody has come for {lull:,} mean gaps of the busiest time; "
                "the lull must be shorter"
            )
    return np.concatenate(kept)[:n]


def scv_of_periodic_gaps(levels: FloatArray, step: float) -> float:
    """Squared coefficient of variation of the gaps of a periodic Poisson process, over all its gaps.

    Parameters
    ----------
    levels : ndarray of float, shape (k,)
        Intensity of each part of a period, in requests per time unit, >= 0 and not all 0.
    step : float
        Duration of each part in time units.

    Notes
    -----
    With G(t) the expected time from t to the next request, the gap T of mean 1 / rate has
    E[T^2] = 2 mean(G) / rate (the inspection paradox: an instant falls into a gap in proportion to
    its length). Backwards in time G' = 1 - intensity * G, which is solved exactly part by part and
    closed over the period.
    """
    busy = levels > 0
    safe = np.where(busy, levels, 1.0)
    none_comes = np.exp(-levels * step)  # in a whole part
    within = np.where(busy, -np.expm1(-levels * step) / safe, step)  # E[min(time to the next, step)]
    # mean over a part of G is fresh + within / step * (G at its end)
    fresh = np.where(busy, (1 - within / step) / safe, step / 2)
    after = _expected_after(none_comes, within, some_come=-math.expm1(-float(np.sum(levels)) * step))
    rate = float(np.mean(levels))
    mean = float(np.mean(fresh + within / step * after))
    return 2 * rate * mean - 1


def _expected_after(none_comes: FloatArray, within: FloatArray, some_come: float) -> FloatArray:
    """G at the end of every part, in time units.

    At the start of part i it is ``within[i] + none_comes[i] * G(start of i + 1)``, and after the last
    part comes the first; ``some_come`` is the probability that a period has a request.
    """
    parts = list(zip(none_comes.tolist(), within.tolist(), strict=True))
    value = 0.0
    for none, until in reversed(parts):
        value = until + none * value
    value /= some_come
    after = []
    for none, until in reversed(parts):
        after.append(value)
        value = until + none * value
    return np.array(after[::-1])
