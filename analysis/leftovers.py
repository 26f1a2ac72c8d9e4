"""Files that an earlier run has left in a folder: beside new ones they would tell of another run.

Only names that this project gives are touched, and only once the new files stand there, so that an
interruption loses nothing that was finished.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from analysis.run_files import ESTIMATES, PATTERNS, REPLICATION, SUMMARY
from analysis.text import file_name

_DRAWN = (".svg", ".png")


def remove_runs(folder: Path, *, but: Collection[Path] = ()) -> None:
    """Remove the files of runs from the folder of a policy.

    Parameters
    ----------
    folder : Path
        The folder; it goes as well where nothing is left in it, and so do those of replications.
    but : collection of Path
        Files that stay.
    """
    found = sorted({path for pattern in PATTERNS for path in folder.glob(pattern)} - set(but))
    for path in found:
        path.unlink(missing_ok=True)
    for home in (*folder.glob(f"{REPLICATION}[0-9]*"), folder):
        with suppress(OSError):  # it is not empty
            home.rmdir()


def remove_pictures(folder: Path, names: Collection[str]) -> None:
    """Remove pictures, named without suffix, from a folder."""
    for name in names:
        for suffix in _DRAWN:
            (folder / f"{name}{suffix}").unlink(missing_ok=True)


def compared_policies(folder: Path) -> Iterator[Path]:
    """The folders of policies that comparisons have written into ``folder``, by what their files say.

    A folder that ``run`` was given, or that somebody has renamed, is none of them.
    """
    for home in sorted(folder.iterdir()) if folder.is_dir() else ():
        said = next(filter(None, map(_content, _telling(home))), None)
        if said is not None and "policies" in said["arguments"] and file_name(said["policy"]) == home.name:
            yield home


def _telling(home: Path) -> Iterator[Path]:
    """Files that say which policy has run; the last stands there too where a run was stopped."""
    return (home / name for name in (SUMMARY, ESTIMATES, f"{REPLICATION}1/{SUMMARY}"))


def _content(path: Path) -> dict[str, Any] | None:
    """What a summary says, None where it is none of ours."""
    try:
        found = json.loads(path.read_bytes())
        ours = isinstance(found["arguments"], dict) and isinstance(found["policy"], str)
    except (OSError, ValueError, RecursionError, TypeError, KeyError):
        return None
    return found if ours else None
