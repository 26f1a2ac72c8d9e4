"""Whether a latency axis is linear or logarithmic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from analysis.latency import arrival_series
from analysis.outcome import Outcome

_FACTOR = 5


def latency_scale(outcomes: Sequence[Outcome], metric: str) -> Literal["linear", "log"]:
    """Scale of an axis of ``metric`` on which every policy can be seen.

    It is logarithmic where the medians differ by more than a factor of five, since zero would press
    some policies into a corner; a metric that can be zero stays linear.
    """
    series = [arrival_series(run, metric) for outcome in outcomes for run in outcome.runs]
    filled = [values for values in series if len(values)]
    if not filled or min(np.min(values) for values in filled) <= 0:
        return "linear"
    medians = [float(np.median(values)) for values in filled]
    return "log" if max(medians) > _FACTOR * min(medians) else "linear"
