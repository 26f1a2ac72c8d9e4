"""Play a given schedule: the bridge from solvers to the engine."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

from serving_sim import Admission, Epoch, Explanation, Policy, PolicyError


class Replay(Policy):
    """Admit every request at the instant a schedule gives, into the lowest free slot.

    It promises no fairness: the audit of the run says whether the schedule is fair.

    Parameters
    ----------
    start : sequence of float
        Start of each request, in time units, by its place in arrival order.

    Raises
    ------
    PolicyError
        During the run, if a start is not an epoch, lies before the release or finds no free slot.
    """

    name = "replay"

    def __init__(self, start: Sequence[float]) -> None:
        self._start = tuple(start)

    def begin(self, slots: int) -> None:
        self._waiting: list[tuple[float, int]] = []

    def join(self, request: int, size: int, release: float) -> None:
        heappush(self._waiting, (self._start[request], request))

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        admissions = []
        slots = iter(epoch.free)
        while self._waiting and self._waiting[0][0] <= epoch.now:
            start, request = heappop(self._waiting)
            slot = next(slots, None)
            if start < epoch.now or slot is None:
                raise PolicyError(
                    f"policy replay at time {epoch.now}: request {request} cannot start at {start}"
                )
            admissions.append((request, slot))
        if self._waiting:
            epoch.wake_at(self._waiting[0][0])
        return admissions

    def explain(self, epoch: Epoch, answer: Sequence[Admission]) -> Explanation:
        planned = {request: f"planned for {start:.15g}" for start, request in sorted(self._waiting)}
        return Explanation("a schedule that was given is played", planned)
