"""JSON lines: one object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from workloads.tables.json_values import json_column
from workloads.tables.source import Source
from workloads.tables.table import Columns, Misfit, Table, reading
from workloads.tables.text import check_encoding

_LINES = 10_000  # decoded at a time; more are slower, as the objects leave the processor's cache

_SHOWN = 40  # characters of a line that is no object


class JsonlTable(Table):
    """A file of JSON objects, one a line; blank lines and a byte-order mark are fine.

    Its columns are the keys of the first ten thousand lines.
    """

    def __init__(self, source: Source) -> None:
        check_encoding(source)
        with reading(source.path):
            first = next(_blocks(source.content), [])
        objects = (_object(line) for line in first)
        super().__init__(source.path, list(dict.fromkeys(chain.from_iterable(filter(None, objects)))))
        self._source = source

    def batches(self, names: Sequence[str]) -> Iterator[Columns]:
        """Columns typed by what they hold, null where an object lacks the key."""
        record = 0
        with reading(self.path):
            for lines in _blocks(self._source.content):
                rows = self._rows(lines, record)
                record += len(lines)
                yield {name: json_column([row.get(name) for row in rows]) for name in names}

    def _rows(self, lines: list[str], first_record: int) -> list[dict[str, Any]]:
        # One call for all lines takes a third of the time of a call for each.
        try:
            rows = json.loads(f"[{','.join(lines)}]")
        except (ValueError, RecursionError):
            rows = []
        if not all(line.lstrip().startswith("{") for line in lines):
            rows = []  # objects may have come together from parts of several lines
        if len(rows) == len(lines) and all(type(row) is dict for row in rows):
            return rows  # type: ignore[no-any-return]
        objects = [_object(line) for line in lines]
        wrong = [k for k, found in enumerate(objects) if found is None]
        self.skipped += [first_record + k for k in wrong]
        self.misfits += [
            Misfit(first_record + k, "text", lines[k].strip()[:_SHOWN], "must be one JSON object")
            for k in wrong
        ]
        return [found for found in objects if found is not None]

    def record_place(self, record: int) -> str:
        """The line a record stands on, counted from 1."""
        with self._source.content.open(encoding="utf-8-sig", newline="\n") as file:
            numbers = (number for number, line in enumerate(file, start=1) if line.strip())
            return f"line {next(islice(numbers, record, None))}"


def _blocks(path: Path) -> Iterator[list[str]]:
    with path.open(encoding="utf-8-sig", newline="\n") as file:
        lines = filter(str.strip, file)
        while block := list(islice(lines, _LINES)):
            yield block


def _object(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):  # the latter for nesting without end
        return None
    return found if isinstance(found, dict) else None
