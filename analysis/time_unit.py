"""What a run counts time in, as people read it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TimeUnit:
    """Name of the unit of all times of a run.

    Parameters
    ----------
    name : str
        In the singular: "step" where a step takes one unit, else "time unit".
    seconds : float or None
        How long one is, where the input was in seconds.
    """

    name: str = "time unit"
    seconds: float | None = None

    @classmethod
    def of(cls, *, steps: bool, seconds: float | None) -> TimeUnit:
        """The unit of a run that counts time in ``steps`` or not, with the length its input gave it."""
        if seconds == 1 and not steps:
            return cls("second")
        return cls("step" if steps else "time unit", seconds)

    @property
    def singular(self) -> str:
        """As in "tokens per step of 0.03 s"."""
        return f"{self.name}{self._length}"

    @property
    def plural(self) -> str:
        """As in "steps of 0.03 s"."""
        return f"{self.name}s{self._length}"

    def as_seconds(self) -> tuple[TimeUnit, float]:
        """Seconds where it is known how long a unit is, else the unit itself; how many are in a unit."""
        return (self, 1.0) if self.seconds is None else (TimeUnit("second"), self.seconds)

    @property
    def _length(self) -> str:
        return "" if self.seconds is None else f" of {self.seconds:g} s"
