"""A policy to break: first come, first served, as plainly as possible."""

from __future__ import annotations

from collections.abc import Sequence

from serving_sim import Admission, Epoch, Policy


class Plain(Policy):
    """Keeps the contract; a subclass breaks one thing, often with the help of `admit`."""

    name = "plain"

    def begin(self, slots: int) -> None:
        self.waiting: list[tuple[int, int]] = []  # request, size

    def join(self, request: int, size: int, release: float) -> None:
        self.waiting.append((request, size))

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        return self.admit(epoch)

    def admit(self, epoch: Epoch) -> list[Admission]:
        return [(self.waiting.pop(0)[0], slot) for slot in epoch.lowest(len(self.waiting))]
