"""Confidence intervals from one long run, cut into consecutive sections."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import stdtrit  # Student's quantile without the second that scipy.stats takes to load

from analysis.estimate import Estimate
from analysis.statistic import Statistic
from serving_sim.request import FloatArray

SECTIONS = 10
"""Few sections: each must be long enough to hardly depend on the one before."""


def estimate(statistic: Statistic, values: FloatArray, confidence: float = 0.95) -> Estimate:
    """Estimate a mean or a quantile with an interval by sectioning.

    Parameters
    ----------
    statistic : Statistic
        What to estimate.
    values : ndarray of float, shape (n,)
        Stationary series in arrival order, n >= 0.
    confidence : float
        Nominal coverage.

    Returns
    -------
    Estimate
        Centred on the whole series. Without an interval where fewer than `statistic.ENOUGH`
        independent observations lie beyond the quantile, without a value where no observation does.

    Notes
    -----
    With q the estimate from all n values and q_j that of section j of b, the interval is
    q +- t_{b-1} S / sqrt(b), S^2 = sum (q_j - q)^2 / (b - 1) (Asmussen and Glynn 2007, "Stochastic
    Simulation", section IV.5; Nakayama 2014, "Confidence intervals for quantiles using sectioning
    when applying variance-reduction techniques"). For the mean this is the method of batch means.
    """
    absence = statistic.absence(len(values))
    if absence is not None:
        return Estimate(None, note=absence)
    centre = statistic.of(values)
    shortage = statistic.shortage(values)
    if shortage is not None:
        return Estimate(centre, note=shortage)
    parts = np.array([statistic.of(part) for part in np.array_split(values, SECTIONS)])
    return _interval(centre, parts, confidence)


def estimate_difference(
    statistic: Statistic, values: FloatArray, baseline: FloatArray, confidence: float = 0.95
) -> Estimate:
    """Estimate ``statistic(values) - statistic(baseline)`` of two runs on the same arrivals.

    Parameters
    ----------
    statistic : Statistic
        What is compared.
    values, baseline : ndarray of float, shape (n,)
        Row i of both is the same request, in arrival order.
    confidence : float
        Nominal coverage.

    Returns
    -------
    Estimate
        Sections are cut at the same requests in both runs, so what the arrivals do to both cancels
        (common random numbers). Without an interval where either series is too short for one.
    """
    absence = statistic.absence(len(values))
    if absence is not None:
        return Estimate(None, note=absence)
    if np.array_equal(values, baseline):
        return Estimate(0.0, 0.0, 0.0)
    if statistic.probability is None:  # the mean of the differences; they are less correlated than both
        return estimate(statistic, values - baseline, confidence)
    centre = statistic.of(values) - statistic.of(baseline)
    shortage = statistic.shortage(values) or statistic.shortage(baseline)
    if shortage is not None:
        return Estimate(centre, note=shortage)
    pairs = zip(np.array_split(values, SECTIONS), np.array_split(baseline, SECTIONS), strict=True)
    parts = np.array([statistic.of(part) - statistic.of(base) for part, base in pairs])
    return _interval(centre, parts, confidence)


def _interval(centre: float, parts: FloatArray, confidence: float) -> Estimate:
    spread = math.sqrt(float(np.sum((parts - centre) ** 2)) / (len(parts) - 1))
    half = float(stdtrit(len(parts) - 1, (1 + confidence) / 2)) * spread / math.sqrt(len(parts))
    return Estimate(centre, centre - half, centre + half)
