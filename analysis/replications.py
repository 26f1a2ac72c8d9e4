"""Confidence intervals from independent replications of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from analysis.estimate import Estimate
from analysis.outward import withhold_outward
from analysis.queue_memory import NO_THEORY, Memory
from analysis.sectioning import student
from analysis.series import Series
from analysis.statistic import ENOUGH, SECTIONS, Statistic
from serving_sim.request import FloatArray

ONE_LOG = "draws from one log: no interval"
"""Rotations, samples and permutations of the same rows agree with each other, whatever the next log says."""

LARGEST = "the largest of all replications: no interval"


def interval(values: Sequence[float], confidence: float = 0.95) -> Estimate:
    """Mean of one value a replication, with Student's t interval.

    Parameters
    ----------
    values : sequence of float, length R >= 2
        Independent values, one a replication.
    confidence : float
        Nominal coverage.

    Raises
    ------
    ValueError
        If there is only one value, or the confidence does not lie between 0 and 1.
    """
    quantile = student(len(values), confidence)
    centre = float(np.mean(values))
    half = quantile * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return Estimate(centre, centre - half, centre + half)


def average(values: Sequence[float], *, one_log: bool = False) -> Estimate:
    """Mean of one value a run, with an interval where R >= 2 independent runs gave them.

    Parameters
    ----------
    values : sequence of float, length R >= 1
        One a run.
    one_log : bool
        Whether the runs served draws from one log, and so are not independent.
    """
    if len(values) == 1:
        return Estimate(float(values[0]), note="one run")
    found = interval(values)
    return found.withheld(ONE_LOG) if one_log else found


def largest(values: Sequence[float]) -> Estimate:
    """Largest of one value a run: how far it went, not what to expect, and so without an interval.

    Parameters
    ----------
    values : sequence of float, length R >= 1
        Maxima, one a run.
    """
    return Estimate(float(max(values)), note="one run" if len(values) == 1 else LARGEST)


def estimate(
    statistic: Statistic,
    series: Sequence[Series],
    confidence: float = 0.95,
    *,
    stationary: bool = True,
    memory: Memory = NO_THEORY,
) -> Estimate:
    """Estimate a mean or a quantile from R >= 2 replications.

    Parameters
    ----------
    statistic : Statistic
        What to estimate.
    series : sequence of R Series
        One a replication.
    confidence : float
        Nominal coverage.
    stationary : bool
        Whether a replication is a piece of a steady state, which the estimate is about. A backlog or burst
        is none: its quantile is that of a finite set of requests, and the estimate is about what
        this comes to on average.
    memory : Memory
        Of the queue behind the series.

    Returns
    -------
    Estimate
        Mean over replications. For a steady state without an interval where the replications are
        too short: a quantile of a short run is biased towards the middle, and averaging keeps the
        bias. A finite set has no such bias, so there the number of replications alone counts.
    """
    absence = _absence(statistic, series)
    if absence is not None:
        return Estimate(None, note=absence)
    values = [each.found[statistic.name] for each in series]
    shortage = _shortage(statistic, series, enough_observations(len(series)), memory) if stationary else None
    if shortage is not None:
        return Estimate(float(np.mean(values)), note=shortage)
    return interval(values, confidence)


def estimates(
    statistics: Sequence[Statistic],
    series: Sequence[FloatArray],
    *,
    stationary: bool = True,
    memory: Memory = NO_THEORY,
) -> dict[str, Estimate]:
    """Estimates by the name of the statistic, as `estimate` gives them and `withhold_outward` leaves them."""
    asked = [Series(values, statistics) for values in series]
    found = {each.name: estimate(each, asked, stationary=stationary, memory=memory) for each in statistics}
    return withhold_outward(statistics, found)


def enough_observations(replications: int) -> float:
    """Independent observations beyond a quantile that an interval needs in each of R replications.

    Together they are as many as one long run needs, and each has at least as many as a section.
    """
    return ENOUGH / min(replications, SECTIONS)


def estimate_difference(
    statistic: Statistic,
    series: Sequence[Series],
    baselines: Sequence[Series],
    confidence: float = 0.95,
    *,
    stationary: bool = True,
    memory: Memory = NO_THEORY,
) -> Estimate:
    """Estimate ``statistic(series) - statistic(baselines)``, paired by replication.

    Parameters
    ----------
    statistic : Statistic
        What is compared.
    series, baselines : sequence of R Series
        Replication r of both served the same arrivals (common random numbers).
    confidence : float
        Nominal coverage.
    stationary : bool
        As in `estimate`.
    memory : Memory
        Of the slower one of the two queues.
    """
    pairs = list(zip(series, baselines, strict=True))
    absence = _absence(statistic, series)
    if absence is not None:
        return Estimate(None, note=absence)
    if all(np.array_equal(each.values, baseline.values) for each, baseline in pairs):
        return Estimate(0.0, 0.0, 0.0)
    if statistic.probability is None:  # the mean of the differences; they are less correlated than both
        changes = [Series(each.values - baseline.values, [statistic]) for each, baseline in pairs]
        return estimate(statistic, changes, confidence, stationary=stationary, memory=memory)
    differences = [each.found[statistic.name] - baseline.found[statistic.name] for each, baseline in pairs]
    enough = enough_observations(len(series))
    shortage = _shortage(statistic, [*series, *baselines], enough, memory) if stationary else None
    if shortage is not None:
        return Estimate(float(np.mean(differences)), note=shortage)
    return interval(differences, confidence)


def _absence(statistic: Statistic, series: Sequence[Series]) -> str | None:
    note = statistic.absence(min(len(each.values) for each in series))
    return None if note is None else f"{note} in a replication"


def _shortage(statistic: Statistic, series: Sequence[Series], enough: float, memory: Memory) -> str | None:
    notes = (
        statistic.shortage(each.values, memory, enough=enough, found=each.found[statistic.name])
        for each in series
    )
    return next((f"{note} in each replication" for note in notes if note is not None), None)
