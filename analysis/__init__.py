"""What a run means: latency statistics, comparisons, pictures, reports and the command line."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.frames import to_frame
    from analysis.summary import summarize

_HOMES = {"summarize": "analysis.summary", "to_frame": "analysis.frames"}

__all__ = ["summarize", "to_frame"]


def __getattr__(name: str) -> object:
    # The command line lives in this package and must start without loading pandas and scipy.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
