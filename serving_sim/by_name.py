"""What ``module:Class`` names, imported only where a user names it."""

from __future__ import annotations

import os
import re
import sys
from importlib import import_module

_NAMED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


def is_by_name(text: str) -> bool:
    """Whether a text reads ``module:Class``."""
    return _NAMED.fullmatch(text) is not None


def load(target: str) -> object:
    """The object that ``module:Class`` names; importing may raise whatever the module raises."""
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)


def find_beside_user() -> None:
    """Let modules in the working folder be imported by name, after all that are installed."""
    if os.getcwd() not in sys.path:  # noqa: PTH109  (sys.path holds text)
        sys.path.append(os.getcwd())  # noqa: PTH109


def said(cause: BaseException) -> str:
    """What somebody else's code raised, in a line."""
    return f"{type(cause).__name__}: {in_a_line(cause)}"


def in_a_line(cause: BaseException) -> str:
    """The message alone, in a line."""
    return " ".join(str(cause).split())
