"""Standard output and standard error, whatever the caller made of them."""

from __future__ import annotations

import codecs
import contextlib
import errno
import io
import json
import os
import select
import sys
from typing import TextIO

_SPELLED = {"±": "+/-"}
_STRICT = ("strict", "surrogateescape")
"""What Python makes of streams, the latter in the C locale; others are somebody's choice."""


def ready_streams() -> None:
    """Let a stream spell the letters that its encoding lacks, and one that is closed refuse a result."""
    codecs.register_error("spelled", _spell)
    if sys.stdout is None:
        os.open(os.devnull, os.O_WRONLY)  # a file that is opened next would take the number of the stream
        sys.stdout = _Closed()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in _STRICT:
        sys.stdout.reconfigure(errors="spelled")


class _Closed(io.TextIOBase):
    """A result that is written here is lost, which is no success."""

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, "is closed")


def reader_is_gone() -> bool:
    """Whether nobody reads standard output or standard error any more."""
    if not hasattr(select, "poll"):  # Windows
        return True
    return any(map(_has_lost_its_reader, (sys.stdout, sys.stderr)))


def _has_lost_its_reader(stream: TextIO) -> bool:
    try:
        number = stream.fileno()
    except (OSError, ValueError):  # it is no file of the system's, or closed
        return False
    poll = select.poll()
    poll.register(number, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def drop_unwritable_output() -> None:
    """Write what waits in memory if that is possible at all; else Python would complain at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _spell(error: UnicodeError) -> tuple[str, int]:
    """Letters as JSON escapes them, so that what is printed as JSON stays JSON."""
    assert isinstance(error, UnicodeEncodeError)
    letters = error.object[error.start : error.end]
    return "".join(_SPELLED.get(letter, json.dumps(letter)[1:-1]) for letter in letters), error.end
