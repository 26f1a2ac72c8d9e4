"""A series together with its statistics, each found once however many comparisons ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analysis.statistic import SECTIONS, Statistic, values_of
from serving_sim.request import FloatArray


@dataclass(frozen=True, eq=False)
class Series:
    """Values of one metric in one run.

    Attributes
    ----------
    values : ndarray of float, shape (n,)
        In arrival order, n >= 0.
    statistics : sequence of Statistic
        What is asked of them.
    """

    values: FloatArray
    statistics: Sequence[Statistic]

    @cached_property
    def found(self) -> dict[str, float]:
        """The statistics by name, without those that are absent."""
        return values_of(self.statistics, self.values)

    @cached_property
    def sections(self) -> list[dict[str, float]]:
        """What `found` is of each of the `analysis.statistic.SECTIONS` consecutive sections."""
        return [values_of(self.statistics, part) for part in np.array_split(self.values, SECTIONS)]
