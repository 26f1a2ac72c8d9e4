"""Files that a command reads, which it must not write over."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from serving_sim.errors import ServingSimError


class OwnInputError(ServingSimError):
    """A command would write over a file that it reads; no `ValueError`, as nothing is wrong with the file."""


@dataclass(frozen=True)
class Target:
    """What a command is about to write.

    Attributes
    ----------
    path : Path
        A file, or a folder.
    called : str
        What a refusal calls it, as in ``--out='log.csv'``.
    names : collection of str
        Of a folder, the names of files in it that are written or go, as patterns.
    """

    path: Path
    called: str
    names: Collection[str] = ()

    def holds(self, file: Path) -> bool:
        """Whether a file is, by whatever link, one that is written."""
        inside = (place for name in self.names for place in self.path.glob(name))
        return any(_same(place, file) for place in (self.path, *inside))


@dataclass(frozen=True)
class _Guard:
    targets: tuple[Target, ...]
    read: dict[Path, None] = field(default_factory=dict)


_guards: list[_Guard] = []  # files are a matter of the process, as its signals are


@contextmanager
def guarding(targets: Collection[Target]) -> Iterator[None]:
    """Refuse, for as long as the block lasts, to read what is to be written and to write what was read.

    Outside, as in a notebook, a program may write over a file that it has read.
    """
    _guards.append(_Guard(tuple(targets)))
    try:
        yield
    finally:
        _guards.pop()


def note_input(path: Path) -> None:
    """To be called by whatever reads a file, before it does.

    Raises
    ------
    OwnInputError
        If the command is about to write it.
    """
    for guard in _guards:
        guard.read[path] = None
        for target in guard.targets:
            _check(target, path)


def check_output(target: Target) -> None:
    """To be called by whatever writes what only its work has named.

    Raises
    ------
    OwnInputError
        If the command has read it.
    """
    for guard in _guards:
        for file in guard.read:
            _check(target, file)


def _check(target: Target, file: Path) -> None:
    if target.holds(file):
        raise OwnInputError(
            f"{target.called}: would write over {str(file)!r}, which the command reads; give another name"
        )


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there
        return False
