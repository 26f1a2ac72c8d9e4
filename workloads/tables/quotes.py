"""Quotes in comma-separated values: which of them would make a parser join or split rows."""

from __future__ import annotations

import mmap
import re
from typing import BinaryIO

from workloads.tables.source import Source

# A quoted field fills all of its field: a separator stands on either side, and a quote inside it is
# doubled. The possessive quantifiers keep the search linear. None may hold what looks around, which Python
# before 3.11.5 matches wrongly (python/cpython#100061); a greedy one remembers every turn, so has few.
_QUOTED = rb'(?<![^,\r\n])"[^"]*+(?:""[^"]*+)*+"(?![^,\r\n])'
_WELL_QUOTED = re.compile(rb'[^"]*+(?>(?:' + _QUOTED + rb'[^"]*+){0,1000})')
_CLOSED = re.compile(rb'"[^"]*+(?:""[^"]*+)*+"')

_BLOCK = 1 << 22


def check_quotes(source: Source, header_lines: int) -> None:
    """Refuse a stray quote, for which a parser would silently take several rows for one field.

    A file without quotes costs one search for the first.

    Parameters
    ----------
    source : Source
        A file that is not empty.
    header_lines : int
        First lines that somebody else looks at.

    Raises
    ------
    ValueError
        If a quote is never closed, stands inside a field, or closes before its field ends; the
        message names file and line.
    """
    with source.content.open("rb") as file:
        for _ in range(header_lines):
            file.readline()
        first = _first_quote(file)
        if first is None:
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            stray = _first_stray(content, first)
            if stray is None:
                return
            raise ValueError(f"{source.path}: line {_line(content, stray)}: {_what_is_wrong(content, stray)}")


def _first_quote(file: BinaryIO) -> int | None:
    """Where the first quote from here on stands."""
    begin = file.tell()
    while block := file.read(_BLOCK):  # a map of the whole file would count as memory of the process
        found = block.find(b'"')
        if found >= 0:
            return begin + found
        begin += len(block)
    return None


def _first_stray(content: mmap.mmap, first: int) -> int | None:
    place = first
    while (end := _end_of_well_quoted(content, place)) > place:
        place = end
    return place if place < len(content) else None


def _end_of_well_quoted(content: mmap.mmap, begin: int) -> int:
    match = _WELL_QUOTED.match(content, begin)
    assert match is not None  # it matches nothing at all as well
    return match.end()


def _what_is_wrong(content: mmap.mmap, stray: int) -> str:
    if content[stray - 1 : stray] not in (b",", b"\r", b"\n"):
        return "a quote must stand at the beginning of a field or be doubled inside a quoted one"
    closed = _CLOSED.match(content, stray)
    if closed is None:
        return "a quote is opened here and never closed"
    end = f"on line {_line(content, closed.end() - 1)}"
    return f"a quote is opened here and closed {end}, where its field does not end"


def _line(content: mmap.mmap, place: int) -> int:
    return content[:place].count(b"\n") + 1
