"""A policy around another one that changes nothing."""

from __future__ import annotations

from collections.abc import Sequence

from serving_sim.epoch import Epoch
from serving_sim.explanation import Explanation
from serving_sim.policy import Admission, Policy


class PassThrough(Policy):
    """Does and claims what ``inner`` does and claims."""

    def __init__(self, inner: Policy) -> None:
        self.inner = inner
        self.name = inner.name
        self.alpha = inner.alpha
        self.needs_upper = inner.needs_upper

    def describe(self) -> str:
        """Name and parameters of the inner policy."""
        return self.inner.describe()

    def begin(self, slots: int) -> None:
        """Pass the call on."""
        self.inner.begin(slots)
        self.alpha = self.inner.alpha  # a promise that comes as late as this shall show

    def join(self, request: int, size: int, release: float) -> None:
        """Pass the call on."""
        self.inner.join(request, size, release)

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        """Pass the call on."""
        return self.inner.decide(epoch)

    def explain(self, epoch: Epoch, answer: Sequence[Admission]) -> Explanation | None:
        """Pass the question on."""
        return self.inner.explain(epoch, answer)
