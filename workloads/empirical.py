"""Lengths resampled from a file of measured ones."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from serving_sim.arguments import unknown
from workloads.spec import PATH
from workloads.traces import read_lengths

_COLUMNS = ("length", "prompt_tokens", "output_tokens")


@dataclass(frozen=True)
class Empirical:
    """Lengths drawn with replacement from a workload file, a log or a file of token counts.

    Parameters
    ----------
    file : str
        Path of the file, or a pattern for several of one format.
    column : str
        ``length``, which is prompt and output together where the file does not state it,
        ``prompt_tokens`` or ``output_tokens``.

    Raises
    ------
    ValueError
        If the file cannot be read, lacks the column, or the column holds values below 1.
    """

    file: str = field(metadata=PATH)
    column: str = "length"
    _values: NDArray[np.int64] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.column not in _COLUMNS:
            raise ValueError(unknown("column", self.column, _COLUMNS))
        values = read_lengths(self.file).get(self.column)
        if values is None:
            raise ValueError(f"{self.file}: has no column {self.column}")
        if values.min() < 1:
            raise ValueError(f"{self.file}: {self.column}={values.min().item()!r}: lengths must be >= 1")
        object.__setattr__(self, "_values", values)

    @property
    def mean(self) -> float:
        """Mean of the column."""
        return float(self._values.mean())

    def sample(self, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """``n`` independent lengths."""
        return rng.choice(self._values, size=n)
