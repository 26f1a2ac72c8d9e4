"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

finished: list[Path] = []
"""Files that this process has finished, the latest last."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Path to write to instead of ``path``; takes its name once the block has ended well.

    The temporary file stands in the same folder, since only within one file system is the renaming
    atomic. After any exception, an interruption among them, it is removed; what stood at ``path``
    before then stands there still. Missing folders are made.

    Raises
    ------
    OSError
        If the file cannot be written; the error names it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # a name of this process alone: two runs may share a folder, and the later one to finish wins
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield temporary
        temporary.replace(path)
        finished.append(path)
    except OSError as error:
        if error.strerror and not error.filename:  # writing to an open file names none
            error.filename = str(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)
