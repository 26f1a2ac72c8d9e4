"""A window of time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from serving_sim import Workload
from serving_sim.arguments import is_finite
from workloads.parameters import check_positive
from workloads.shaping.shaping import Shaped, counted, kept

BEHIND = "after the window"
"""Why requests are left out of which there are some only where the window ends before the log does."""


@dataclass(frozen=True)
class Window:
    """The requests released in [start, start + duration), with time 0 at the start of the window.

    The silence before the first request of the window stays.

    Parameters
    ----------
    start : float
        Time units after the origin of the workload, >= 0.
    duration : float, optional
        Time units > 0; without it the window reaches to the end.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    random: ClassVar[bool] = False
    start: float = 0.0
    duration: float | None = None

    def __post_init__(self) -> None:
        if not (is_finite(self.start) and self.start >= 0):
            raise ValueError(f"start={self.start!r}: must be a finite number of time units >= 0")
        if self.duration is not None:
            check_positive("duration", self.duration, "time units")

    def describe(self) -> str:
        if self.duration is None:
            return f"window from {self.start:g} time units to the end"
        return f"window from {self.start:g} for {self.duration:g} time units"

    def apply(self, workload: Workload, rng: np.random.Generator) -> Shaped:
        early = workload.release < self.start
        late = np.zeros_like(early)
        if self.duration is not None:
            late = workload.release >= self.start + self.duration
        inside = kept(workload, ~(early | late), self.describe())
        return Shaped(
            replace(inside, release=inside.release - self.start),
            counted({"before the window": early.sum(), BEHIND: late.sum()}),
        )
