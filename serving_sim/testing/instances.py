"""The small instances on which the conformance kit watches a policy."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, Self

from serving_sim.request import Workload
from serving_sim.steptime import StepTime


class Row(NamedTuple):
    """One request; the prediction interval is ``lower <= length <= upper``, in tokens."""

    release: float
    length: int
    lower: int
    upper: int


@dataclass(frozen=True)
class Instance:
    """A worker and the requests it gets.

    Attributes
    ----------
    title : str
        What messages call it.
    slots : int
        Slots of the worker.
    rows : tuple of Row
        Requests in order of release, so that a row's number is the request's.
    step_time : StepTime
        Duration of a step.
    slotted : bool
        Whether an empty worker too starts on the grid of steps.
    """

    title: str
    slots: int
    rows: tuple[Row, ...]
    step_time: StepTime = field(default_factory=StepTime)
    slotted: bool = False

    @cached_property
    def workload(self) -> Workload:
        """The requests as columns."""
        release, length, lower, upper = zip(*self.rows, strict=True)
        return Workload(release, length, lower=lower, upper=upper)

    @property
    def label(self) -> str:
        """How messages begin."""
        return f"instance {self.title!r}"

    def with_rows(self, rows: tuple[Row, ...]) -> Self:
        """The same worker with other requests."""
        return replace(self, rows=rows)


def rows(*requests: tuple[float, int]) -> tuple[Row, ...]:
    """Rows from (release, length), with intervals from half the length to twice the length."""
    return tuple(Row(float(release), length, (length + 1) // 2, 2 * length) for release, length in requests)


_TIES = rows((0, 7), (0, 7), (0, 2), (0, 7), (3, 2), (3, 2), (3, 7))
_BACKLOG = rows(*((0, 1 + 11 * k % 37) for k in range(30)))

INSTANCES: tuple[Instance, ...] = (
    Instance("one request", 1, rows((0, 3))),
    Instance("one slot", 1, rows((0, 4), (0, 9), (1, 2), (6, 5), (30, 3))),
    Instance("length 1", 2, rows((0, 1), (0, 1), (0, 1), (1, 1), (1, 1), (1, 1), (1, 1), (7, 1))),
    Instance("ties", 3, _TIES),
    Instance("many slots", 8, rows((0, 12), (0, 1), (5, 20), (5, 3), (11, 6))),
    Instance("fractional releases", 2, rows((0.5, 3), (1.25, 8), (1.75, 2), (2.5, 6), (24.125, 4))),
    Instance("fractional releases on a grid", 2, rows((0.5, 3), (1.25, 2), (8.75, 6)), slotted=True),
    Instance("bursts", 2, rows(*((at, length) for at in (0, 15, 21) for length in (13, 2, 6, 1)))),
    Instance("growing steps", 3, _TIES, StepTime(base=1, per_request=0.25, per_token=0.125)),
    Instance("backlog", 4, _BACKLOG),
)
"""The smallest come first. Lengths run from 1 to 37: a budget alpha of about 5 splits them well."""
