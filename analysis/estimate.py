"""A number with its confidence interval, or with the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """Point estimate of one statistic.

    Attributes
    ----------
    value : float or None
        The estimate; None where no value is defined.
    low, high : float or None
        Ends of the confidence interval; both None where none can be stated honestly.
    note : str or None
        Why there is no interval; None where there is one.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    note: str | None = None

    def withheld(self, note: str) -> Estimate:
        """The value without an interval, for the reason given."""
        return self if self.value is None else Estimate(self.value, note=note)

    def scaled(self, factor: float) -> Estimate:
        """The estimate in another unit, ``factor`` > 0."""
        value, low, high = (
            None if each is None else each * factor for each in (self.value, self.low, self.high)
        )
        return Estimate(value, low, high, self.note)

    @property
    def half_width(self) -> float | None:
        """Half of the interval's width, None without one."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    @property
    def excludes_zero(self) -> bool | None:
        """Whether zero lies outside the interval, None without one."""
        return None if self.low is None or self.high is None else not self.low <= 0 <= self.high
