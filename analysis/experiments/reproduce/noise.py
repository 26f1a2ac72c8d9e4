"""A number of the paper beside its measurement: what chance can explain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t

from analysis.estimate import Estimate
from analysis.replications import interval

REPRODUCED = "within noise"
DIFFERS = "differs"


@dataclass(frozen=True)
class Measured:
    """A statistic measured over independent sets, each as large as the paper's experiment.

    Attributes
    ----------
    value, low, high : float
        Mean over the sets and its 95 % confidence interval (Student's t): where the truth lies.
    set_low, set_high : float
        95 % prediction interval for one more set: where a single experiment of the paper's size
        lands.
    """

    value: float
    low: float
    high: float
    set_low: float
    set_high: float

    @property
    def estimate(self) -> Estimate:
        """The mean with its confidence interval."""
        return Estimate(self.value, self.low, self.high)

    def verdict(self, paper: float) -> str:
        """Whether one experiment could have given the paper's number."""
        return REPRODUCED if self.set_low <= paper <= self.set_high else DIFFERS


def over_sets(values: Sequence[float]) -> Measured:
    """Measure a statistic from one value a set.

    Parameters
    ----------
    values : sequence of float, length R >= 2
        Independent values.

    Notes
    -----
    The prediction interval is ``mean +- t_{R-1} s sqrt(1 + 1 / R)`` (Hahn and Meeker 1991,
    "Statistical intervals", section 4.7).
    """
    mean = interval(values)
    assert mean.value is not None
    assert mean.low is not None
    assert mean.high is not None
    count = len(values)
    half = float(t.ppf(0.975, count - 1)) * float(np.std(values, ddof=1)) * math.sqrt(1 + 1 / count)
    return Measured(mean.value, mean.low, mean.high, mean.value - half, mean.value + half)
