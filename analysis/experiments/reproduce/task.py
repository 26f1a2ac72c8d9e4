"""Pieces of an experiment, done in parallel and kept on disk so that none is done twice."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joblib import delayed

from analysis.json_text import to_json
from analysis.output import write_text
from analysis.user_code import module_digests
from analysis.version import project_version
from analysis.workers import results

_log = logging.getLogger(__name__)

_REVISION = 1
"""To be raised when a task of the same version gives other results: what was kept is then stale."""

Row = dict[str, Any]
"""A row of numbers and words, as JSON has them."""

Rows = list[Row]


@dataclass(frozen=True)
class Task:
    """One piece of work.

    Attributes
    ----------
    name : str
        Unique; folders and file name under which the result is kept.
    work : callable
        Function of a module that returns rows.
    arguments : mapping
        Its keyword arguments, as JSON has them: they are everything the result depends on.
    """

    name: str
    work: Callable[..., Rows]
    arguments: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """The same for the same work on the same arguments, in any process of this version."""
        content = [
            _REVISION,
            project_version(),
            self.work.__module__,
            self.work.__qualname__,
            module_digests([self.work.__module__]),
            dict(self.arguments),
        ]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def collect(
    tasks: Sequence[Task], *, folder: Path, jobs: int, done: Callable[[str], None]
) -> dict[str, Rows]:
    """Results of all tasks by name; those kept in ``folder`` are read, the others done and kept.

    Parameters
    ----------
    tasks : sequence of Task
        What to do.
    folder : Path
        Where results are kept. Each file appears complete, at the moment its task is done, so an
        interruption loses only the tasks at work.
    jobs : int
        Processes.
    done : callable
        Told the name of each task whose result is there.
    """
    found: dict[str, Rows] = {}
    missing = []
    for task in tasks:
        rows = _read(task, folder)
        if rows is None:
            missing.append(task)
        else:
            found[task.name] = rows
            _log.debug("%s: kept from an earlier run", task.name)
            done(task.name)
    for name, rows in results([delayed(_do)(task, folder) for task in missing], jobs):
        found[name] = rows
        _log.debug("%s: done", name)
        done(name)
    return {task.name: found[task.name] for task in tasks}


def _do(task: Task, folder: Path) -> tuple[str, Rows]:
    rows = task.work(**task.arguments)
    write_text(_file(task, folder), to_json({"digest": task.digest, "rows": rows}))
    return task.name, rows


def _read(task: Task, folder: Path) -> Rows | None:
    """What is kept of a task; anything that `_do` did not write for the same work counts as nothing."""
    try:
        content = json.loads(_file(task, folder).read_bytes())
    except (FileNotFoundError, ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or content.get("digest") != task.digest:
        return None
    rows: Rows | None = content.get("rows")
    return rows


def _file(task: Task, folder: Path) -> Path:
    return folder / f"{task.name}.json"
