"""A JSON file that is one array of objects, or objects one after the other on any lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

from workloads.tables.json_stream import Broken, items
from workloads.tables.json_values import json_column
from workloads.tables.source import Source
from workloads.tables.table import Columns, Misfit, Table, reading
from workloads.tables.text import check_encoding

_ITEMS = 10_000  # in a batch


class JsonTable(Table):
    """A file that holds ``[{..}, {..}]`` or ``{..} {..}``; it need not fit into memory.

    Its columns are the keys of the first ten thousand items.
    """

    def __init__(self, source: Source) -> None:
        check_encoding(source)
        self._source = source
        first = next(self._blocks(source), [])
        objects = (item for item in first if isinstance(item, dict))
        super().__init__(source.path, list(dict.fromkeys(chain.from_iterable(objects))))

    def batches(self, names: Sequence[str]) -> Iterator[Columns]:
        """Columns typed by what they hold, null where an object lacks the key."""
        record = 0
        for block in self._blocks(self._source):
            rows = [item for item in block if isinstance(item, dict)]
            self._note_misfits(block, record)
            record += len(block)
            yield {name: json_column([row.get(name) for row in rows]) for name in names}

    def record_place(self, record: int) -> str:
        """The item's number from 1."""
        return f"item {record + 1}"

    def _note_misfits(self, block: list[Any], first_record: int) -> None:
        for record, item in enumerate(block, start=first_record):
            if isinstance(item, dict):
                continue
            self.skipped.append(record)
            if isinstance(item, Broken):
                misfit = Misfit(record, "text", item.text, "must go on as JSON objects")
            else:
                misfit = Misfit(record, "item", item, "must be a JSON object")
            self.misfits.append(misfit)

    @staticmethod
    def _blocks(source: Source) -> Iterator[list[Any]]:
        with reading(source.path), source.content.open(encoding="utf-8-sig", newline="") as file:
            found = items(file)
            while block := list(islice(found, _ITEMS)):
                yield block
