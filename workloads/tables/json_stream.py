"""The items of a JSON array, or values one after the other, without holding the whole text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

from workloads.tables.json_values import noting_twice, too_many_digits

_BLOCK = 1 << 20  # characters read at a time
_NOT_BLANK = re.compile(r"[^ \t\r\n]")
_SHOWN = 40  # characters of where a text breaks off


@dataclass(frozen=True)
class Broken:
    """Where a text is no longer JSON, or ends too early."""

    text: str
    rule: str


def items(file: TextIO) -> Iterator[object]:
    """The items of the array that fills a file, or the objects in it where it begins with one.

    If the file holds anything else, the last item is `Broken`.
    """
    stream = _Stream(file)
    try:
        yield from _objects(stream) if stream.next_sign() == "{" else _array(stream)
        stream.expect("")
    except (ValueError, RecursionError) as error:  # the latter for nesting without end
        yield Broken(stream.rest(), too_many_digits(error) or _rule(error))


def _objects(stream: _Stream) -> Iterator[object]:
    while stream.next_sign() == "{":
        yield stream.value()


def _array(stream: _Stream) -> Iterator[object]:
    stream.expect("[")
    if stream.next_sign() == "]":
        stream.expect("]")
        return
    more = True
    while more:
        yield stream.value()
        more = stream.expect(",]") == ","


def _rule(error: Exception) -> str:
    return "must go on, the file ends early" if _is_at_end(error) else "must go on as JSON objects"


def _is_at_end(error: Exception) -> bool:
    """Whether the end of the text is what the parser stumbled on."""
    if not isinstance(error, json.JSONDecodeError):
        return isinstance(error, ValueError) and error.args == ("",)  # as `_Stream.expect` says it
    return error.msg.startswith("Unterminated") or not error.doc[error.pos :].strip()


class _Stream:
    """Text of a file from a place on; every method first reads as much as it needs."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._text = ""
        self._place = 0
        self._decode = json.JSONDecoder(object_pairs_hook=noting_twice).raw_decode

    def next_sign(self) -> str:
        """The next character that is not blank, empty at the end."""
        while True:
            found = _NOT_BLANK.search(self._text, self._place)
            if found is not None:
                self._place = found.start()
                return found[0]
            self._place = len(self._text)
            if not self._grow():
                return ""

    def expect(self, signs: str) -> str:
        """Step over one of the given characters, or stay at the end if none is given.

        Raises
        ------
        ValueError
            If something else comes.
        """
        sign = self.next_sign()
        if sign not in signs or bool(sign) != bool(signs):
            raise ValueError(sign)
        self._place += len(sign)
        return sign

    def value(self) -> object:
        """Step over a value.

        Raises
        ------
        ValueError
            If there is none up to the end of the file.
        """
        while True:
            self.next_sign()
            try:
                found, end = self._decode(self._text, self._place)
            except ValueError:
                if not self._grow():
                    raise
                continue
            after = _NOT_BLANK.search(self._text, end)
            if (after is not None and after[0] in ",]{") or not self._grow():  # a number may go on
                self._place = end
                return found

    def rest(self) -> str:
        """What comes next, as far as a message shows it."""
        return self._text[self._place : self._place + _SHOWN]

    def _grow(self) -> bool:
        """Read on, in growing steps, so that long values are not tried too often."""
        block = self._file.read(max(_BLOCK, len(self._text) - self._place))
        if block:
            self._text, self._place = self._text[self._place :] + block, 0
        return bool(block)
