"""The policy on which sources are tried."""

from __future__ import annotations

from collections.abc import Sequence

from serving_sim.epoch import Epoch
from serving_sim.policy import Admission, Policy


class TooManyRequestsError(Exception):
    """A source releases more requests than it was allowed to."""


class ArrivalOrder(Policy):
    """First come, first served, for at most ``most`` requests: a source may have no end."""

    name = "arrival-order"

    def __init__(self, most: int) -> None:
        self._most = most

    def begin(self, slots: int) -> None:
        """Nobody waits."""
        self._next = self._joined = 0

    def join(self, request: int, size: int, release: float) -> None:
        """Count the request."""
        self._joined = request + 1
        if self._joined > self._most:
            raise TooManyRequestsError

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        """Fill the free slots."""
        admissions = list(enumerate(epoch.lowest(self._joined - self._next), self._next))
        self._next += len(admissions)
        return admissions
