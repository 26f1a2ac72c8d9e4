"""What the kernel has to tell, in the order in which it happens."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from serving_sim.compiled.jit import Words, entry
from serving_sim.record import Batches
from serving_sim.request import FloatArray, IntArray


class Log(NamedTuple):
    """Fates of requests and changes of the batch since the log was last read.

    A request that has waited lies anywhere in a long stream. Written in its own row, each fate would
    cost cache misses that hold up the loop; one after the other they cost next to nothing, stay in the
    cache until the log is full, and are then brought into their rows all at once.

    Attributes
    ----------
    admitted, made_first, finished : ndarray of int64, shape (m,)
        Requests that were admitted, had their first token, and had their last one; the three have
        counts of their own. First tokens are logged only where steps are not constant.
    start, first_token, finish : ndarray of float, shape (m,)
        Instants of these, in time units.
    slot : ndarray of int64, shape (m,)
        Slots they were admitted to.
    time : ndarray of float, shape (k,)
        Instants at which the batch changed, in time units; of length 0 where no batches are recorded.
    step, active, waiting, max_progress, min_progress : ndarray of int64, shape (k,)
        Busy steps by then, and the batch from then on, as in `serving_sim.record.Batches`.
    """

    admitted: IntArray
    start: FloatArray
    slot: IntArray
    made_first: IntArray
    first_token: FloatArray
    finished: IntArray
    finish: FloatArray
    time: FloatArray
    step: IntArray
    active: IntArray
    waiting: IntArray
    max_progress: IntArray
    min_progress: IntArray


def make_log(admissions: int, slots: int, *, batches: bool) -> Log:
    """A log with room for ``admissions`` requests that are admitted, and those of one epoch more."""
    # those that were in the batch before finish as well
    fates = admissions + 2 * slots
    changes = 2 * fates if batches else 0

    def instants(rows: int) -> FloatArray:
        return np.empty(rows)

    def numbers(rows: int) -> IntArray:
        return np.empty(rows, np.int64)

    return Log(
        numbers(fates), instants(fates), numbers(fates),
        numbers(fates), instants(fates),
        numbers(fates), instants(fates),
        instants(changes), *(numbers(changes) for _ in range(5)),
    )  # fmt: skip


class Changes:
    """All changes of the batch that were read from the log, where batches are recorded."""

    def __init__(self) -> None:
        self._parts: list[tuple[Words, ...]] = []

    def read(self, log: Log, count: int) -> None:
        """Keep the first ``count`` changes of the log."""
        columns = log.time, log.step, log.active, log.waiting, log.max_progress, log.min_progress
        self._parts.append(tuple(column[:count].copy() for column in columns))

    def batches(self) -> Batches:
        """The spans between the changes; the time after one that left nobody active has no row."""
        time, step, active, *others = map(np.concatenate, zip(*self._parts, strict=True))
        busy = active > 0  # the last change leaves nobody
        waiting, max_progress, min_progress = (column[busy] for column in others)
        return Batches(
            time=time[busy],
            steps=np.diff(step)[busy[:-1]],
            active=active[busy],
            waiting=waiting,
            max_progress=max_progress,
            min_progress=min_progress,
        )


@entry
def put(requests: IntArray, values: Words, count: int, column: Words, base: int) -> None:
    """Bring the first ``count`` values of the log into the rows of their requests; row 0 is ``base``'s.

    A loop over one column at a time: numpy's own indexing takes several times as long, and a loop that
    fills all columns waits for more of memory at once.
    """
    for at in range(count):
        column[requests[at] - base] = values[at]
