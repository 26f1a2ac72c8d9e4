"""A policy whose answers are drawn as it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nextafter

import pytest
from hypothesis import strategies as st

from serving_sim import Admission, Epoch, Policy, PolicyError

TICK = 2.0**-20
"""A time that is short beside any step, and exact in sums with whole steps."""


class Drawn(Policy):
    """Answers as a test draws it: whoever waits, any free slots, or nobody, with wake-ups or without.

    Attributes
    ----------
    data : DataObject or None
        Draws the answers; without it everybody is admitted for whom there is room.
    due, due_step : float
        When the policy has asked to be asked again, in time units and in busy steps.
    """

    name = "drawn"

    def __init__(self, alpha: int | None) -> None:
        self.alpha = alpha
        self.data: st.DataObject | None = None

    def begin(self, slots: int) -> None:
        self._waiting: list[int] = []
        self.due, self.due_step = inf, inf

    def join(self, request: int, size: int, release: float) -> None:
        self._waiting.append(request)

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        self.due, self.due_step = inf, inf
        if self.data is None:
            return self._admit(list(self._waiting), list(epoch.free))
        draw = self.data.draw
        self._ask_for_the_past(epoch, draw(st.sampled_from(["", "", "wake_at", "wake_in"])))
        most = min(len(self._waiting), len(epoch.free))
        requests = draw(st.permutations(self._waiting)) if len(self._waiting) < 6 else list(self._waiting)
        free = epoch.free if epoch.slots > 9 else draw(st.permutations(epoch.free))
        answer = self._admit(requests[: draw(st.integers(0, most))], list(free))
        self._ask_for_more(epoch, busy=bool(answer or epoch.active))
        return answer

    def _admit(self, requests: list[int], free: list[int]) -> list[Admission]:
        answer = list(zip(requests, free, strict=False))
        for request, _ in answer:
            self._waiting.remove(request)
        return answer

    def _ask_for_more(self, epoch: Epoch, *, busy: bool) -> None:
        assert self.data is not None
        wishes = self.data.draw(st.sampled_from(["", "steps", "time", "both"]))
        if wishes in ("steps", "both") and busy:
            steps = self.data.draw(st.integers(1, 4))
            epoch.wake_in(steps)
            self.due_step = epoch.step + steps
        if wishes in ("time", "both"):
            later = epoch.now + self.data.draw(st.sampled_from([TICK, 0.25, 3.0]))
            self.due = max(later, nextafter(epoch.now, inf))
            epoch.wake_at(self.due)

    def _ask_for_the_past(self, epoch: Epoch, what: str) -> None:
        """A refusal must leave no trace."""
        if what == "wake_at":
            with pytest.raises(PolicyError, match="instant in the future"):
                epoch.wake_at(epoch.now)
        elif what == "wake_in":
            with pytest.raises(PolicyError, match="whole number"):
                epoch.wake_in(0)
