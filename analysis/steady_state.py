"""Where the steady state of a run begins: what to leave out as warm-up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.latency import arrival_series
from analysis.stability import Stability
from serving_sim import Run
from serving_sim.request import FloatArray

BATCH = 5
"""Requests whose mean counts as one observation: the 5 of MSER-5."""

_METRIC = "queue_time"  # an empty system is felt in the queue; service times need no warming up


def mser(values: FloatArray) -> int:
    """How many first values of a series to leave out, by MSER-5.

    Parameters
    ----------
    values : ndarray of float, shape (n,)
        Series in arrival order, best the average over replications: single queues are so noisy that
        the rule cuts at a large excursion.

    Returns
    -------
    int
        A multiple of 5, at most half of ``n``.

    Notes
    -----
    With Y_1 .. Y_k the means of 5 successive values, the d <= k / 2 that minimises
    sum_{j > d} (Y_j - mean of these)^2 / (k - d)^2: the squared error of the mean of what is kept
    (White 1997, "An effective truncation heuristic for bias reduction in simulation output").
    """
    kept = len(values) // BATCH
    if kept < 2:
        return 0
    means = values[: kept * BATCH].reshape(kept, BATCH).mean(axis=1)
    means -= means.mean()  # the sums of squares below would cancel to noise around a large mean
    left = np.arange(kept, kept - kept // 2 - 1, -1)
    sums, squares = (np.cumsum(each[::-1])[::-1][: len(left)] for each in (means, means**2))
    return BATCH * int(np.argmin((squares - sums**2 / left) / left**2))


@dataclass(frozen=True)
class WarmUp:
    """What to leave out, for all policies alike.

    Attributes
    ----------
    requests : int
        First ones in arrival order.
    capped : bool
        Whether that is the most that MSER-5 may cut: then the runs have not been seen to settle.
    """

    requests: int
    capped: bool


def warm_up(policies: Sequence[Sequence[Run]], stability: Sequence[Stability | None]) -> WarmUp | None:
    """Requests to leave out for all policies alike, by MSER-5 on their queue times.

    Parameters
    ----------
    policies : sequence of sequences of Run
        Replications of each policy. The policy that takes longest to warm up decides: paired
        differences need the same requests.
    stability : sequence of Stability or None
        Of each policy. One whose queue grows has no steady state, so it has no say.

    Returns
    -------
    WarmUp or None
        None where no policy has a steady state.
    """
    averages = [
        _average(runs)
        for runs, found in zip(policies, stability, strict=True)
        if found is None or found.verdict != "unstable"
    ]
    if not averages:
        return None
    longest = max(averages, key=mser)
    cut = mser(longest)
    return WarmUp(cut, capped=cut == _most(len(longest)) > 0)


def _most(count: int) -> int:
    return BATCH * (count // BATCH // 2)


def _average(replications: Sequence[Run]) -> FloatArray:
    series = [arrival_series(run, _METRIC) for run in replications]
    shared = min(map(len, series))
    average: FloatArray = np.mean([values[:shared] for values in series], axis=0)
    return average
