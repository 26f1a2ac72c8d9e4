"""A JSON file that is one array of objects, or objects one after the other on any lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

from workloads.tables.json_stream import Broken, items
from workloads.tables.json_values import KEY_RULE, json_column, key_twice
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
        if first and isinstance(first[0], Broken):
            raise ValueError(f"{source.path}: item 1: text={first[0].text!r}: {first[0].rule}")
        objects = (item for item in first if isinstance(item, dict))
        super().__init__(source.path, list(dict.fromkeys(chain.from_iterable(objects))))

    def batches(self, names: Sequence[str]) -> Iterator[Columns]:
        """Columns typed by what they hold, null where an object lacks the key."""
        record = 0
        for block in self._blocks(self._source):
            rows = []
            for number, item in enumerate(block, start=record):
                misfit = _misfit(number, item, names)
                if misfit is None:
                    rows.append(item)
                else:
                    self.skipped.append(number)
                    self.misfits.append(misfit)
            record += len(block)
            yield {name: json_column([row.get(name) for row in rows]) for name in names}

    def record_place(self, record: int) -> str:
        """The item's number from 1."""
        return f"item {record + 1}"

    @staticmethod
    def _blocks(source: Source) -> Iterator[list[Any]]:
        with reading(source.path), source.content.open(encoding="utf-8-sig", newline="") as file:
            found = items(file)
            while block := list(islice(found, _ITEMS)):
                yield block


def _misfit(record: int, item: object, names: Sequence[str]) -> Misfit | None:
    if isinstance(item, Broken):
        return Misfit(record, "text", item.text, item.rule)
    if not isinstance(item, dict):
        return Misfit(record, "item", item, "must be a JSON object")
    key = key_twice(item, names)
    return None if key is None else Misfit(record, key, item[key], KEY_RULE)
