"""The contract between the worker and a scheduling policy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from inspect import signature
from typing import TYPE_CHECKING

from serving_sim.explanation import Explanation

if TYPE_CHECKING:
    from serving_sim.epoch import Epoch
    from serving_sim.rule import Rule

Admission = tuple[int, int]
"""A request and the free slot it shall take."""


class Policy(ABC):
    """Decides which waiting request enters which free slot, and when.

    A run calls the hooks in this order:

    1. `begin` once, before anything else;
    2. `join` once for every request, when the worker first sees it, in the order
       (release, input order). Requests are numbered 0, 1, 2, .. in that order; the number is all
       that a policy needs to name one.
    3. `decide` at an epoch (a step boundary, or any instant while the worker is empty) at which a
       slot is free and a request waits, after the completions and releases of that epoch.

    A policy knows what these calls told it and what the `Epoch` shows; the future is out of its
    reach. Nothing is asked between epochs. The worker checks every answer and raises `PolicyError`
    for a request that does not wait or a slot that is not free.
    """

    @cached_property
    def name(self) -> str:
        """What the command line calls the policy; a class that sets none goes by its own name."""
        return type(self).__name__

    needs_upper: bool = False
    """Whether sizes are the upper predictions even where true lengths are known."""

    alpha: int | None = None
    """Fairness budget in tokens the policy promises to keep, or None.

    While the largest progress in the batch exceeds it no admission can be fair, so the worker does
    not ask a policy that makes the promise (Yao and Zhou, constraint (1); the gap between two
    active requests never changes).
    """

    @abstractmethod
    def begin(self, slots: int) -> None:
        """Forget everything: a new run starts on an empty worker with ``slots`` slots."""

    @abstractmethod
    def join(self, request: int, size: int, release: float) -> None:
        """A request joins the waiting queue.

        Parameters
        ----------
        request : int
            Its number, one more than that of the request before it.
        size : int
            What the information model shows of its length, in tokens: the length itself or an
            upper bound.
        release : float
            When it was released, in time units; at or before the coming epoch.
        """

    @abstractmethod
    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        """Requests to admit now, each with a free slot of its own.

        An empty answer keeps the free slots idle until the next release or completion, or until
        the instant named through `Epoch.wake_in` or `Epoch.wake_at`.
        """

    def explain(self, epoch: Epoch, answer: Sequence[Admission]) -> Explanation | None:
        """Why `decide` gave ``answer``; None from a policy that does not tell.

        A run never asks. An observer may, right after `decide` and before anything else: the policy is as
        that call left it, the epoch as that call found it. So the reason can be worked out here from what
        the policy keeps anyway, and costs nothing where nobody wants it. It must change nothing: neither
        later answers nor wake-ups.

        Parameters
        ----------
        epoch : Epoch
            The epoch of the decision.
        answer : sequence of (request, slot)
            What `decide` returned.
        """
        return None

    def rule(self) -> Rule | None:
        """The policy in numbers, for a compiled engine to play with the same results; None for none.

        It counts for the class that defines it alone: a subclass that acts differently must not be
        taken for its parent.
        """
        return None

    def describe(self) -> str:
        """Name and parameters as the command line writes them; the label in every table.

        By default the parameters of the constructor that are attributes of the same name.
        """
        names = [name for name in signature(type(self)).parameters if hasattr(self, name)]
        values = ",".join(f"{name}={getattr(self, name)}" for name in names)
        return f"{self.name}:{values}" if values else self.name
