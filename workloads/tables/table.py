"""What every container of rows offers, be it CSV, JSON lines or Parquet."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

Columns = Mapping[str, pa.Array]
"""Consecutive rows: arrays of equal length, by column name."""


@dataclass(frozen=True)
class Misfit:
    """A record that is not even a row: what is wrong with it, and which record it is, from 0."""

    record: int
    name: str
    value: object
    rule: str


class Table(ABC):
    """Rows of a file, read front to back in batches.

    Rows are numbered from 0. Records that are no rows do not count as such: once the reader has come
    past them, ``skipped`` holds their numbers among all records, and ``misfits`` those that are wrong.
    """

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self.path = path
        self.columns = tuple(columns)
        self.misfits: list[Misfit] = []
        self.skipped: list[int] = []
        for name in self.columns:
            if self.columns.count(name) > 1:
                raise ValueError(f"{path}: column {name!r} must not appear twice")

    @abstractmethod
    def batches(self, names: Sequence[str]) -> Iterator[Columns]:
        """The named columns, some thousand rows at a time, as text or as the file types them."""

    @abstractmethod
    def record_place(self, record: int) -> str:
        """Where a record stands, as a reader of the file counts: ``line 7``."""

    def place(self, row: int) -> str:
        """Where a row stands, as a reader of the file counts."""
        record = row
        for skipped in self.skipped:  # in file order
            record += skipped <= record
        return self.record_place(record)

    def require(self, names: Sequence[str]) -> None:
        """Refuse the file unless it has all the named columns."""
        missing = [name for name in names if name not in self.columns]
        if missing:
            noun = "column" if len(missing) == 1 else "columns"
            found = ", ".join(map(repr, self.columns)) or "none"
            raise ValueError(
                f"{self.path}: {noun} {', '.join(map(repr, missing))} must be there, found {found}"
            )


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what the system or the parser says about a file into one line that names it."""
    try:
        yield
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file") from None
    except OSError as error:  # Arrow's input errors are OSErrors with long texts and no errno
        what = error.strerror.lower() if error.strerror else _first_line(error)
        raise ValueError(f"{path}: cannot be read: {what}") from None
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: cannot be read: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
