"""Paths on the command line: refused before the work begins where it could not be kept."""

from __future__ import annotations

import os
from pathlib import Path

import typer


def input_path(text: str | Path) -> Path:
    """A file or folder to read; whether it is there is for its reader to say.

    Raises
    ------
    typer.BadParameter
        If there is no name.
    """
    return _path(text)


def output_folder(text: str | Path) -> Path:
    """A folder to write to, made later where it does not exist.

    Raises
    ------
    typer.BadParameter
        If it could not be made or written to.
    """
    path = _path(text)
    _check_folder(path)
    return path


def run_folder(text: str | Path) -> Path:
    """A folder for the files of runs, as `output_folder`; what goes there has names that inputs may bear.

    Raises
    ------
    typer.BadParameter
        If it could not be made or written to.
    """
    return output_folder(text)


def output_file(text: str | Path) -> Path:
    """A file to write, in a folder that is made later where it does not exist.

    Raises
    ------
    typer.BadParameter
        If it could not be written.
    """
    path = _path(text)
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a folder, not a file")
    _check_folder(path.parent)
    return path


def _path(text: str | Path) -> Path:
    if not str(text):
        raise typer.BadParameter("must not be empty")
    try:
        return Path(text).expanduser()  # a shell leaves ~ alone behind an equals sign
    except RuntimeError as error:
        raise typer.BadParameter(f"{text}: {error}") from None


def _check_folder(folder: Path) -> None:
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not there.is_dir():
        raise typer.BadParameter(f"{there} is a file, not a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise typer.BadParameter(f"{there} may not be written to")
