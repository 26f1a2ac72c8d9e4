"""The plain workload file: a table of requests as CSV, JSON lines or Parquet.

Columns ``release`` (time units) and ``length`` (steps) are needed; ``request_id``, ``prompt_tokens``,
``output_tokens``, ``lower``, ``upper``, ``tenant``, ``prompt_steps`` and ``model`` may be there, and
``time_unit``, the seconds in a time unit, which is the same in every row. Other columns are ignored, and
so are optional numbers that are blank in every row, as in the requests file of a run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv, parquet

from serving_sim import Workload
from serving_sim.arguments import unknown
from serving_sim.columns import ALL_FLOATS, BLURRED
from workloads.report import ReadReport
from workloads.tables import Batch, Intake, OnBadRow, Table, open_table
from workloads.whole_file import replacing

COLUMNS = tuple(field.name for field in fields(Workload))
NEEDED = ("release", "length")
TIME_UNIT = "time_unit"
"""A column beside those of the requests: it says of all releases what they are counted in."""


def read_workload(path: str | Path, *, on_bad_row: OnBadRow = "error") -> tuple[Workload, ReadReport]:
    """Read a plain workload file.

    Parameters
    ----------
    path : str or Path
        A CSV (with a header), JSON lines or Parquet file.
    on_bad_row : str
        ``error`` refuses the file for its first bad row, ``drop`` leaves bad rows out and counts them.

    Returns
    -------
    workload : Workload
        Sorted by release; rows with equal releases stand in the file's order.
    report : ReadReport
        What became of the rows.

    Raises
    ------
    ValueError
        If the file cannot be read, lacks a column, holds no request, or, unless bad rows are dropped,
        if a row breaks a rule. The message is one line: file, line, column, value, rule.
    """
    return workload_of([open_table(path)], on_bad_row)


def workload_of(tables: Sequence[Table], on_bad_row: OnBadRow) -> tuple[Workload, ReadReport]:
    """Read one plain workload from tables that are already open; see `read_workload`."""
    intake = Intake(tables, on_bad_row)
    check = _Check()
    values = intake.columns(intake.names(NEEDED, _KNOWN), check)
    if "request_id" in values:
        values = intake.unique(values, "request_id")
    values = intake.in_order(values, "release")
    ignored = dict.fromkeys(name for table in tables for name in table.columns if name not in _KNOWN)
    if ignored:
        intake.notes.append(f"ignored columns: {', '.join(ignored)}")
    return Workload(**values), replace(intake.report("plain"), time_unit=check.time_unit)


def blocks_of(tables: Sequence[Table], on_bad_row: OnBadRow) -> Iterator[Workload]:
    """The same block by block, from tables in the order of their releases.

    That ids are unique cannot be seen without keeping them all, and is not looked at.
    """
    intake = Intake(tables, on_bad_row)
    names = intake.names(NEEDED, _KNOWN)
    for values in intake.in_turn(names, _Check(), "release"):
        yield Workload(**values)


def write_workload(workload: Workload, path: str | Path, *, time_unit: float | None = None) -> None:
    """Write a plain workload file; the suffix ``.csv``, ``.jsonl`` or ``.parquet`` says which kind.

    Reading it back gives the same numbers and texts to the last digit. The file appears only when it
    is complete.

    Parameters
    ----------
    workload : Workload
        What to write.
    path : str or Path
        Where.
    time_unit : float, optional
        Seconds in a time unit where that is known; it is then a column of its own.

    Raises
    ------
    ValueError
        If the suffix is unknown.
    OSError
        If the file cannot be written.
    """
    path = Path(path)
    if path.suffix not in _WRITERS:
        raise ValueError(f"{path}: {unknown('suffix', path.suffix, _WRITERS)}")
    table = pa.table({name: _arrow(getattr(workload, name)) for name in COLUMNS if _has(workload, name)})
    if time_unit is not None:
        table = table.append_column(TIME_UNIT, pa.array(np.full(len(workload), float(time_unit))))
    with replacing(path) as part:
        _WRITERS[path.suffix](table, part)


class _Check:
    """The rules of one file; its first batch says which optional columns are blank throughout."""

    def __init__(self) -> None:
        self._blank: set[str] | None = None
        self.time_unit: float | None = None

    def __call__(self, batch: Batch) -> dict[str, NDArray[Any]]:
        if self._blank is None:
            numbers = [name for name in batch.columns if name in _OPTIONAL_NUMBERS]
            self._blank = {name for name in numbers if batch.blank(name).all()}
        values = {
            name: _READERS[name](batch, name)
            for name in batch.columns
            if name in _READERS and name not in self._blank
        }
        for name in self._blank:
            batch.refuse(name, ~batch.blank(name), "must be blank, as it is in the rows before")
        for name in ("lower", "prompt_steps"):
            if name in values:
                batch.refuse(name, values[name] > values["length"], "must not exceed the length")
        if "upper" in values:
            batch.refuse("upper", values["upper"] < values["length"], "must not be below the length")
        if TIME_UNIT in batch.columns and TIME_UNIT not in self._blank:
            self._look_at_unit(batch)
        return values

    def _look_at_unit(self, batch: Batch) -> None:
        seconds = batch.real(TIME_UNIT)
        batch.refuse(TIME_UNIT, ~(seconds > 0), "must be above 0")
        good = seconds[batch.broken < 0]
        if self.time_unit is None and len(good):
            self.time_unit = float(good[0])
        batch.refuse(TIME_UNIT, seconds != self.time_unit, "must be the same in every row")


def _release(batch: Batch, name: str) -> NDArray[np.float64]:
    values = batch.real(name)
    batch.refuse(name, values < 0, "must not be negative")
    large = np.flatnonzero(values > ALL_FLOATS)
    written = [str(value).strip() for value in batch.columns[name].take(large).to_pylist()]
    blurred = np.zeros(len(values), bool)
    blurred[large] = [text.isdecimal() and int(text) != float(text) for text in written]
    batch.refuse(name, blurred, BLURRED)
    return values


def _steps(batch: Batch, name: str) -> NDArray[np.int64]:
    return batch.whole(name, least=1)


def _tokens(batch: Batch, name: str) -> NDArray[np.int64]:
    return batch.whole(name, least=0)


_READERS: dict[str, Callable[[Batch, str], NDArray[Any]]] = {
    "release": _release,
    "length": _steps,
    "request_id": Batch.text,
    "prompt_tokens": _tokens,
    "output_tokens": _tokens,
    "lower": _steps,
    "upper": _steps,
    "tenant": Batch.text,
    "prompt_steps": _tokens,
    "model": Batch.text,
}

_OPTIONAL_NUMBERS = ("prompt_tokens", "output_tokens", "lower", "upper", "prompt_steps", TIME_UNIT)
_KNOWN = (*COLUMNS, TIME_UNIT)


def _has(workload: Workload, name: str) -> bool:
    return getattr(workload, name) is not None


def _arrow(column: NDArray[Any]) -> pa.Array:
    return pa.array(map(str, column), pa.string()) if column.dtype == object else pa.array(column)


def _write_jsonl(table: pa.Table, path: Path) -> None:
    encode = json.JSONEncoder(ensure_ascii=False).encode  # json.dumps would make one for each row
    names = table.column_names
    columns = [column.to_numpy().tolist() for column in table.columns]
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(
            encode(dict(zip(names, row, strict=True))) + "\n" for row in zip(*columns, strict=True)
        )


def _write_with(write: Callable[[pa.Table, pa.OSFile], None]) -> Callable[[pa.Table, Path], None]:
    """Let Arrow write to an open file: it takes a path with a colon in it for an address."""

    def to_path(table: pa.Table, path: Path) -> None:
        with pa.OSFile(os.fsencode(path), "wb") as file:
            write(table, file)

    return to_path


_WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    ".csv": _write_with(csv.write_csv),
    ".jsonl": _write_jsonl,
    ".parquet": _write_with(partial(parquet.write_table, write_page_checksum=True)),
}
