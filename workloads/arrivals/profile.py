"""Arrivals that follow a measured rate and a measured burstiness."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from serving_sim.columns import FloatArray
from workloads.arrivals.levels import parse_levels, round_of
from workloads.parameters import check_positive
from workloads.quantiles import mean_of, parse_knots, value_at


@dataclass(frozen=True)
class Profile:
    """Independent gaps on a clock that runs as fast as the rate is high.

    Where the rate is twice the mean, gaps are half as long; where it is 0, none end. So the rate over
    time is that of the levels, and the burstiness within them that of the gaps.

    Parameters
    ----------
    rate : float
        Requests per time unit over a whole round of the levels.
    levels : str
        Rates in proportion to each other, joined by ``+`` as in ``1+4+0+2.5``, over and over.
    duration : float
        Time units that each level lasts.
    gaps : str
        Quantiles of the gaps at equally spaced shares from 0 to 1, joined by ``+``; scaled to mean 1.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Notes
    -----
    The inversion of Gerhardt and Nelson (2009), "Transforming renewal processes for simulation of
    nonstationary arrival processes": arrivals of a renewal process of rate 1 are moved to the instants
    at which the integral of the rate reaches them. Counts then have the renewal process' dispersion on
    top of the profile.
    """

    rate: float
    levels: str
    duration: float
    gaps: str
    _expected: FloatArray = field(init=False, repr=False, compare=False)
    _knots: FloatArray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_positive("rate", self.rate)
        check_positive("duration", self.duration)
        levels = parse_levels(self.levels)
        expected = np.cumsum(levels) * (self.rate * self.duration / np.mean(levels))
        object.__setattr__(self, "_expected", np.concatenate([[0.0], expected]))
        knots = parse_knots("gaps", self.gaps)
        if not knots.any():
            raise ValueError("gaps: must not all be 0")
        object.__setattr__(self, "_knots", knots / mean_of(knots))

    @property
    def rhythm(self) -> float | None:
        """Duration of the fewest levels that come over and over; None where all are alike."""
        return round_of(parse_levels(self.levels), self.duration)

    def releases(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Sums of the gaps, moved to the clock of the levels."""
        reached = np.cumsum(value_at(self._knots, rng.random(n)))
        in_a_round = self._expected[-1]
        rounds, rest = np.divmod(reached, in_a_round)
        ends = np.arange(len(self._expected)) * self.duration
        releases: FloatArray = rounds * ends[-1] + np.interp(rest, self._expected, ends)
        return releases
