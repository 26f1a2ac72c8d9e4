"""A slow reader of request logs, row by row, in Python's own numbers: the oracle for the fast one.

It takes whatever could be meant, so that a log that it cannot read must be refused, and one that both
read must mean the same to both.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from workloads.traces.request_log import LogFormat

Requests = list[tuple[int, int, int]]
"""Time in nanoseconds, prompt and output tokens of each request, in the order of the rows."""

DATES = ("azure", "azure-multimodal", "access-log", "inference-perf")
UNITS = {"mooncake": 10**6, "aiperf": 10**6, "blis": 10**3, "llmservingsim": 1}
STAMP = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d(?::?\d\d)?)?")


def requests_in(log: bytes, known: LogFormat, kind: str) -> Requests:
    """The requests in a log that is CSV, JSON lines or JSON lists.

    Raises
    ------
    ValueError, ArithmeticError, LookupError, TypeError
        If it cannot be read.
    """
    text = log.decode("utf-8-sig")
    rows = _list_rows(text, known.columns) if kind == "JSON lists" else _ROWS[kind](text)
    return [
        (_time(row[known.time], known.name), _count(row[known.prompt]), _count(row[known.output]))
        for row in rows
    ]


def _csv_rows(text: str) -> list[dict[str, str]]:
    lines = csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
    filled = [line for line in lines if line and line != [""] and "".join(line).strip()]
    header = [name.strip() for name in filled[0]]
    return [dict(zip(header, line, strict=True)) for line in filled[1:]]


def _json_rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line, parse_float=Decimal) for line in text.split("\n") if line.strip()]


def _list_rows(text: str, names: Sequence[str]) -> list[dict[str, Any]]:
    lists = json.loads(text, parse_float=Decimal)  # others may have lengths of their own
    rows = zip(*(lists[name] for name in names), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


_ROWS: dict[str, Callable[[str], list[dict[str, Any]]]] = {
    "CSV": _csv_rows,
    "JSON lines": _json_rows,
}


def _count(value: object) -> int:
    number = Decimal(str(value).strip())
    if number != int(number):
        raise ValueError(value)
    return int(number)


def _time(value: object, name: str) -> int:
    if name not in DATES:
        return round(Decimal(str(value).strip()) * UNITS.get(name, 10**9))
    match = STAMP.fullmatch(str(value).strip())
    if match is None:
        raise ValueError(value)
    day, hour, fraction, zone = match.groups()
    since = datetime.fromisoformat(f"{day} {hour}").replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since - _offset(zone)) // timedelta(seconds=1) * 10**9 + int((fraction or "").ljust(9, "0"))


def _offset(zone: str | None) -> timedelta:
    if zone in (None, "Z"):
        return timedelta()
    assert zone is not None
    digits = zone[1:].replace(":", "").ljust(4, "0")
    size = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return -size if zone[0] == "-" else size
