"""Files that appear whole or not at all."""

from __future__ import annotations

import itertools
import logging
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from workloads.own_inputs import Target, check_output

if sys.platform != "win32":
    import fcntl

_log = logging.getLogger(__name__)

finished = 0
"""How many files this process has finished."""

_TEMPORARY = re.compile(r"\..+\.(?P<process>[1-9]\d{0,8})-\d+\.part", re.ASCII | re.DOTALL)

_serial = itertools.count()  # its `next` is one step, which no other thread can come between


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Path to write to instead of ``path``; takes its name once the block has ended well.

    The temporary file stands in the same folder, since only within one file system is the renaming
    atomic. After any exception, an interruption among them, it is removed; what stood at ``path``
    before then stands there still. Those that killed processes have left in the folder go first.
    Missing folders are made.

    Raises
    ------
    OSError
        If the file cannot be written; the error names it.
    OwnInputError
        If the command has read it.
    """
    global finished  # noqa: PLW0603  (files are a matter of the process, as its signals are)
    check_output(Target(path, str(path)))
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(path.parent)
    # a name of this writing alone: processes and threads may write the same file, and the last to finish wins
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{next(_serial)}.part")
    try:
        with _claimed(temporary):
            yield temporary
            temporary.replace(path)
        finished += 1
        _log.debug("wrote %s", path)
    except OSError as error:
        if error.strerror and error.filename in (None, str(temporary)):  # an open file has no name to give
            error.filename, error.filename2 = str(path), None
        raise
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _claimed(temporary: Path) -> Iterator[None]:
    """Lock a file, for as long as its writer is at work or until the system ends the process."""
    if sys.platform == "win32":
        yield
        return
    with temporary.open("ab") as file:
        with suppress(OSError):  # not every file system has locks
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def _remove_abandoned(folder: Path) -> None:
    """Remove temporary files that nobody writes to any more, whatever file they were to become."""
    if sys.platform == "win32":
        return
    for left in folder.glob(".*.part"):
        named = _TEMPORARY.fullmatch(left.name)
        if named is None or _is_alive(int(named["process"])):
            continue
        # a process of another machine holds a lock at least
        with suppress(OSError), left.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()


def _is_alive(process: int) -> bool:
    """Whether a process of this machine has a number; one of ours may not have locked its file yet."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is somebody else's
        return True
    return True
