"""What there is to see at one epoch."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Active:
    """A request in the batch.

    Attributes
    ----------
    request : str
        Its id, or its row.
    length, progress : int
        In tokens.
    enters : bool
        Whether it was admitted at this epoch.
    """

    request: str
    length: int
    progress: int
    enters: bool


@dataclass(frozen=True)
class Waiting:
    """A request in the queue.

    Attributes
    ----------
    request : str
        Its id, or its row.
    length : int
        In tokens; where policies see an upper prediction, not what they see.
    size : int
        What policies see, in tokens.
    since : float
        Its release, in time units.
    """

    request: str
    length: int
    size: int
    since: float


@dataclass(frozen=True)
class Frame:
    """An epoch after its decision.

    Attributes
    ----------
    epoch, epochs : int
        Number of the epoch from 1, and how many there are.
    time : float
        In time units.
    step : int
        Busy steps before.
    finished, released : tuple of str
        Requests that completed, and that joined the queue.
    slots : tuple of Active or None
        By slot, who is in it.
    waiting : tuple of Waiting
        The queue in order of arrival.
    max_progress : int
        A_max, which the fairness test looks at: the largest progress before anybody entered, in tokens.
    gap : int
        Largest less smallest progress in the batch, in tokens.
    alpha : int or None
        Fairness budget that gaps are held against, in tokens.
    violates : bool
        Whether somebody entered while A_max exceeded alpha.
    rule : str
        What decided: the rule of the policy, or why it was not asked.
    reasons : tuple of (request, text)
        What the policy says of single requests, those that enter first.
    """

    epoch: int
    epochs: int
    time: float
    step: int
    finished: tuple[str, ...]
    released: tuple[str, ...]
    slots: tuple[Active | None, ...]
    waiting: tuple[Waiting, ...]
    max_progress: int
    gap: int
    alpha: int | None
    violates: bool
    rule: str
    reasons: tuple[tuple[str, str], ...]

    def to_dict(self) -> dict[str, Any]:
        """The epoch for JSON; free slots are null."""
        return {**asdict(self), "reasons": dict(self.reasons)}
