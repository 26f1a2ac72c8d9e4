"""One process at a time works on a study."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path


@contextmanager
def sole_worker(store: Path) -> Iterator[None]:
    """Keep other processes from running the study of a store.

    The lock is SQLite's own on an empty database beside the store: it works on every system, and
    the system releases it when the process ends, however it ends. The file stays; removing it could
    give two processes a lock on two files of that name.

    Raises
    ------
    ValueError
        If another process holds the lock.
    """
    path = store.with_name(f"{store.name}-lock")
    with closing(_connect(path, patience=1.0)) as database:  # a glance of `is_running` is shorter
        try:
            database.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise _refusal(path, error) from None
            raise ValueError(f"{store}: another process is running this study") from None
        yield


def is_running(store: Path) -> bool:
    """Whether a process is running the study of a store."""
    path = store.with_name(f"{store.name}-lock")
    if not path.exists():
        return False
    with closing(_connect(path, patience=0.0)) as database:
        try:
            database.execute("SELECT * FROM sqlite_master")
        except sqlite3.OperationalError:
            return True
        return False


def _connect(path: Path, *, patience: float) -> sqlite3.Connection:
    try:
        return sqlite3.connect(path, timeout=patience, isolation_level=None)
    except sqlite3.OperationalError as error:
        raise _refusal(path, error) from None


def _refusal(path: Path, error: sqlite3.Error) -> ValueError:
    place = path if path.exists() else path.parent
    return ValueError(
        f"{place} may not be written to" if not os.access(place, os.W_OK) else f"{path}: {error}"
    )
