"""The border: rows come in, those that break a rule are refused, or dropped and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NoReturn, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workloads.report import ReadReport
from workloads.tables.batch import Batch
from workloads.tables.table import Table

OnBadRow = Literal["error", "drop"]
Values = dict[str, NDArray[Any]]


class Intake:
    """The rows of one table on their way in.

    Parameters
    ----------
    table : Table
        Where they come from.
    on_bad_row : str
        ``error`` refuses the file for its first bad row, ``drop`` leaves bad rows out.

    Raises
    ------
    ValueError
        If ``on_bad_row`` is neither.
    """

    def __init__(self, table: Table, on_bad_row: OnBadRow = "error") -> None:
        if on_bad_row not in get_args(OnBadRow):
            raise ValueError(f"on_bad_row={on_bad_row!r}: must be 'error' or 'drop'")
        self._table = table
        self._strict = on_bad_row == "error"
        self._rows = 0
        self._misfits = 0
        self._dropped: Counter[str] = Counter()
        self.notes: list[str] = []

    def columns(self, names: Sequence[str], check: Callable[[Batch], Mapping[str, NDArray[Any]]]) -> Values:
        """The good rows, as the columns that ``check`` makes of each batch.

        A column ``row`` is added that holds the place of each row in the table.

        Raises
        ------
        ValueError
            If no row is left, or, unless bad rows are dropped, if a row breaks a rule.
        """
        parts = []
        for raw in self._table.batches(names):
            self._take_misfits()
            if not len(raw[names[0]]):  # nothing but misfits
                continue
            batch = Batch(raw)
            values = dict(check(batch))
            values["row"] = np.arange(self._rows, self._rows + len(batch.broken))
            self._take_broken(batch)
            good = batch.broken < 0
            parts.append(values if good.all() else {name: column[good] for name, column in values.items()})
            self._rows += len(good)
        self._take_misfits()
        self._refuse_if_none(sum(len(part["row"]) for part in parts))
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

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
        if self._strict:
            row = int(np.argmax(again))
            first = int(np.argmax(codes == codes[row]))
            rule = f"must be unique, {self._table.place(int(values['row'][first]))} has it too"
            self._refuse(self._table.place(int(values["row"][row])), f"{name}={values[name][row]!r}", rule)
        self._dropped[f"{name}: must be unique"] += int(again.sum())
        return {key: column[~again] for key, column in values.items()}

    def in_order(self, values: Values, key: str) -> Values:
        """The rows sorted by a column; rows with equal values keep the file's order."""
        column = values[key]
        back = int(np.count_nonzero(column[1:] < column[:-1]))
        if back == 0:
            return values
        rows = "1 row is" if back == 1 else f"{back} rows are"
        self.notes.append(f"{rows} earlier than the row before; sorted, equal times in the file's order")
        order = np.argsort(column, kind="stable")
        return {name: column[order] for name, column in values.items()}

    def report(self, name: str) -> ReadReport:
        """What became of the rows, read as the named format."""
        dropped = dict(self._dropped)
        read = self._rows + self._misfits
        return ReadReport(
            self._table.path, name, read, read - sum(dropped.values()), dropped, tuple(self.notes)
        )

    def _take_broken(self, batch: Batch) -> None:
        bad = np.flatnonzero(batch.broken >= 0)
        if len(bad) and self._strict:
            row = int(bad[0])
            rule = batch.rules[batch.broken[row]]
            found = f"{rule.name}={rule.column[row].as_py()!r}"
            self._refuse(self._table.place(self._rows + row), found, rule.text)
        for number, rule in enumerate(batch.rules):
            self._dropped[str(rule)] += int(np.count_nonzero(batch.broken[bad] == number))

    def _take_misfits(self) -> None:
        """Count the misfits that the reader has come past since the last batch."""
        new = self._table.misfits[self._misfits :]
        for misfit in new:
            if self._strict:
                place = self._table.record_place(misfit.record)
                self._refuse(place, f"{misfit.name}={misfit.value!r}", misfit.rule)
            self._dropped[f"{misfit.name}: {misfit.rule}"] += 1
        self._misfits += len(new)

    def _refuse(self, place: str, found: str, rule: str) -> NoReturn:
        raise ValueError(f"{self._table.path}: {place}: {found}: {rule}")

    def _refuse_if_none(self, kept: int) -> None:
        if kept:
            return
        reasons = "".join(f"; {count} x {reason}" for reason, count in self._dropped.items())
        raise ValueError(f"{self._table.path}: must hold at least one request, found none{reasons}")
