"""How long a queue remembers, by theory: known from the traffic, whatever the luck of the run."""

from __future__ import annotations

import math
from dataclasses import dataclass

CAUTION = 1.5
"""How many times the memory that theory states counts.

The autocorrelation time that a run just long enough shows of itself is off by about a third (Sokal 1997,
"Monte Carlo methods in statistical mechanics", section 3). So few runs that theory lets pass are held
back by what they happened to see, and those that pass are no choice of lucky ones.
"""


@dataclass(frozen=True)
class Memory:
    """What theory knows of the queue behind a series.

    Attributes
    ----------
    requests : float
        `queue_memory` in requests, 0 where theory says nothing.
    diluted : bool
        Whether the queue adds little to what the series holds (`analysis.metric_memory.memory_of_metric`).
    together : float
        Requests that come together, >= 1 (`analysis.stability.Stability.clustering`).
    """

    requests: float = 0.0
    diluted: bool = False
    together: float = 1.0

    def least_time(self, *, part: float, as_mean: float) -> float:
        """Least autocorrelation time to reckon with, in requests.

        Parameters
        ----------
        part : float
            What `indicator_memory` says of the statistic, 1 for the mean.
        as_mean : float
            The part with which the statistic would need as long a run as the mean of the waits.

        Notes
        -----
        A diluted series finds its rare values in any state of the queue: no statistic of it needs more of
        these states than the mean of the waits does. And however low the load, requests that come
        together wait for each other: they are one observation.
        """
        return max(self.together, CAUTION * self.requests * (min(part, as_mean) if self.diluted else part))


NO_THEORY = Memory()


def queue_memory(utilization: float, variability: float) -> float:
    """Integrated autocorrelation time of waiting times in heavy traffic, in requests.

    Parameters
    ----------
    utilization : float
        rho, the work that arrives as a part of the most that can be done, >= 0.
    variability : float
        c^2, the squared coefficients of variation of the gaps and of the lengths together.

    Returns
    -------
    float
        2 rho c^2 / (1 - rho)^2 whatever the number of slots; infinite from rho = 1 on, where there is no
        steady state.

    Notes
    -----
    Near rho = 1 the work that waits moves as a Brownian motion reflected at 0. With drift -1 and
    variance 1 a time unit it has variance 1/4, and the mean over a long time t has variance 1 / (2 t)
    (Whitt 1989, "Planning queueing simulations"): 2 time units hold one independent observation. In
    such a unit rho^2 c^2 / (1 - rho)^2 requests arrive. The theory leaves open how the limit is
    approached; with rho for rho^2 the waits of M/M/1, whose exact time is (2 + 5 rho - 4 rho^2 + rho^3) /
    ((2 - rho) (1 - rho)^2) (Daley 1968, "The serial correlation coefficients of waiting times in a
    stationary single server queue"), are met within 3 % from rho = 0.8 on.
    """
    if utilization >= 1:
        return math.inf
    return 2 * utilization * variability / (1 - utilization) ** 2


def indicator_memory(probability: float) -> float:
    """Autocorrelation time of "at most the quantile", as a part of that of the waits themselves.

    Parameters
    ----------
    probability : float
        p of the quantile, strictly between 0 and 1.

    Notes
    -----
    1 + P ln P / (1 - P) with P = 1 - p: 0.31 for the median, 0.74 for P90, 0.95 for P99. A function f of
    the reflected motion above, whose stationary density is pi(x) = 2 exp(-2 x), has a mean over a long
    time t of variance (4 / t) int F^2 / pi dx with F(x) = int_0^x (f - E f) pi (Whitt 1992, "Asymptotic
    formulas for Markov processes with applications to simulation"). For the indicator the integral gives
    2 P (1 - P) + 2 P^2 ln P, and one observation has variance P (1 - P).
    """
    beyond = 1 - probability
    return 1 + beyond * math.log(beyond) / probability
