"""Where cells are simulated: processes of this machine, or workers of a Dask cluster.

A backend takes cells and gives their results as they come. A cell that raises has an error for a
result; so has a cell that takes its worker process down, and the cells beside it are none the worse.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from joblib.externals.loky import ProcessPoolExecutor

from analysis.study.cell import Cell
from analysis.study.measure import Result, attempt
from analysis.workers import start_worker, starting_workers, worker_of_this_process

Results = Iterator[tuple[Cell, Result]]

_LIVES = 2
"""Processes of its own that a cell may take down: the first may have died of what else the machine does."""

_DIED = "its worker process died: killed, or out of memory"


class Backend(Protocol):
    """A way to simulate cells."""

    def results(self, cells: Iterable[Cell]) -> Results:
        """Every cell with its result, in the order in which they finish."""


@dataclass(frozen=True)
class Loky:
    """Processes of this machine, by joblib's loky.

    Parameters
    ----------
    jobs : int
        How many at most; no more are started than there are cells.
    """

    jobs: int

    def results(self, cells: Iterable[Cell]) -> Results:
        """Every cell with its result, in the order in which they finish.

        The death of a process breaks the pool and does not say which cell it had. All cells that
        were handed out are then simulated once more, each in a process of its own; one that takes down
        two of them is given up.
        """
        left = deque(cells)
        while left:
            suspects = yield from self._until_a_death(left)
            for cell in suspects:
                yield cell, _alone(cell)

    def _until_a_death(self, left: deque[Cell]) -> Generator[tuple[Cell, Result], None, list[Cell]]:
        """Results of cells taken from the left; the cells at work when a process died."""
        jobs = min(self.jobs, len(left))
        with _pool(jobs) as pool:
            at_work: dict[Future[Result], Cell] = {}
            while left or at_work:
                while left and len(at_work) < 2 * jobs:  # one at work and one in wait a process
                    cell = left.popleft()
                    at_work[_submit(pool, cell)] = cell
                broken = False
                for future in wait(at_work, return_when=FIRST_COMPLETED).done:
                    if isinstance(future.exception(), BrokenProcessPool):
                        broken = True
                    else:
                        yield at_work.pop(future), future.result()
                if broken:
                    return list(at_work.values())
        return []


@dataclass(frozen=True)
class Dask:
    """Workers of a Dask cluster, wherever they are; they need this version of the project.

    Parameters
    ----------
    scheduler : str
        Address, as in ``tcp://10.0.0.1:8786``.

    Notes
    -----
    Dask gives the cells of a worker that died to others; a cell that takes down one worker after the
    other is given up (``distributed.scheduler.allowed-failures``).
    """

    scheduler: str

    def results(self, cells: Iterable[Cell]) -> Results:
        """Every cell with its result, in the order in which they finish.

        Raises
        ------
        OSError
            If the scheduler cannot be reached or goes away.
        """
        from distributed import Client, KilledWorker, as_completed
        from distributed.client import FutureCancelledError
        from distributed.comm.core import CommClosedError

        # it writes a traceback of its own for a connection that is lost
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        with Client(self.scheduler) as client:  # type: ignore[no-untyped-call]
            asked = {client.submit(attempt, cell, cell.digest, pure=False): cell for cell in cells}
            for future in as_completed(list(asked)):  # type: ignore[no-untyped-call]
                cell = asked.pop(future)  # what nobody holds the cluster forgets
                try:
                    yield cell, future.result()
                except KilledWorker:
                    yield cell, Result(error=_DIED)
                except (FutureCancelledError, CommClosedError) as error:
                    raise ConnectionError(f"{self.scheduler}: the scheduler is gone") from error


def _alone(cell: Cell) -> Result:
    for _ in range(_LIVES):
        with _pool(1) as pool:
            try:
                return _submit(pool, cell).result()
            except BrokenProcessPool:
                continue
    return Result(error=_DIED)


def _submit(pool: ProcessPoolExecutor, cell: Cell) -> Future[Result]:
    future: Future[Result]
    try:
        future = pool.submit(attempt, cell, cell.digest)
    except BrokenProcessPool as error:  # a process died since the last look
        future = Future()
        future.set_exception(error)
    return future


@contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    pool = ProcessPoolExecutor(jobs, initializer=start_worker, initargs=worker_of_this_process())
    try:
        with starting_workers():
            pool.submit(int)  # the first call starts all processes
        yield pool
    finally:  # after an interruption cells at work are not waited for
        pool.shutdown(kill_workers=True)
