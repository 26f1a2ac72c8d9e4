"""Requests that come in busy spells."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from serving_sim.arguments import is_real
from serving_sim.columns import FloatArray
from workloads.parameters import check_positive

_MOST_CYCLES = 1 << 18
"""Spells drawn at a time, in pairs: short ones are many, and must not fill the memory."""


@dataclass(frozen=True)
class MarkovModulatedPoisson:
    """A Poisson process whose rate switches between busy and quiet spells of exponential duration.

    It starts in its steady state: busy with probability ``busy``. Gaps are not independent, so over
    long times it is burstier than they tell.

    Parameters
    ----------
    rate : float
        Requests per time unit over all time.
    burst : float
        Rate of a busy spell over ``rate``, from 1 (Poisson) to ``1 / busy`` (none come while quiet).
    busy : float
        Share of time in busy spells, strictly between 0 and 1.
    cycle : float
        Mean duration of a busy and a quiet spell together, in time units, at least
        ``1 / (1000 rate)``; spells much shorter than a gap make no difference to it.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Notes
    -----
    The formulas are those of Heffes and Lucantoni (1986), "A Markov modulated characterization of
    packetized voice and data traffic and related statistical multiplexer performance".
    """

    rate: float
    burst: float
    busy: float
    cycle: float

    def __post_init__(self) -> None:
        check_positive("rate", self.rate)
        check_positive("cycle", self.cycle)
        if not (is_real(self.busy) and 0 < self.busy < 1):
            raise ValueError(f"busy={self.busy!r}: must lie strictly between 0 and 1")
        if not (is_real(self.burst) and 1 <= self.burst <= 1 / self.busy):
            raise ValueError(
                f"burst={self.burst!r}: must be a number from 1 to 1 / busy, {1 / self.busy:.6g}"
            )
        if self.cycle * self.rate < 0.001:
            raise ValueError(
                f"cycle={self.cycle!r}: must be at least 1 / (1000 rate), {0.001 / self.rate:.6g}"
            )

    @property
    def busy_rate(self) -> float:
        """Requests per time unit in a busy spell."""
        return self.burst * self.rate

    @property
    def quiet_rate(self) -> float:
        """Requests per time unit in a quiet spell."""
        # burst = 1 / busy stands for no requests at all, whatever the rounding
        return max(0.0, self.rate * (1 - self.burst * self.busy) / (1 - self.busy))

    @property
    def scv(self) -> float:
        """``1 + 2 v s / (1 + b q s / rate)``, with b and q the rates of the two kinds of spells.

        v is the variance of the rate over its mean, and s the time in which the state is forgotten:
        the rates of leaving the two states add up to ``1 / s``.
        """
        damping = self.busy_rate * self.quiet_rate * self._memory / self.rate
        return 1 + (self.dispersion - 1) / (1 + damping)

    @property
    def dispersion(self) -> float:
        """``1 + 2 v s``, with v and s as for `scv`."""
        variance = self.busy * (1 - self.busy) * (self.busy_rate - self.quiet_rate) ** 2
        return 1 + 2 * variance / self.rate * self._memory

    @property
    def rhythm(self) -> float | None:
        """None: spells are as random as the requests in them."""
        return None

    @property
    def _memory(self) -> float:
        return self.busy * (1 - self.busy) * self.cycle

    def releases(self, n: int, rng: np.random.Generator) -> FloatArray:
        """A Poisson process of rate 1, run at the pace of the spells."""
        amounts = np.cumsum(rng.exponential(size=n))
        releases = np.empty(n)
        known, end, expected = 0, 0.0, 0.0
        spells = [(self.busy, self.busy_rate), (1 - self.busy, self.quiet_rate)]
        if rng.random() >= self.busy:
            spells.reverse()
        share, rate = np.array(spells).T
        while known < n:
            cycles = math.ceil((amounts[-1] - expected) / (self.rate * self.cycle)) + 1
            durations = rng.exponential(size=(min(cycles, _MOST_CYCLES), 2)) * share * self.cycle
            ends = end + np.cumsum(np.append(0.0, durations))
            reached = expected + np.cumsum(np.append(0.0, durations * rate))
            end, expected = ends[-1], reached[-1]
            last = int(np.searchsorted(amounts, expected))
            releases[known:last] = np.interp(amounts[known:last], reached, ends)
            known = last
        return np.maximum.accumulate(releases)  # interpolation may err by a rounding where spells meet
