"""A single row whose columns hold lists, taken for a table of as many rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from workloads.tables.json_values import json_column
from workloads.tables.table import Columns, Table


class UnfoldedTable(Table):
    """The lists in the only row of a table, item by item.

    Parameters
    ----------
    table : Table
        The table of one row.
    """

    def __init__(self, table: Table) -> None:
        super().__init__(table.path, table.columns)
        self._folded = table

    def batches(self, names: Sequence[str]) -> Iterator[Columns]:
        """All rows in one batch.

        Raises
        ------
        ValueError
            If the table has another number of rows, or columns do not hold lists of one length.
        """
        rows = [row for batch in self._folded.batches(names) for row in zip(*batch.values(), strict=True)]
        if len(rows) != 1 or self._folded.misfits:
            found = len(rows) + len(self._folded.misfits)
            raise ValueError(f"{self.path}: must hold one object, found {found} lines")
        lists = {name: self._list(name, value.as_py()) for name, value in zip(names, rows[0], strict=True)}
        for name, values in lists.items():
            if len(values) != len(lists[names[0]]):
                raise ValueError(
                    f"{self.path}: {name}: must be as long as {names[0]}, "
                    f"found {len(values)} items for {len(lists[names[0]])}"
                )
        yield {name: json_column(values) for name, values in lists.items()}

    def _list(self, name: str, value: object) -> list[Any]:
        found = value
        if isinstance(value, str):  # a list of different kinds of values arrives as its text
            with suppress(ValueError):
                found = json.loads(value)
        if isinstance(found, list):
            return found
        raise ValueError(f"{self.path}: {name}={value!r}: must be a list")

    def record_place(self, record: int) -> str:
        """The request's number from 1."""
        return f"request {record + 1}"
