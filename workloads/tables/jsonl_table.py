"""JSON lines: one object a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from workloads.tables.json_values import KEY_RULE, json_column, key_twice, noting_twice, too_many_digits
from workloads.tables.source import Source
from workloads.tables.table import Columns, Misfit, Table, reading
from workloads.tables.text import check_encoding

_LINES = 10_000  # decoded at a time; more are slower, as the objects leave the processor's cache

_RULE = "must be one JSON object"
_ESCAPED = re.compile(r"\\u00[2-7]")  # a letter, digit or sign of ASCII
_SHOWN = 40  # characters of a line that is no object


class JsonlTable(Table):
    """A file of JSON objects, one a line; blank lines and a byte-order mark are fine.

    Its columns are the keys of the first ten thousand lines.
    """

    def __init__(self, source: Source) -> None:
        check_encoding(source)
        with reading(source.path):
            first = next(_blocks(source.content), [])
        found = [_object(line) for line in first]
        objects = [each for each in found if not isinstance(each, str)]
        if found and not objects:
            raise ValueError(f"{source.path}: {_place(source, 0)}: text={_shown(first[0])!r}: {found[0]}")
        super().__init__(source.path, list(dict.fromkeys(chain.from_iterable(objects))))
        self._source = source

    def batches(self, names: Sequence[str]) -> Iterator[Columns]:
        """Columns typed by what they hold, null where an object lacks the key."""
        record = 0
        with reading(self.path):
            for lines in _blocks(self._source.content):
                rows = self._rows(lines, record, names)
                record += len(lines)
                yield {name: json_column([row.get(name) for row in rows]) for name in names}

    def _rows(self, lines: list[str], first_record: int, names: Sequence[str]) -> list[dict[str, Any]]:
        # One call for all lines takes a third of the time of a call for each.
        text = f"[{','.join(lines)}]"
        try:
            rows = json.loads(text)
        except (ValueError, RecursionError):
            rows = []
        if not all(line.lstrip().startswith("{") for line in lines):
            rows = []  # objects may have come together from parts of several lines
        whole = len(rows) == len(lines) and all(type(row) is dict for row in rows)
        if whole and not _maybe_twice(names, text, rows):
            return rows  # type: ignore[no-any-return]
        good = []
        for record, line in enumerate(lines, start=first_record):
            found = _object(line)
            misfit = _misfit(record, line, found, names)
            if misfit is None:
                assert not isinstance(found, str)
                good.append(found)
            else:
                self.skipped.append(record)
                self.misfits.append(misfit)
        return good

    def record_place(self, record: int) -> str:
        """The line a record stands on, counted from 1."""
        return _place(self._source, record)


def _place(source: Source, record: int) -> str:
    with source.content.open(encoding="utf-8-sig", newline="\n") as file:
        numbers = (number for number, line in enumerate(file, start=1) if line.strip())
        return f"line {next(islice(numbers, record, None))}"


def _blocks(path: Path) -> Iterator[list[str]]:
    with path.open(encoding="utf-8-sig", newline="\n") as file:
        lines = filter(str.strip, file)
        while block := list(islice(lines, _LINES)):
            yield block


def _object(line: str) -> dict[str, Any] | str:
    """The object, or the rule that the line breaks."""
    try:
        found = json.loads(line, object_pairs_hook=noting_twice)
    except (ValueError, RecursionError) as error:  # the latter for nesting without end
        return too_many_digits(error) or _RULE
    return found if isinstance(found, dict) else _RULE


def _maybe_twice(names: Sequence[str], text: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether one of the keys may come twice in a row: it stands in the text more often than in rows.

    So may one that is written with escapes, for which nobody has a reason but to hide it.
    """
    return _ESCAPED.search(text) is not None or any(
        text.count(f'"{name}"') > sum(name in row for row in rows) for name in names
    )


def _misfit(record: int, line: str, found: dict[str, Any] | str, names: Sequence[str]) -> Misfit | None:
    if isinstance(found, str):
        return Misfit(record, "text", _shown(line), found)
    key = key_twice(found, names)
    return None if key is None else Misfit(record, key, found[key], KEY_RULE)


def _shown(line: str) -> str:
    return line.strip()[:_SHOWN]
