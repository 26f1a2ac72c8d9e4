"""What a policy sees when it is asked."""

from __future__ import annotations

from math import inf
from typing import NoReturn

from serving_sim.arguments import is_finite, is_whole
from serving_sim.batch import FREE, Batch
from serving_sim.errors import PolicyError
from serving_sim.ledger import Knowledge

NO_WAKE_UP = (inf, inf)


class Epoch:
    """The worker at the instant of a decision; one object per run, valid until the policy has answered.

    Attributes
    ----------
    now : float
        The instant, in time units.
    step : int
        Busy steps so far.
    joined : int
        Requests that have joined so far; their numbers lie below it.
    wakes : bool
        Whether the decision has asked for a wake-up.
    idle_since : float
        The instant at which the worker last became empty; meaningful while nobody is active.
    """

    __slots__ = (
        "_batch",
        "_free",
        "_knowledge",
        "_label",
        "_wake_up",
        "idle_since",
        "joined",
        "now",
        "step",
        "wakes",
    )

    def __init__(self, batch: Batch, free: list[int], knowledge: Knowledge, policy: str) -> None:
        self._batch = batch
        self._free = free
        self._knowledge = knowledge
        self._label = policy
        self._wake_up = NO_WAKE_UP
        self.wakes = False
        self.now = 0.0
        self.step = 0
        self.idle_since = 0.0
        self.joined = 0

    @property
    def active(self) -> int:
        """Active requests."""
        return len(self._batch.admitted)

    @property
    def max_progress(self) -> int:
        """A_max, the progress of the furthest active request in tokens; 0 for an empty batch."""
        return self.step - self._batch.oldest if self._batch.admitted else 0

    def lowest(self, count: int) -> list[int]:
        """The at most ``count`` free slots with the lowest numbers, in increasing order.

        Raises
        ------
        PolicyError
            If ``count`` is negative.
        """
        if count < 0:  # a slice would count from the end
            self._refuse(f"lowest: count={count!r} must be >= 0")
        return self._free[:count]

    @property
    def free(self) -> tuple[int, ...]:
        """All free slots in increasing order."""
        return tuple(self._free)

    @property
    def slots(self) -> int:
        """Slots of the worker, free or not."""
        return len(self._batch.occupant)

    def request(self, slot: int) -> int | None:
        """Number of the request in ``slot``, None if it is free.

        Raises
        ------
        PolicyError
            If there is no such slot.
        """
        if not 0 <= slot < len(self._batch.occupant):
            self._refuse_slot(slot)
        request = self._batch.occupant[slot]
        return None if request == FREE else request

    def interval(self, request: int) -> tuple[int, int]:
        """Bounds in tokens on the length of a request that has joined, as far as they are known.

        Raises
        ------
        PolicyError
            If the request has not joined, or has finished.
        """
        if not 0 <= request < self.joined:
            self._refuse(f"request {request} has not joined, nothing is known of it")
        interval = self._knowledge.interval(request)
        if interval is None:
            self._refuse(f"request {request} has finished, its bounds are no longer kept")
        return interval

    def progress(self, slot: int) -> int | None:
        """Progress of the request in ``slot`` in tokens, None if it is free.

        Raises
        ------
        PolicyError
            If there is no such slot.
        """
        since = self._batch.admitted.get(slot)
        if since is not None:
            return self.step - since
        if not 0 <= slot < len(self._batch.occupant):
            self._refuse_slot(slot)
        return None

    def wake_in(self, steps: int) -> None:
        """Ask again ``steps`` >= 1 steps from now at the latest; only while the batch is busy.

        The earliest of several wake-ups counts; each decision starts without one.

        Raises
        ------
        PolicyError
            If ``steps`` is not a whole number >= 1 or, after the decision, if the batch is empty.
        """
        if not (is_whole(steps) and steps >= 1):
            self._refuse(f"wake_in: steps={steps!r} must be a whole number >= 1")
        self.wakes = True
        self._wake_up = (min(self.step + int(steps), self._wake_up[0]), self._wake_up[1])

    def wake_at(self, instant: float) -> None:
        """Ask again at ``instant`` at the latest, in time units; at the first step end from then if busy.

        Raises
        ------
        PolicyError
            If the instant does not lie in the future or is not finite.
        """
        if not (is_finite(instant) and self.now < float(instant)):
            self._refuse(f"wake_at: instant={instant!r} must lie in the future")
        self.wakes = True
        self._wake_up = (self._wake_up[0], min(float(instant), self._wake_up[1]))

    def take_wake_up(self) -> tuple[float, float]:
        """The worker takes the wake-up the answer asked for: a step and an instant, inf for none."""
        step, instant = self._wake_up
        if step < inf and not self._batch.admitted:
            self._refuse("wake_in: needs a busy batch, the worker is empty")
        self.wakes = False
        self._wake_up = NO_WAKE_UP
        return step, instant

    def _refuse_slot(self, slot: int) -> NoReturn:
        self._refuse(f"slot {slot} is not one of 0..{len(self._batch.occupant) - 1}")

    def _refuse(self, what: str) -> NoReturn:
        raise PolicyError(f"policy {self._label} at time {self.now}: {what}")
