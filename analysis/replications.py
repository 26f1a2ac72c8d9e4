"""Confidence intervals from independent replications of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from analysis.estimate import Estimate
from analysis.sectioning import SECTIONS
from analysis.statistic import ENOUGH, Statistic
from serving_sim.request import FloatArray


def interval(values: Sequence[float], confidence: float = 0.95) -> Estimate:
    """Mean of one value a replication, with Student's t interval.

    Parameters
    ----------
    values : sequence of float, length R >= 2
        Independent values, one a replication.
    confidence : float
        Nominal coverage.
    """
    centre = float(np.mean(values))
    spread = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    half = float(stdtrit(len(values) - 1, (1 + confidence) / 2)) * spread
    return Estimate(centre, centre - half, centre + half)


def estimate(statistic: Statistic, series: Sequence[FloatArray], confidence: float = 0.95) -> Estimate:
    """Estimate a mean or a quantile from R >= 2 replications.

    Parameters
    ----------
    statistic : Statistic
        What to estimate.
    series : sequence of R ndarrays of float
        Values of each replication in arrival order.
    confidence : float
        Nominal coverage.

    Returns
    -------
    Estimate
        Mean over replications. Without an interval where the replications are too short: a
        quantile of a short run is biased towards the middle, and averaging keeps the bias.
    """
    if any(len(values) == 0 for values in series):
        return Estimate(None, note="a replication has no request with a value")
    values = [statistic.of(each) for each in series]
    shortage = _shortage(statistic, series)
    if shortage is not None:
        return Estimate(float(np.mean(values)), note=shortage)
    return interval(values, confidence)


def estimate_difference(
    statistic: Statistic,
    series: Sequence[FloatArray],
    baselines: Sequence[FloatArray],
    confidence: float = 0.95,
) -> Estimate:
    """Estimate ``statistic(series) - statistic(baselines)``, paired by replication.

    Parameters
    ----------
    statistic : Statistic
        What is compared.
    series, baselines : sequence of R ndarrays of float
        Replication r of both served the same arrivals (common random numbers).
    confidence : float
        Nominal coverage.
    """
    pairs = list(zip(series, baselines, strict=True))
    if any(len(values) == 0 for values in series):
        return Estimate(None, note="a replication has no request with a value")
    if all(np.array_equal(values, baseline) for values, baseline in pairs):
        return Estimate(0.0, 0.0, 0.0)
    if statistic.probability is None:  # the mean of the differences; they are less correlated than both
        return estimate(statistic, [values - baseline for values, baseline in pairs], confidence)
    differences = [statistic.of(values) - statistic.of(baseline) for values, baseline in pairs]
    shortage = _shortage(statistic, series) or _shortage(statistic, baselines)
    if shortage is not None:
        return Estimate(float(np.mean(differences)), note=shortage)
    return interval(differences, confidence)


def _shortage(statistic: Statistic, series: Sequence[FloatArray]) -> str | None:
    # together as many observations as one long run needs, and each at least as many as a section
    enough = ENOUGH / min(len(series), SECTIONS)
    notes = (statistic.shortage(values, enough) for values in series)
    return next((f"{note} in each replication" for note in notes if note is not None), None)
