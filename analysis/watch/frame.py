"""What there is to see at one epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import chain
from typing import Any, overload

import numpy as np

from serving_sim.request import IntArray

_OF_REQUESTS = ("slots", "waiting")


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


class Queue(Sequence[Waiting]):
    """Requests that wait, in order of arrival; each is described when somebody looks at it.

    Thousands may wait at each of thousands of epochs, of which a reader sees ten.

    Parameters
    ----------
    requests : ndarray of int, shape (n,)
        Which they are, rising.
    numbers : mapping of str to int
        Requests of the run by what they are called.
    describe : callable
        Tells what there is to see of a request.
    """

    def __init__(
        self, requests: IntArray, numbers: Mapping[str, int], describe: Callable[[int], Waiting]
    ) -> None:
        self._requests = requests
        self._numbers = numbers
        self._describe = describe

    def __len__(self) -> int:
        return len(self._requests)

    @overload
    def __getitem__(self, place: int) -> Waiting: ...

    @overload
    def __getitem__(self, place: slice) -> Queue: ...

    def __getitem__(self, place: int | slice) -> Waiting | Queue:
        if isinstance(place, slice):
            return Queue(self._requests[place], self._numbers, self._describe)
        return self._describe(int(self._requests[place]))

    def first(self, names: Iterable[str]) -> Iterator[Waiting]:
        """Those of the names who wait before all others."""
        wanted = np.sort(np.fromiter((self._numbers[name] for name in names), np.int64))
        ahead = wanted[np.isin(wanted, self._requests, assume_unique=True)].tolist()
        behind = (request for request in self._requests if request not in ahead)
        return map(self._describe, chain(ahead, map(int, behind)))


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
    waiting : Queue
        Who waits.
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
    waiting: Queue
    max_progress: int
    gap: int
    alpha: int | None
    violates: bool
    rule: str
    reasons: tuple[tuple[str, str], ...]

    def to_dict(self) -> dict[str, Any]:
        """The epoch for JSON; free slots are null."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        described = {
            name: [None if each is None else asdict(each) for each in plain[name]] for name in _OF_REQUESTS
        }
        return {**plain, **described, "reasons": dict(self.reasons)}
