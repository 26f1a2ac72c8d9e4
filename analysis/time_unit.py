"""What a run counts time and service in, as people read it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TimeUnit:
    """Name of the unit of all times of a run, and of what a step gives a request.

    Parameters
    ----------
    name : str
        In the singular: "step" where a step takes one unit, else "time unit".
    seconds : float or None
        How long one is, where the input was in seconds.
    in_chunks : bool
        Whether a step may read several tokens of a prompt, so that service is not counted in tokens.
    """

    name: str = "time unit"
    seconds: float | None = None
    in_chunks: bool = False

    @classmethod
    def of(cls, *, steps: bool, seconds: float | None, in_chunks: bool = False) -> TimeUnit:
        """The unit of a run that counts time in ``steps`` or not, with the length its input gave it."""
        if seconds == 1 and not steps:
            return cls("second", in_chunks=in_chunks)
        return cls("step" if steps else "time unit", seconds, in_chunks)

    @property
    def singular(self) -> str:
        """As in "tokens per step of 0.03 s"."""
        return f"{self.name}{self._length}"

    @property
    def plural(self) -> str:
        """As in "steps of 0.03 s"."""
        return f"{self.name}s{self._length}"

    def in_service(self, unit: str) -> str:
        """A unit of tokens as the run counts them, as in "steps of service per second"."""
        if not self.in_chunks:
            return unit
        return unit.replace("tokens", "steps of service").replace("token", "step of service")

    def as_seconds(self) -> tuple[TimeUnit, float]:
        """Seconds where it is known how long a unit is, else the unit itself; how many are in a unit."""
        return (
            (self, 1.0)
            if self.seconds is None
            else (TimeUnit("second", in_chunks=self.in_chunks), self.seconds)
        )

    @property
    def _length(self) -> str:
        return "" if self.seconds is None else f" of {self.seconds:g} s"
