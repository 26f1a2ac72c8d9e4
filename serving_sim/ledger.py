"""Columns of the requests a run is dealing with, as flat buffers the worker writes into."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from serving_sim.record import Served, Sink
from serving_sim.request import FloatArray, Workload
from serving_sim.steptime import StepTime

_PART = 8_192
"""Rows of a column that are worked on at once."""

UNSERVED = -1
"""Slot of a request that was not admitted yet."""

_DTYPES: dict[str, type[np.generic]] = {
    "release": np.float64,
    "length": np.int64,
    "size": np.int64,
    "start": np.float64,
    "finish": np.float64,
    "first_token": np.float64,
    "first_token_step": np.int64,
    "lower": np.int64,
    "slot": np.int32,
}
_EMPTY: dict[str, Any] = {"start": np.nan, "finish": np.nan, "slot": UNSERVED}


class Knowledge:
    """What policies may know of lengths: intervals, until a completion tells the length itself.

    It stands apart from the ledger so that no attribute of an epoch leads to a true length that the
    information model hides.
    """

    __slots__ = ("_base", "_finish", "_lower", "_upper")

    def learn(
        self, base: int, lower: NDArray[np.int64], upper: NDArray[np.int64], finish: FloatArray
    ) -> None:
        """Take over the columns; row k is about request ``base + k``, its finish NaN for not yet."""
        self._base, self._lower, self._upper, self._finish = base, lower, upper, finish

    def interval(self, request: int) -> tuple[int, int] | None:
        """Bounds in tokens, None for a request that has finished, whether or not it is still in memory."""
        if request < self._base:
            return None
        row = request - self._base
        return (int(self._lower[row]), int(self._upper[row])) if np.isnan(self._finish[row]) else None


class Ledger:
    """Requests by number, in the order in which they join, with their records.

    Row k holds request ``base + k``. The worker reads and writes the columns through memoryviews,
    which give Python numbers at half the cost of indexing an array. With a sink, leading blocks
    leave memory once all their requests have finished, so memory holds the span between the oldest
    unfinished request and the newest.

    Parameters
    ----------
    size_from : {"length", "upper"}
        Column that policies get to see as the size.
    step_time : StepTime
        With a constant step, first tokens are dated after the run; otherwise the worker does it.
    sink : Sink or None
        Where finished blocks go.
    """

    def __init__(self, size_from: Literal["length", "upper"], step_time: StepTime, sink: Sink | None) -> None:
        self._size_from = size_from
        self._step_time = step_time
        self._sink = sink
        self._blocks: deque[Workload] = deque()
        self._columns: dict[str, NDArray[Any]] = {name: np.empty(0, dtype) for name, dtype in _DTYPES.items()}
        # columns that nobody gives and nobody writes: one number in memory, whatever the rows
        self._idle = {"lower", "first_token_step"} | ({"first_token"} if step_time.constant else set())
        self.knowledge = Knowledge()
        self.base = 0
        self.known = 0
        self.tokens = 0
        self.intrinsic = 0
        self.residence = 0.0

    def append(self, block: Workload) -> int:
        """Add the next requests of the stream and return the number of the first."""
        if self._sink is not None:
            self._flush(self._sink)
        given = {"release": block.release, "length": block.length, "size": self._sizes(block)}
        if block.lower is not None and self._size_from == "upper":
            given["lower"] = block.lower
        if block.first_token_step is not None:
            given["first_token_step"] = block.first_token_step
        self._grow(len(block), given)
        first = self.known
        self._blocks.append(block)
        self.known += len(block)
        lower = "lower" if self._size_from == "upper" else "size"
        self.knowledge.learn(self.base, *(self._columns[name] for name in (lower, "size", "finish")))
        self.tokens += block.total_length
        self.intrinsic += block.intrinsic
        return first

    @property
    def sizes_are_lengths(self) -> bool:
        """Whether policies get to see the lengths themselves."""
        return self._size_from == "length"

    def view(self, name: str) -> memoryview:
        """Live view of a column; any `append` makes it stale."""
        return memoryview(self._columns[name])  # type: ignore[arg-type]  # the stub knows no Buffer

    def started_at(self, request: int) -> float | None:
        """Instant at which a request was admitted, None for not yet."""
        return _known(self._columns["start"][request - self.base])

    def finished_at(self, request: int) -> float | None:
        """Instant at which a request had its last token, None for not yet."""
        return _known(self._columns["finish"][request - self.base])

    def close(self) -> Served | None:
        """All requests still held with their fates; None once they went to the sink."""
        if self._sink is not None:
            self._flush(self._sink)
            return None
        served = self._served(_joined(list(self._blocks)), slice(self.known))
        self.residence = _residence(served)
        return served

    def _sizes(self, block: Workload) -> NDArray[np.int64]:
        if self._size_from == "length":
            return block.length
        if block.upper is None:
            raise ValueError("upper: sizes are upper predictions in this run, and the workload has none")
        return block.upper

    def _grow(self, count: int, given: dict[str, NDArray[Any]]) -> None:
        held = self.known - self.base
        room = max(held + count, 2 * held)
        self._idle.difference_update(given)
        for name, dtype in _DTYPES.items():
            if held == 0 and name in given:  # the usual single block is used as it is, uncopied
                self._columns[name] = given[name]
                continue
            column = self._columns[name]
            if name in self._idle:
                if len(column) < held + count:
                    self._columns[name] = np.broadcast_to(dtype(1), room)
                continue
            if len(column) < held + count:
                bigger = np.full(room, _EMPTY.get(name, 1), dtype)
                bigger[:held] = column[:held]
                self._columns[name] = column = bigger
            elif not column.flags.writeable:
                self._columns[name] = column = column.copy()
            if name in given:  # the others are empty since the column was made
                column[held : held + count] = given[name]

    def _flush(self, sink: Sink) -> None:
        done = 0
        while self._blocks:
            rows = slice(done, done + len(self._blocks[0]))
            if np.isnan(self._columns["finish"][rows]).any():
                break
            served = self._served(self._blocks.popleft(), rows)
            self.residence += _residence(served)
            sink.write(served)
            done = rows.stop
        if done:
            self._forget(done)

    def _forget(self, rows: int) -> None:
        held = self.known - self.base
        for name, column in self._columns.items():
            rest = column[rows:held]
            self._columns[name] = rest if name in self._idle else rest.copy()
        self.base += rows

    def _served(self, requests: Workload, rows: slice) -> Served:
        columns = {name: column[rows] for name, column in self._columns.items()}
        first_token = self._first_token(columns) if self._step_time.constant else columns["first_token"]
        silent = requests.without_output
        if silent is not None:
            first_token = first_token.copy()
            first_token[silent] = np.nan
        return Served(
            requests=requests,
            start=columns["start"],
            first_token=first_token,
            finish=columns["finish"],
            slot=columns["slot"],
        )

    def _first_token(self, columns: dict[str, NDArray[Any]]) -> FloatArray:
        steps = columns["first_token_step"]
        dated = np.empty(len(steps))
        for part in _parts(len(steps)):
            np.multiply(steps[part], self._step_time.base, out=dated[part])
            dated[part] += columns["start"][part]
            # the end of a request's last step is its finish, to the last bit
            np.copyto(dated[part], columns["finish"][part], where=steps[part] == columns["length"][part])
        return dated


def _residence(served: Served) -> float:
    """Sum of finish - start in time units."""
    parts = _parts(len(served.finish))
    return math.fsum(float(np.sum(served.finish[part] - served.start[part])) for part in parts)


def _parts(rows: int) -> Iterator[slice]:
    """Parts of columns that stay in the cache: fresh memory for what lies between costs more than sums."""
    return (slice(first, first + _PART) for first in range(0, rows, _PART))


def _known(instant: np.float64) -> float | None:
    return None if np.isnan(instant) else float(instant)


def _joined(blocks: list[Workload]) -> Workload:
    return blocks[0] if len(blocks) == 1 else Workload.joined(blocks)
