"""Values of a metric by policy, and whether their axis is linear or logarithmic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from analysis.latency import arrival_series, defined
from analysis.outcome import Outcome
from serving_sim.request import FloatArray

Scale = Literal["linear", "log"]

_FACTOR = 5

_SAMPLE = 10_000
"""Values that tell a median well enough to pick a scale by."""


def metric_series(outcomes: Sequence[Outcome], metric: str, warmup: int = 0) -> list[FloatArray]:
    """Values of a metric over all replications, one array a policy.

    Parameters
    ----------
    outcomes : sequence of Outcome
        Policies.
    metric : str
        Key of `analysis.definitions.REQUEST_METRICS`.
    warmup : int
        First requests of each run to leave out.
    """
    return [
        np.concatenate([arrival_series(run, metric, warmup) for run in outcome.runs]) for outcome in outcomes
    ]


def latency_scale(series: Sequence[FloatArray]) -> Scale:
    """Scale of an axis on which every policy can be seen.

    Parameters
    ----------
    series : sequence of ndarray of float
        Values of one metric, one array a policy; NaN counts as no value.

    Returns
    -------
    {"linear", "log"}
        Logarithmic where the medians differ by more than a factor of five, since zero would press
        some policies into a corner; a metric that can be zero stays linear.
    """
    filled = [counted for values in series if len(counted := defined(values))]
    if not filled or min(np.min(values) for values in filled) <= 0:
        return "linear"
    medians = [float(np.median(values[:: 1 + len(values) // _SAMPLE])) for values in filled]
    return "log" if max(medians) > _FACTOR * min(medians) else "linear"
