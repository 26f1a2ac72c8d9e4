"""What is estimated: the mean or a quantile, as one kind of object."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.autocorrelation import integrated_autocorrelation_time
from analysis.queue_memory import NO_THEORY, Memory, indicator_memory
from serving_sim.request import FloatArray, IntArray

PERCENTILES = (50.0, 90.0, 95.0, 99.0, 99.9)
"""Percentiles reported by default."""

SECTIONS = 10
"""Few sections: each must be long enough to hardly depend on the one before."""

ENOUGH = 50
"""Independent observations beyond a quantile that an interval needs.

From so many on nominal 95 % intervals of waits hold the truth in 92 to 98 % of the cases
(``benchmarks/interval_coverage.py``).
"""

_FOR_MEAN = 0.25
"""Part of the independent observations that count for the mean.

Waits are skewed: most sections of a short run miss the rare long queues, and their means agree with
each other more than with the truth. Four times as many observations mend that, as measured.
"""

_SPANNED = 5
"""Memories of the queue that a section spans at least, or neighbours hang together."""

_ROUNDING = 1e-9  # 1 - 0.999 times 1000 is a little below 1


@dataclass(frozen=True)
class Statistic:
    """The mean (``probability`` None) or the quantile at ``probability`` of one series."""

    name: str
    probability: float | None = None

    def of(self, values: FloatArray) -> float:
        """Value for a series of shape (n,), n >= 1."""
        if self.probability is None:
            return float(np.mean(values))
        return float(np.quantile(values, self.probability))

    def absence(self, count: int) -> str | None:
        """Why ``count`` values say nothing about this statistic, None if they do.

        A quantile needs one value beyond it: of 412 requests the slowest is no P99.9 of anything.
        """
        if count == 0:
            return "no request has a value"
        if count * self._rarer < 1 - _ROUNDING:
            return f"not enough data for {self.name} (n = {count:,})"
        return None

    def observations(
        self,
        values: FloatArray,
        memory: Memory = NO_THEORY,
        *,
        found: float | None = None,
        sections: int = SECTIONS,
    ) -> float:
        """Number of independent observations that ``values`` hold for this statistic.

        Parameters
        ----------
        values : ndarray of float, shape (n,)
            Stationary series in time order, n >= 1.
        memory : Memory
            Of the queue behind the series.
        found : float, optional
            The statistic, where the caller has it already.
        sections : int
            Into which a single run is cut.

        Notes
        -----
        For the mean this is n / tau / 4, for a quantile q it is min(p, 1 - p) n / tau: so many
        observations lie on the rarer side of q. tau is the integrated autocorrelation time of the series,
        for a quantile that of the indicator {X <= q}: the one that the series shows or that theory states,
        whichever is longer. Sections span five memories each at least.
        """
        least = self._least_time(memory, sections)
        return self._counted * len(values) / self._time(values, found, least)

    def shortage(
        self,
        values: FloatArray,
        memory: Memory = NO_THEORY,
        *,
        enough: float = ENOUGH,
        found: float | None = None,
        sections: int = SECTIONS,
    ) -> str | None:
        """Why ``values`` cannot carry an interval, None if they hold ``enough`` `observations`."""
        longest = self._counted * len(values) / enough * (1 + _ROUNDING)
        time = self._time(values, found, max(longest, self._least_time(memory, sections)))
        if time <= longest:
            return None
        if time == math.inf:
            return f"not enough data for {self.name}: as much work arrives as can be done"
        wanted = enough * time / self._counted
        return f"not enough data for {self.name} (n = {len(values):,}, about {_round_up(wanted):,} needed)"

    @property
    def _rarer(self) -> float:
        """Share of the values on the rarer side of the quantile; all of them bear on the mean."""
        return 1.0 if self.probability is None else min(self.probability, 1 - self.probability)

    @property
    def _counted(self) -> float:
        """Part of the independent observations that bear on the statistic."""
        return _FOR_MEAN if self.probability is None else self._rarer

    def _time(self, values: FloatArray, found: float | None, least: float) -> float:
        """Integrated autocorrelation time of the values, or of whether each is at most the quantile."""
        if self.probability is None:
            return integrated_autocorrelation_time(values, least=least)
        below = values <= (self.of(values) if found is None else found)
        return integrated_autocorrelation_time(below, least=least)

    def _least_time(self, memory: Memory, sections: int) -> float:
        """Shortest autocorrelation time that counts, whatever the series shows."""
        part = 1.0 if self.probability is None else indicator_memory(self.probability)
        return max(
            memory.least_time(part=part, as_mean=self._counted / _FOR_MEAN),
            memory.requests * _SPANNED * sections * self._counted / ENOUGH,
        )


def _round_up(number: float) -> int:
    """To two digits, upwards: so many as there are must not be called too few."""
    unit: int = 10 ** max(0, math.floor(math.log10(number)) - 1)
    return math.ceil(number / unit * (1 - _ROUNDING)) * unit


MEAN = Statistic("mean")


def values_of(statistics: Sequence[Statistic], values: FloatArray) -> dict[str, float]:
    """`Statistic.of` by name, without those that are absent from so few values.

    numpy selects several quantiles in little more time than one.
    """
    present = [each for each in statistics if each.absence(len(values)) is None]
    found = {each.name: each.of(values) for each in present if each.probability is None}
    selected = {each.name: each.probability for each in present if each.probability is not None}
    if selected:
        found |= zip(selected, np.quantile(values, list(selected.values())).tolist(), strict=True)
    return found


def quantiles(percentiles: Sequence[float] = PERCENTILES) -> tuple[Statistic, ...]:
    """Quantile statistics named as users know them: p50, p99.9.

    Raises
    ------
    ValueError
        If a percentile does not lie strictly between 0 and 100 or stands there twice.
    """
    for position, percentile in enumerate(percentiles):
        if not 0 < percentile < 100:
            raise ValueError(f"percentiles={percentile!r}: must lie strictly between 0 and 100")
        if percentile in percentiles[:position]:
            raise ValueError(f"percentiles={percentile!r}: must not be named twice")
    # twelve digits: six would call 99.99999 p100
    return tuple(Statistic(f"p{percentile:.12g}", percentile / 100) for percentile in percentiles)


def squared_variation(values: FloatArray | IntArray) -> float:
    """Squared coefficient of variation: variance over squared mean, which must not be 0."""
    return float(np.var(values / np.mean(values)))  # a mean near the ends of floats has no square
