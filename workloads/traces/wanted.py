"""What the reader of a request log wants from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from serving_sim.arguments import unknown
from workloads.parameters import check_positive
from workloads.tables import OnBadRow

LengthKind = Literal["total", "output", "prompt"]


@dataclass(frozen=True)
class Wanted:
    """How rows become requests.

    Parameters
    ----------
    length : str
        What counts as service steps: ``output`` tokens, ``prompt`` tokens, or both (``total``).
    time_unit : float, optional
        Seconds in a time unit, that is in a step where steps take one time unit.
    on_bad_row : str
        ``error`` refuses the file for its first bad row, ``drop`` leaves bad rows out.

    Raises
    ------
    ValueError
        If ``length`` is unknown or ``time_unit`` is not a finite number above 0.
    """

    length: LengthKind = "total"
    time_unit: float | None = None
    on_bad_row: OnBadRow = "error"

    def __post_init__(self) -> None:
        if self.length not in get_args(LengthKind):
            raise ValueError(unknown("length", self.length, get_args(LengthKind)))
        if self.time_unit is not None:
            check_positive("time_unit", self.time_unit, "seconds")
