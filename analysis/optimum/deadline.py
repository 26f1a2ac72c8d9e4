"""When to stop searching."""

from __future__ import annotations

from time import perf_counter


class OutOfTimeError(Exception):
    """The deadline has passed; what is known by then is the answer."""


class Deadline:
    """An instant of wall-clock time, shared by all that is done before it.

    Parameters
    ----------
    seconds : float
        From now on, > 0.
    """

    def __init__(self, seconds: float) -> None:
        self._end = perf_counter() + seconds

    @property
    def left(self) -> float:
        """Seconds until then, 0 once it has passed."""
        return max(0.0, self._end - perf_counter())

    def check(self) -> None:
        """Do nothing before the deadline.

        Raises
        ------
        OutOfTimeError
            Past it.
        """
        if not self.left:
            raise OutOfTimeError
