"""A day in hours."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from serving_sim.columns import FloatArray
from workloads.arrivals.levels import parse_levels, round_of
from workloads.arrivals.thinning import scv_of_periodic_gaps, thinned
from workloads.parameters import check_positive


@dataclass(frozen=True)
class PiecewisePoisson:
    """Poisson arrivals whose intensity goes through a list of levels, over and over.

    Parameters
    ----------
    rate : float
        Requests per time unit over a whole round.
    levels : str
        Intensities in proportion to each other, joined by ``+`` as in ``1+4+2.5``; they are scaled to
        the mean ``rate``. A level that comes twice lasts twice as long.
    duration : float
        Time units that each level lasts.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    rate: float
    levels: str
    duration: float
    _intensities: FloatArray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_positive("rate", self.rate)
        check_positive("duration", self.duration)
        levels = parse_levels(self.levels)
        object.__setattr__(self, "_intensities", levels * (self.rate / np.mean(levels)))

    @property
    def scv(self) -> float:
        """Over all gaps of a round, exact."""
        return scv_of_periodic_gaps(self._intensities, self.duration)

    @property
    def dispersion(self) -> float:
        """1: over many rounds the ups and downs cancel; within one they do not."""
        return 1.0

    @property
    def rhythm(self) -> float | None:
        """Duration of the fewest levels that come over and over; None where all are alike."""
        return round_of(self._intensities, self.duration)

    def releases(self, n: int, rng: np.random.Generator) -> FloatArray:
        """By thinning, from the start of the first level on."""
        peak = float(self._intensities.max())
        return thinned(n, rng, intensity=self._intensity, peak=peak, rate=self.rate)

    def _intensity(self, instants: FloatArray) -> FloatArray:
        # the remainder comes first: past 2**63 levels a whole number would overflow
        place = (instants / self.duration) % len(self._intensities)
        return self._intensities[place.astype(np.int64)]
