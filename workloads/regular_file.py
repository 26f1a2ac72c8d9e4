"""Files that can be read to their end."""

from __future__ import annotations

from pathlib import Path

RULE = "must be a file, found a pipe or a device"


def may_not_end(path: Path) -> bool:
    """Whether what stands there breaks `RULE`: a pipe waits for its writer, a device may give for ever."""
    return path.exists() and not (path.is_file() or path.is_dir())
