"""What became of the rows of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class ReadReport:
    """How a file was read: ``rows_read == kept + sum(dropped.values())``.

    Attributes
    ----------
    path : Path
        The file.
    format : str
        Name of the format it was read as.
    rows_read : int
        Rows in the file, header and blank lines apart.
    kept : int
        Rows that became requests.
    dropped : mapping of str to int
        Rows left out, by reason: the first rule they break, as ``column: rule``.
    notes : sequence of str
        What a reader of the results should know, one line each.
    out_of_order : int
        Rows kept that were earlier than the row before, and were sorted.
    time_unit : float or None
        Seconds in a time unit, where the file says so.
    """

    path: Path
    format: str
    rows_read: int
    kept: int
    dropped: Mapping[str, int] = field(default_factory=dict)
    notes: Sequence[str] = ()
    out_of_order: int = 0
    time_unit: float | None = None
