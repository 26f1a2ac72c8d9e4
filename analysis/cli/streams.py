"""Standard output and standard error, whatever the caller made of them."""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import os
import sys

_SPELLED = {"±": "+/-"}
_STRICT = ("strict", "surrogateescape")
"""What Python makes of streams, the latter in the C locale; others are somebody's choice."""


def ready_streams() -> None:
    """Open what the caller closed, and let a stream spell the letters that its encoding lacks."""
    codecs.register_error("spelled", _spell)
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  (as long as the process)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in _STRICT:
        sys.stdout.reconfigure(errors="spelled")


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
