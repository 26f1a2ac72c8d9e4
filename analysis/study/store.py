"""Finished cells on disk: one SQLite file beside the study file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from analysis.study.cell import Cell
from analysis.study.measure import Result, Row
from analysis.version import project_version

_APPLICATION = 0x53565354
"""Marks the file as a store of a study (SQLite's application_id)."""

_LAYOUT = 1
"""Of the tables (SQLite's user_version)."""

_SCHEMA = f"""
BEGIN;
CREATE TABLE cells (
    key TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    version TEXT NOT NULL,
    row TEXT,
    error TEXT,
    CHECK ((row IS NULL) != (error IS NULL))
) WITHOUT ROWID;
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_LAYOUT};
COMMIT;
"""

_PATIENCE = 60.0
"""Seconds to wait for a reader or writer; a transaction here takes milliseconds."""

_UNUSABLE = ("SQLITE_CORRUPT", "SQLITE_NOTADB")

_PASSING = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_INTERRUPT", "SQLITE_NOMEM", "SQLITE_IOERR")
"""Errors that say nothing of what the file holds."""

_SHOWN = 200  # characters of a flaw


@dataclass(frozen=True)
class Kept:
    """What the store holds of a cell: its row, or the error it ended with."""

    digest: str
    row: Row | None
    error: str | None


class Store:
    """Finished cells of a study, one transaction each: whatever ends the process, no cell is half there.

    Parameters
    ----------
    path : Path
        The file; made where there is none.

    Raises
    ------
    ValueError
        If the file is no store of a study, is damaged, or cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with _told(path):
            self._database = _open(path, "rwc")
            try:
                self._prepare()
            except BaseException:
                self._database.close()
                raise

    def _prepare(self) -> None:
        flaw = _flaw(self._database)
        if flaw is not None:
            raise ValueError(f"{self._path}: {flaw}")
        if _is_empty(self._database):
            self._database.executescript(_SCHEMA)
        # readers see whole cells while the study runs, and what was committed survives a power cut
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = FULL")

    def keep(self, cell: Cell, result: Result) -> None:
        """Keep the row of a cell, or why it has none, in the place of whatever was there."""
        with _told(self._path):
            self._database.execute(
                "INSERT OR REPLACE INTO cells (key, digest, version, row, error) VALUES (?, ?, ?, ?, ?)",
                (cell.key, cell.digest, project_version(), result.row, result.error),
            )

    def read(self) -> dict[str, Kept]:
        """All cells by key."""
        with _told(self._path):
            return _read(self._database)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()


def kept_cells(path: Path) -> Mapping[str, Kept]:
    """What a store holds, for those who only look; a run may be at work on it.

    Raises
    ------
    ValueError
        If the file is no store of a study, is damaged, or cannot be read.
    """
    if not path.exists():
        return {}
    with _told(path), closing(_open(path, "rw")) as database:
        flaw = _flaw(database)
        if flaw is not None:
            raise ValueError(f"{path}: {flaw}")
        return {} if _is_empty(database) else _read(database)


def set_aside(path: Path) -> tuple[Path, str] | None:
    """Give a file that is no sound store another name, so that a new store can take its place.

    Returns
    -------
    tuple of Path and str, or None
        The new name and what is wrong with the file; None where it is sound or there is none.
    """
    if not path.exists():
        return None
    with _told(path), closing(_open(path, "rw")) as database:
        flaw = _flaw(database)
    if flaw is None:
        return None
    number = 1
    while (aside := path.with_name(f"{path.name}.aside-{number}")).exists():
        number += 1
    for suffix in ("-wal", "-shm", ""):  # the log belongs to the file: apart neither can be mended
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(aside.with_name(aside.name + suffix))
    return aside, flaw


def _open(path: Path, mode: Literal["rw", "rwc"]) -> sqlite3.Connection:
    if path.is_dir():
        raise ValueError(f"{path}: is a folder, not a store of a study")
    # "rw" for readers too: the last of a read-only kind could not tidy the log away
    location = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(location, uri=True, timeout=_PATIENCE, isolation_level=None)


def _read(database: sqlite3.Connection) -> dict[str, Kept]:
    return {
        key: Kept(digest, None if row is None else _row(row), error)
        for key, digest, row, error in database.execute("SELECT key, digest, row, error FROM cells")
    }


def _row(text: str) -> Row:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError(f"row={text[:_SHOWN]!r}: must be a JSON object")  # noqa: TRY004  (bad input)
    return found


def _flaw(database: sqlite3.Connection) -> str | None:
    """What keeps a file from being used as a store, None if nothing does."""
    try:
        (application,) = database.execute("PRAGMA application_id").fetchone()
        (layout,) = database.execute("PRAGMA user_version").fetchone()
        (verdict,) = database.execute("PRAGMA quick_check(1)").fetchone()
        if _is_empty(database) and application == layout == 0:
            return None
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorname", None) not in _UNUSABLE:
            raise
        return f"is damaged or no store of a study ({_said(error)})"
    except UnicodeDecodeError:  # what SQLite says of the damage may show it
        return "is damaged or no store of a study"
    if application != _APPLICATION:
        return "is a database of something else"
    if layout != _LAYOUT:
        return f"has layout {layout}, this version reads {_LAYOUT}"
    return _damage(database) if verdict == "ok" else f"is damaged ({' '.join(verdict.split())})"


def _damage(database: sqlite3.Connection) -> str | None:
    """What is wrong with the cells of a file that SQLite finds no fault with."""
    try:
        _read(database)
    except (sqlite3.DatabaseError, ValueError, RecursionError) as error:
        if getattr(error, "sqlite_errorname", None) in _PASSING:
            raise
        return f"is damaged ({_said(error)})"
    return None


def _said(error: Exception) -> str:
    """What an error says, in a line: it may repeat what the file holds."""
    return " ".join(str(error).split())[:_SHOWN]


def _is_empty(database: sqlite3.Connection) -> bool:
    (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return bool(tables == 0)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Errors of the database in one line that names the file."""
    try:
        yield
    except sqlite3.Error as error:
        raise ValueError(f"{path}: {_said(error)}") from None
