"""The border: rows come in, those that break a rule are refused, or dropped and counted."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from serving_sim.columns import IntArray
from serving_sim.how_many import how_many
from workloads.report import ReadReport
from workloads.row_names import row_names
from workloads.tables.batch import Batch
from workloads.tables.table import Table

OnBadRow = Literal["error", "drop"]
_SHOWN = 100  # characters of a value that is refused

Values = dict[str, NDArray[Any]]


class BadRowError(ValueError):
    """A row breaks a rule; it could be dropped."""


class Intake:
    """The rows of one table, or of several one after the other, on their way in.

    Parameters
    ----------
    tables : sequence of Table
        Where they come from.
    on_bad_row : str
        ``error`` refuses a file for its first bad row, ``drop`` leaves bad rows out.
    holding : str
        What a row is, in the singular.

    Raises
    ------
    ValueError
        If ``on_bad_row`` is neither.
    """

    def __init__(
        self, tables: Sequence[Table], on_bad_row: OnBadRow = "error", *, holding: str = "request"
    ) -> None:
        if on_bad_row not in get_args(OnBadRow):
            raise ValueError(f"on_bad_row={on_bad_row!r}: must be 'error' or 'drop'")
        self._tables = tables
        self._holding = holding
        self._strict = on_bad_row == "error"
        self._begins: list[int] = []  # number of the first row of each table
        self._rows = 0
        self._misfits = 0
        self._before = 0  # rows and misfits of the tables before
        self._stops: list[int] = []  # for each misfit of a table, how many of its rows come before
        self._numbers: list[IntArray] = []  # of the rows kept, where rows may be left out
        self._dropped: Counter[str] = Counter()
        self._out_of_order = 0
        self.notes: list[str] = []

    def names(self, needed: Sequence[str], optional: Sequence[str]) -> list[str]:
        """The columns to read: those that must be there, and the others where they are.

        Raises
        ------
        ValueError
            If a table lacks a needed column, or an optional one that another table has.
        """
        for table in self._tables:
            table.require(needed)
        found = [name for name in optional if any(name in table.columns for table in self._tables)]
        for table in self._tables:
            table.require(found)
        return list(dict.fromkeys([*needed, *found]))

    def columns(self, names: Sequence[str], check: Callable[[Batch], Mapping[str, NDArray[Any]]]) -> Values:
        """The good rows, as the columns that ``check`` makes of each batch.

        Raises
        ------
        ValueError
            If no row is left, or, unless bad rows are dropped, if a row breaks a rule.
        """
        parts = []
        for table in self._tables:
            for part, rows in self._parts(table, names, check):
                parts.append(part)
                if not self._strict:
                    self._numbers.append(self._numbered(table, rows))
        self._refuse_if_none(sum(len(next(iter(part.values()))) for part in parts))
        # Parts are given up column by column, so that the whole is never there twice.
        return {name: np.concatenate([part.pop(name) for part in parts]) for name in list(parts[0])}

    def in_turn(
        self, names: Sequence[str], check: Callable[[Batch], Mapping[str, NDArray[Any]]], key: str
    ) -> Iterator[Values]:
        """The same batch by batch, for files beyond memory; nothing is kept of the batches before.

        Raises
        ------
        ValueError
            As `columns`, and if ``key`` ever goes back: to sort, all rows would have to be there.
        """
        last: Any = None
        kept = 0
        for table in self._tables:
            for values, rows in self._parts(table, names, check):
                column = values[key]
                if not len(column):
                    continue
                before = np.concatenate([column[:1] if last is None else [last], column[:-1]])
                if (column < before).any():
                    at = int(np.argmax(column < before))
                    found, place = self._place(self._rows + int(rows[at]))
                    rule = "must not be earlier than the row before, in a file that is read as a stream"
                    raise ValueError(_refusal(found, place, _found(key, column[at].item()), rule))
                last = column[-1]
                kept += len(column)
                # Named from the first batch on, as all batches of a stream have the same columns.
                yield values if self._strict else _named(values, self._numbered(table, rows))
        self._refuse_if_none(kept)

    def _parts(
        self, table: Table, names: Sequence[str], check: Callable[[Batch], Mapping[str, NDArray[Any]]]
    ) -> Iterator[tuple[Values, NDArray[np.intp]]]:
        """The good rows of each batch, and which of its rows they are."""
        self._begins.append(self._rows)
        self._before = self._rows + self._misfits
        self._stops = []
        misfits = 0
        for raw in table.batches(names):
            misfits = self._take_misfits(table, misfits)
            if not len(raw[names[0]]):  # nothing but misfits
                continue
            batch = Batch(raw)
            values = dict(check(batch))
            self._take_broken(batch)
            good = batch.broken < 0
            part = values if good.all() else {name: column[good] for name, column in values.items()}
            yield part, np.flatnonzero(good)
            self._rows += len(good)
        self._take_misfits(table, misfits)

    def unique(self, values: Values, name: str) -> Values:
        """The rows whose value in a column did not occur before.

        Raises
        ------
        ValueError
            Unless bad rows are dropped, if a value occurs twice.
        """
        # Codes count distinct values as they first appear, so a new value has a code above all before.
        codes = pa.array(values[name]).dictionary_encode().indices.to_numpy()
        again = codes <= np.concatenate([[-1], np.maximum.accumulate(codes)[:-1]])
        if not again.any():
            return values
        if self._strict:  # so that no row has been left out, and rows have the numbers they came with
            row = int(np.argmax(again))
            first = int(np.argmax(codes == codes[row]))
            table, place = self._place(row)
            other, first_place = self._place(first)
            where = first_place if other is table else f"{other.path} {first_place}"
            rule = f"must be unique, {where} has it too"
            raise BadRowError(_refusal(table, place, _found(name, values[name][row]), rule))
        self._dropped[f"{name}: must be unique"] += int(again.sum())
        return {key: column[~again] for key, column in values.items()}

    def in_order(self, values: Values, key: str) -> Values:
        """The rows sorted by a column; rows with equal values keep the file's order.

        Where rows moved or were left out, each gets its number as ``request_id``, unless it has one: rows
        and misfits of all tables, one after the other, counted from 0.
        """
        if self._numbers:
            numbers = np.concatenate(self._numbers)
            self._numbers.clear()
            if not np.array_equal(numbers, np.arange(len(numbers))):
                values = _named(values, numbers)
        column = values[key]
        back = int(np.count_nonzero(column[1:] < column[:-1]))
        if back == 0:
            return values
        self._out_of_order = back
        rows = f"{how_many(back, 'row')} {'is' if back == 1 else 'are'}"
        self.notes.append(f"{rows} earlier than the row before; sorted, equal times in the file's order")
        order = np.argsort(column, kind="stable")
        return _named({name: column[order] for name, column in values.items()}, order)

    def report(self, name: str) -> ReadReport:
        """What became of the rows, read as the named format."""
        dropped = dict(self._dropped)
        read = self._rows + self._misfits
        path = self._tables[0].path
        kept = read - sum(dropped.values())
        return ReadReport(path, name, read, kept, dropped, tuple(self.notes), self._out_of_order)

    def _take_broken(self, batch: Batch) -> None:
        bad = np.flatnonzero(batch.broken >= 0)
        if len(bad) and self._strict:
            row = int(bad[0])
            rule = batch.rules[batch.broken[row]]
            table, place = self._place(self._rows + row)
            found = _found(rule.name, rule.column[row].as_py())
            raise BadRowError(_refusal(table, place, found, rule.text))
        for number, rule in enumerate(batch.rules):
            self._dropped[str(rule)] += int(np.count_nonzero(batch.broken[bad] == number))

    def _take_misfits(self, table: Table, taken: int) -> int:
        """Count the misfits that the reader has come past since the last batch; how many so far."""
        new = table.misfits[taken:]
        for misfit in new:
            if self._strict:
                place = table.record_place(misfit.record)
                found = _found(misfit.name, misfit.value)
                raise BadRowError(_refusal(table, place, found, misfit.rule))
            self._dropped[f"{misfit.name}: {misfit.rule}"] += 1
        self._misfits += len(new)
        return taken + len(new)

    def _numbered(self, table: Table, rows: NDArray[np.intp]) -> IntArray:
        """Numbers of rows of the batch at hand in the whole input, misfits among them."""
        place = self._rows - self._begins[-1] + rows
        new = table.misfits[len(self._stops) :]
        self._stops += [misfit.record - bisect_left(table.skipped, misfit.record) for misfit in new]
        passed = bisect_right(self._stops, self._rows - self._begins[-1])
        around = np.array(self._stops[passed:], np.int64)
        return self._before + passed + place + np.searchsorted(around, place, side="right")

    def _place(self, row: int) -> tuple[Table, str]:
        """The table that holds a row, and where it stands in it."""
        number = bisect_right(self._begins, row) - 1
        table = self._tables[number]
        return table, table.place(row - self._begins[number])

    def _refuse_if_none(self, kept: int) -> None:
        if kept:
            return
        reasons = "".join(f"; {count} x {reason}" for reason, count in self._dropped.items())
        rule = f"must hold at least one {self._holding}, found none"
        raise ValueError(f"{self._tables[0].path}: {rule}{reasons}")


def _named(values: Values, numbers: IntArray) -> Values:
    """The columns with row numbers as ids, unless rows have ids."""
    return values if "request_id" in values else values | {"request_id": row_names(numbers)}


def _found(name: str, value: object) -> str:
    """A value as a message shows it: a field may hold a whole document."""
    text = repr(value)
    return f"{name}={text}" if len(text) <= _SHOWN else f"{name}={text[:_SHOWN]}.."


def _refusal(table: Table, place: str, found: str, rule: str) -> str:
    return f"{table.path}: {place}: {found}: {rule}"
