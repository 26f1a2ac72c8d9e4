"""What the kernel has to tell, in the order in which it happens."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from serving_sim.compiled.jit import Words, entry
from serving_sim.record import Batches, SlotArray
from serving_sim.request import FloatArray, IntArray

Rows = NDArray[np.int32]
"""Rows of requests in the columns that are held in memory; 32 bits halve the traffic."""


class Log(NamedTuple):
    """Fates of requests and changes of the batch since the log was last read.

    A request that has waited lies anywhere in a long stream. Written in its own row, each fate would
    cost cache misses that hold up the loop; one after the other they cost next to nothing, and are
    brought into their rows all at once.

    Attributes
    ----------
    admitted : ndarray of int32, shape (m,)
        Rows of the requests that were admitted; unused where that is the order of arrival.
    start : ndarray of float, shape (m,)
        Instants of that, in time units.
    slot : ndarray of int32, shape (m,)
        Slots they were admitted to.
    made_first, finished : ndarray of int32, shape (m,)
        Rows of those that had their first token and their last one. Where steps are constant both are of
        length 0: the kernel does not date first tokens, and dates the last one at the admission.
    first_token, finish : ndarray of float, shape (m,)
        Instants of these, in time units.
    time : ndarray of float, shape (k,)
        Instants at which the batch changed, in time units; of length 0 where no batches are recorded.
    step, active, waiting, max_progress, min_progress : ndarray of int64, shape (k,)
        Busy steps by then, and the batch from then on, as in `serving_sim.record.Batches`.
    """

    admitted: Rows
    start: FloatArray
    slot: SlotArray
    made_first: Rows
    first_token: FloatArray
    finished: Rows
    finish: FloatArray
    time: FloatArray
    step: IntArray
    active: IntArray
    waiting: IntArray
    max_progress: IntArray
    min_progress: IntArray


def make_log(admissions: int, slots: int, *, constant: bool, batches: bool) -> Log:
    """A log with room for ``admissions`` requests that are admitted, and those of one epoch more."""
    # those that were in the batch before finish as well
    fates = admissions + 2 * slots
    dated_later = 0 if constant else fates
    changes = 2 * fates if batches else 0

    def instants(rows: int) -> FloatArray:
        return np.empty(rows)

    def numbers(rows: int) -> IntArray:
        return np.empty(rows, np.int64)

    # one array for two columns, since the system hands over large ones in large pages, at less cost
    admitted, slot = np.empty((2, fates), np.int32)
    made_first, finished = np.empty((2, dated_later), np.int32)
    return Log(
        admitted, instants(fates), slot,
        made_first, instants(dated_later),
        finished, instants(fates),
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
def put(rows: Rows, values: Words, count: int, column: Words) -> None:
    """Bring the first ``count`` values of the log into the rows of their requests.

    A loop over one column at a time: numpy's own indexing takes several times as long, and a loop that
    fills all columns waits for more of memory at once.
    """
    for at in range(count):
        column[rows[at]] = values[at]
