"""Run a study, or what is left of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from analysis.study.backends import Backend
from analysis.study.cell import Cell
from analysis.study.definition import Study
from analysis.study.source import Logged
from analysis.study.store import Kept, Store

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Standing:
    """How far a study is.

    Attributes
    ----------
    done : tuple of Cell
        Cells whose row is kept.
    missing : tuple of Cell
        Cells that were never finished.
    outdated : tuple of Cell
        Cells kept from another definition: other settings, another version, another log file.
    failed : tuple of Cell and str
        Cells that ended with an error, with the error.
    """

    done: tuple[Cell, ...]
    missing: tuple[Cell, ...]
    outdated: tuple[Cell, ...]
    failed: tuple[tuple[Cell, str], ...]

    @property
    def to_do(self) -> list[Cell]:
        """Cells that a run will simulate: all that are not done, failed ones once more."""
        return [*self.missing, *self.outdated, *(cell for cell, _ in self.failed)]


def standing(cells: Sequence[Cell], kept: Mapping[str, Kept]) -> Standing:
    """Compare the cells of a study with what its store holds."""
    done, missing, outdated, failed = [], [], [], []
    for cell in cells:
        found = kept.get(cell.key)
        if found is None:
            missing.append(cell)
        elif found.digest != cell.digest:
            outdated.append(cell)
        elif found.error is not None:
            failed.append((cell, found.error))
        else:
            done.append(cell)
    return Standing(tuple(done), tuple(missing), tuple(outdated), tuple(failed))


def run_study(
    study: Study, store: Store, backend: Backend, done: Callable[[Cell], None]
) -> list[tuple[Cell, str]]:
    """Simulate the cells that the store does not hold and keep each as soon as it is there.

    Parameters
    ----------
    study : Study
        What to simulate.
    store : Store
        Written by this process alone, one transaction a cell.
    backend : Backend
        Who simulates.
    done : callable
        Told each cell once it is kept.

    Returns
    -------
    list of tuple of Cell and str
        Cells that ended with an error, and the error.

    Raises
    ------
    ValueError
        If a log cannot be read.
    """
    failed = []
    to_do = standing(study.cells, store.read()).to_do
    for log in dict.fromkeys(cell.source for cell in to_do if isinstance(cell.source, Logged)):
        log.check()
    for cell, result in backend.results(to_do):
        store.keep(cell, result)
        _log.debug("%s: %s", cell, "done" if result.error is None else "failed")
        if result.error is not None:
            failed.append((cell, result.error))
        done(cell)
    return failed
