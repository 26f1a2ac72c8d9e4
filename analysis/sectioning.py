"""Confidence intervals from one long run, cut into consecutive sections."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit  # Student's quantile without the second that scipy.stats takes to load

from analysis.estimate import Estimate
from analysis.outward import withhold_outward
from analysis.queue_memory import NO_THEORY, Memory
from analysis.series import Series
from analysis.statistic import Statistic, values_of
from serving_sim.request import FloatArray

_FINE = 20  # of one series: its guard has them span several memories of the queue
_SYMMETRIC = 1e-4  # below it the transformation is the identity, but for rounding
_ROUNDING = 1e-9  # relative spread below which parts are equal, but for the rounding of clocks


def estimate(
    statistic: Statistic, values: FloatArray, confidence: float = 0.95, *, memory: Memory = NO_THEORY
) -> Estimate:
    """Estimate a mean or a quantile with an interval.

    Parameters
    ----------
    statistic : Statistic
        What to estimate.
    values : ndarray of float, shape (n,)
        Stationary series in arrival order, n >= 0.
    confidence : float
        Nominal coverage.
    memory : Memory
        Of the queue behind the series.

    Returns
    -------
    Estimate
        From the whole series. Without an interval where the series holds fewer than
        `statistic.ENOUGH` independent observations, without a value where none lies beyond the
        quantile.

    Notes
    -----
    A mean: means of 20 sections, with Student's quantiles stretched for their skewness
    (`_skewed_interval`). A quantile q: with p_j the share of section j of 20 that does not exceed q,
    p +- t_{19} sd(p_j) / sqrt(20) are two shares, and the values of the series at these shares the ends
    of the interval (indicator batch means; after Heidelberger and Lewis 1984, "Quantile estimation in
    dependent sequences").
    """
    return estimates([statistic], values, confidence, memory=memory)[statistic.name]


def estimates(
    statistics: Sequence[Statistic],
    values: FloatArray,
    confidence: float = 0.95,
    *,
    memory: Memory = NO_THEORY,
) -> dict[str, Estimate]:
    """Estimates by the name of the statistic, as `estimate` gives them and `withhold_outward` leaves them."""
    found = values_alone(statistics, values)
    shares: dict[str, FloatArray] = {}
    for each in statistics:
        centre = found[each.name].value
        if centre is None:
            continue
        shortage = each.shortage(values, memory, found=centre, sections=_FINE)
        if shortage is not None:
            found[each.name] = Estimate(centre, note=shortage)
        elif each.probability is None:
            parts = np.array([each.of(part) for part in np.array_split(values, _FINE)])
            found[each.name] = _skewed_interval(centre, parts, confidence)
        else:
            shares[each.name] = _shares_around(each.probability, values <= centre, confidence)
    if shares:  # the ends of all intervals at once, for the reason that `values_of` gives
        ends = np.quantile(values, list(shares.values())).tolist()
        for name, (low, high) in zip(shares, ends, strict=True):
            found[name] = Estimate(found[name].value, low, high)
    return withhold_outward(statistics, found)


def values_alone(
    statistics: Sequence[Statistic], values: FloatArray, note: str | None = None
) -> dict[str, Estimate]:
    """The values of `estimates` without intervals, for the reason given."""
    found = values_of(statistics, values)
    return {
        each.name: Estimate(found.get(each.name), note=each.absence(len(values)) or note)
        for each in statistics
    }


def estimate_difference(
    statistic: Statistic,
    series: Series,
    baseline: Series,
    confidence: float = 0.95,
    *,
    memory: Memory = NO_THEORY,
) -> Estimate:
    """Estimate ``statistic(series) - statistic(baseline)`` of two runs on the same arrivals.

    Parameters
    ----------
    statistic : Statistic
        What is compared.
    series, baseline : Series, n values each
        Value i of both is of the same request.
    confidence : float
        Nominal coverage.
    memory : Memory
        Of the slower one of the two queues.

    Returns
    -------
    Estimate
        Sections are cut at the same requests in both runs, so what the arrivals do to both cancels
        (common random numbers). Without an interval where either series is too short for one.

    Notes
    -----
    With d the difference from all n values and d_j that of section j of b, the error of d is
    S / sqrt(b), S^2 = sum (d_j - d)^2 / (b - 1) (sectioning: Asmussen and Glynn 2007, "Stochastic
    Simulation", section IV.5; Nakayama 2014, "Confidence intervals for quantiles using sectioning when
    applying variance-reduction techniques").
    """
    name = statistic.name
    absence = statistic.absence(len(series.values))
    if absence is not None:
        return Estimate(None, note=absence)
    if np.array_equal(series.values, baseline.values):
        return Estimate(0.0, 0.0, 0.0)
    if statistic.probability is None:  # the mean of the differences; they are less correlated than both
        return estimate(statistic, series.values - baseline.values, confidence, memory=memory)
    centre = series.found[name] - baseline.found[name]
    for each in (series, baseline):
        shortage = statistic.shortage(each.values, memory, found=each.found[name])
        if shortage is not None:
            return Estimate(centre, note=shortage)
    pairs = zip(series.sections, baseline.sections, strict=True)
    parts = np.array([part[name] - base[name] for part, base in pairs])
    return _skewed_interval(centre, parts, confidence)


def student(parts: int, confidence: float) -> float:
    """Student's quantile for a two-sided interval from so many parts.

    Raises
    ------
    ValueError
        If the confidence does not lie between 0 and 1, or a single part shows no spread.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence!r}: must lie strictly between 0 and 1")
    if parts < 2:
        raise ValueError(f"parts={parts!r}: must be at least 2, one shows no spread")
    return float(stdtrit(parts - 1, (1 + confidence) / 2))


def _shares_around(probability: float, below: NDArray[np.bool_], confidence: float) -> FloatArray:
    """Shares at which the ends of a quantile's interval lie; ``below`` marks values that do not exceed it."""
    parts = [np.mean(part) for part in np.array_split(below, _FINE)]
    reach = student(_FINE, confidence) * float(np.std(parts, ddof=1)) / math.sqrt(_FINE)
    return np.clip([probability - reach, probability + reach], 0, 1)


def _skewed_interval(centre: float, parts: FloatArray, confidence: float) -> Estimate:
    """Interval around ``centre`` from the values of sections.

    Most sections without the rare long queue lie a little below the mean, one with it far above. The
    interval so reaches further up than down (Willink 2005, "A confidence interval and test for the mean
    of an asymmetric distribution"; for batch means Tafazzoli and Steiger 2011, "N-Skart"), but on no side
    less far than Student's: the skewness of so few sections is uncertain, and where it takes too much off the
    other side, intervals of waits hold the truth in 94 % of the cases.
    """
    error = math.sqrt(float(np.sum((parts - centre) ** 2)) / (len(parts) - 1) / len(parts))
    quantile = student(len(parts), confidence)
    shape = _skewness(parts) / (6 * math.sqrt(len(parts)))
    below = max(quantile, _stretched(quantile, shape)) * error
    above = max(quantile, -_stretched(-quantile, shape)) * error
    return Estimate(centre, centre - below, centre + above)


def _stretched(quantile: float, shape: float) -> float:
    """Willink's transformed quantile (his equation 7), shape = skewness / (6 sqrt(b))."""
    if abs(shape) < _SYMMETRIC:
        return quantile
    return (float(np.cbrt(1 + 6 * shape * (quantile - shape))) - 1) / (2 * shape)


def _skewness(parts: FloatArray) -> float:
    """Unbiased sample skewness, as ``scipy.stats.skew(parts, bias=False)``, 0 for equal parts."""
    centred = parts - np.mean(parts)
    variance = float(np.mean(centred**2))
    if variance <= (_ROUNDING * float(np.max(np.abs(parts)))) ** 2:
        return 0.0
    count = len(parts)
    correction = math.sqrt(count * (count - 1)) / (count - 2)
    return correction * float(np.mean(centred**3)) / (variance * math.sqrt(variance))
