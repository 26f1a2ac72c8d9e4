"""The rules of the policy contract that one answer can break, an exception each.

Like all errors of the project they keep the default ``__init__`` (see `serving_sim.errors`).
"""

from __future__ import annotations

from typing import Self

from serving_sim.errors import PolicyError
from serving_sim.testing.messages import message


class BreachError(PolicyError):
    """A broken rule; the message says where, what was expected, what was found, and why likely."""

    @classmethod
    def at(cls, where: str, *, expected: str, found: str, cause: str) -> Self:
        """The breach with its message."""
        return cls(message(where, expected=expected, found=found, cause=cause))


class AnswerError(BreachError):
    """The answer is not a sequence of (request, slot) pairs of whole numbers."""


class CapacityError(BreachError):
    """There are more admissions than free slots."""


class WaitingError(BreachError):
    """An admitted request does not wait."""


class SlotError(BreachError):
    """A slot is taken that is not free."""


class FairnessError(BreachError):
    """An admission puts two requests further apart than the alpha the policy promises."""


class EpochError(BreachError):
    """The policy changes the epoch, looks behind it, or uses it after its answer."""


class WakeUpError(BreachError):
    """A wake-up is not in the future, or counts steps while the worker is empty."""


class CallError(BreachError):
    """Whoever calls the policy does not keep the order of calls or shows a wrong worker."""
