"""Measured steps: how long a batch took, and what was in it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serving_sim import StepTime
from serving_sim.request import FloatArray, IntArray
from workloads.report import ReadReport
from workloads.tables import Batch, Intake, OnBadRow, open_table

COLUMNS = ("batch_size", "max_kv_tokens", "sum_kv_tokens", "milliseconds")
"""What a row says of a step, in the order of `MeasuredSteps`."""

TERMS = tuple(field.name for field in fields(StepTime))
"""Coefficients of `serving_sim.StepTime`, in the order of the columns of `MeasuredSteps.design`."""

_NANOSECOND = 1e-6
_DAY = 86_400_000


@dataclass(frozen=True)
class MeasuredSteps:
    """Steps in the order in which they were taken.

    Attributes
    ----------
    batch_size : ndarray of int, shape (n,)
        Requests in the batch.
    max_kv_tokens, sum_kv_tokens : ndarray of int, shape (n,)
        Tokens of the longest cache and of all caches, those of this step among them.
    milliseconds : ndarray of float, shape (n,)
        How long each step took.
    """

    batch_size: IntArray
    max_kv_tokens: IntArray
    sum_kv_tokens: IntArray
    milliseconds: FloatArray

    def __len__(self) -> int:
        return len(self.milliseconds)

    @property
    def design(self) -> FloatArray:
        """What each coefficient of `TERMS` is multiplied with, shape (n, 4)."""
        ones = np.ones(len(self))
        return np.column_stack([ones, self.batch_size, self.max_kv_tokens, self.sum_kv_tokens])


def read_steps(path: str | Path, *, on_bad_row: OnBadRow = "error") -> tuple[MeasuredSteps, ReadReport]:
    """Read measured steps from a CSV, JSON lines or Parquet file with the columns `COLUMNS`.

    Parameters
    ----------
    path : str or Path
        The file.
    on_bad_row : str
        ``error`` refuses the file for its first bad row, ``drop`` leaves bad rows out and counts them.

    Raises
    ------
    ValueError
        If the file is refused: with its line, column, value and rule where a row is to blame.
    """
    intake = Intake([open_table(path)], on_bad_row, holding="step")
    columns = intake.columns(intake.names(COLUMNS, ()), _checked)
    return MeasuredSteps(**columns), intake.report("measured steps")


def _checked(batch: Batch) -> dict[str, NDArray[Any]]:
    size, longest, total = (batch.whole(name, least=1) for name in COLUMNS[:3])
    mean = -(-total // np.maximum(size, 1))  # rounded up; a product of two counts need not fit
    batch.refuse("sum_kv_tokens", mean > longest, "must be <= batch_size * max_kv_tokens")
    batch.refuse("sum_kv_tokens", total < longest - 1 + size, "must be >= max_kv_tokens + batch_size - 1")
    milliseconds = batch.real("milliseconds")
    batch.refuse("milliseconds", milliseconds < _NANOSECOND, "must be at least 1e-6, a nanosecond")
    batch.refuse("milliseconds", milliseconds > _DAY, "must be at most 86,400,000, a day")
    return dict(zip(COLUMNS, (size, longest, total, milliseconds), strict=True))
