"""A run as Chrome trace events, which ui.perfetto.dev and chrome://tracing open.

One thread a slot with a slice a request; the queue as asynchronous slices; counters of what waits and
runs; arrows from release to admission. Times are seconds where it is known how many a time unit has;
else a time unit is one millisecond there, and the worker's name says so.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from analysis.levels import batch_levels, waiting_levels
from analysis.text import shown_id
from analysis.time_unit import TimeUnit
from serving_sim import Run
from serving_sim.request import IntArray
from workloads.whole_file import replacing

MOST_REQUESTS = 100_000
"""Requests in one file at most: some 70 MB of text, what the viewers still scroll through."""

_A_SECOND, _UNKNOWN = 1e6, 1000.0
"""Microseconds of the trace: in a second, and in a unit of unknown length."""

_PLAIN = TimeUnit()

Event = dict[str, Any]


@dataclass(frozen=True)
class Window:
    """Part of a run to show: the requests that wait or run between two times.

    Parameters
    ----------
    begin, end : float
        In time units, begin < end.

    Raises
    ------
    ValueError
        If the window is empty or a bound is not a number.
    """

    begin: float = 0.0
    end: float = np.inf

    def __post_init__(self) -> None:
        if not self.begin < self.end:
            raise ValueError(f"timeline-window={self.begin:g}:{self.end:g}: must begin before it ends")

    def requests(self, run: Run) -> IntArray:
        """Rows in the order of admission, the first `MOST_REQUESTS` of them."""
        assert run.requests is not None
        inside = (run.finish > self.begin) & (run.requests.release < self.end)
        rows = np.flatnonzero(inside)
        return rows[np.argsort(run.start[rows], kind="stable")][:MOST_REQUESTS]


def write_timeline(path: Path, run: Run, window: Window | None = None, time_unit: TimeUnit = _PLAIN) -> str:
    """Write the gzipped trace of a run.

    Parameters
    ----------
    path : Path
        Ends in ``.json.gz``.
    run : Run
        A run that kept its requests and recorded its batches.
    window : Window, optional
        What to show; the whole run by default.
    time_unit : TimeUnit
        What the run counts time in; without it nobody knows how long its time units are.

    Returns
    -------
    str
        What the file holds, and what was left out.

    Raises
    ------
    ValueError
        If the run kept no requests or no batches, or nothing happens in the window.
    """
    if run.requests is None or run.batches is None:
        raise ValueError("timeline: needs record_batches=True and no sink")
    window = window or Window()
    rows = window.requests(run)
    if not len(rows):
        raise ValueError(f"timeline-window={window.begin:g}:{window.end:g}: no request waits or runs in it")
    with (
        replacing(path) as temporary,
        temporary.open("wb") as raw,
        # no name and no date in the header: the same run gives the same bytes
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed,
        io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as text,
    ):
        text.write('{"displayTimeUnit": "ms", "traceEvents": [\n')
        text.writelines(_lines(trace_events(run, rows, time_unit)))
        text.write("\n]}\n")
    shown = f"{len(rows):,} of {run.totals.requests:,} requests"
    capped = f", the first {MOST_REQUESTS:,} admitted there" if len(rows) == MOST_REQUESTS else ""
    return f"{path.name}: {shown}{capped}"


def _lines(events: Iterator[Event]) -> Iterator[str]:
    for place, event in enumerate(events):
        yield (",\n" if place else "") + json.dumps(event, ensure_ascii=False, allow_nan=False)


def trace_events(run: Run, rows: IntArray, time_unit: TimeUnit = _PLAIN) -> Iterator[Event]:
    """Events of the requests in ``rows``, which stand in the order of admission."""
    processes = _Processes(worker=run.slots + 2, queue=run.slots + 3)  # unlike any thread
    clock = _Clock.of(time_unit)
    return chain(
        _names(run, processes, clock),
        _releases(run, rows, processes, clock),
        _lives(run, rows, processes, clock),
        _counters(run, rows, processes, clock),
    )


@dataclass(frozen=True)
class _Clock:
    """Times of the trace, in microseconds, and what to say of them."""

    scale: float
    note: str

    @classmethod
    def of(cls, time_unit: TimeUnit) -> _Clock:
        shown, factor = time_unit.as_seconds()
        if shown.name == "second":
            return cls(factor * _A_SECOND, "")
        return cls(_UNKNOWN, f" (1 ms is a {shown.name})")

    def stamp(self, time: float) -> float:
        """To the nanosecond."""
        return round(time * self.scale, 3)

    def duration(self, start: float, finish: float) -> float:
        """Difference of the rounded stamps, lest two slices of a thread overlap by a nanosecond."""
        return round(self.stamp(finish) - self.stamp(start), 3)


@dataclass(frozen=True)
class _Processes:
    worker: int
    queue: int


def _names(run: Run, processes: _Processes, clock: _Clock) -> Iterator[Event]:
    yield _name("process_name", processes.worker, 0, f"worker, {run.policy}{clock.note}")
    yield _name("process_name", processes.queue, 0, "queue and batch")
    yield _name("thread_name", processes.queue, 1, "releases")
    for slot in range(run.slots):
        yield _name("thread_name", processes.worker, slot + 1, f"slot {slot}")
        yield {
            "ph": "M",
            "name": "thread_sort_index",
            "pid": processes.worker,
            "tid": slot + 1,
            "args": {"sort_index": slot},
        }


def _name(kind: str, process: int, thread: int, name: str) -> Event:
    return {"ph": "M", "name": kind, "pid": process, "tid": thread, "args": {"name": name}}


def _releases(run: Run, rows: IntArray, processes: _Processes, clock: _Clock) -> Iterator[Event]:
    """A slice an instant of release, from which the arrows start; it ends before the next one begins."""
    assert run.requests is not None
    times, counts = np.unique(run.requests.release[rows], return_counts=True)
    ends = np.minimum(times + 1, np.append(times[1:], np.inf))
    for time, end, count in zip(times.tolist(), ends.tolist(), counts.tolist(), strict=True):
        yield {
            "ph": "X",
            "name": f"{count} released",
            "cat": "release",
            "pid": processes.queue,
            "tid": 1,
            "ts": clock.stamp(time),
            "dur": clock.duration(time, end),
        }


def _lives(run: Run, rows: IntArray, processes: _Processes, clock: _Clock) -> Iterator[Event]:
    assert run.requests is not None
    names = run.requests.request_id
    columns = (run.requests.release, run.start, run.finish, run.requests.length, run.slot)
    for row, *cells in zip(rows.tolist(), *(column[rows].tolist() for column in columns), strict=True):
        release, start, finish, length, slot = cells
        name = str(row) if names is None else shown_id(names[row])
        worker = {"pid": processes.worker, "tid": slot + 1}
        waiting = {"cat": "waiting", "name": "waiting", "pid": processes.queue, "id2": {"local": hex(row)}}
        arrow = {"cat": "admission", "name": "admitted", "id": row}
        if start > release:
            yield {"ph": "b", **waiting, "tid": 1, "ts": clock.stamp(release), "args": {"request": name}}
            yield {"ph": "e", **waiting, "tid": 1, "ts": clock.stamp(start)}
        yield {"ph": "s", **arrow, "pid": processes.queue, "tid": 1, "ts": clock.stamp(release)}
        yield {
            "ph": "X",
            "name": name,
            "cat": "request",
            **worker,
            "ts": clock.stamp(start),
            "dur": clock.duration(start, finish),
            "args": {"release": release, "length": length, "queue_time": start - release},
        }
        yield {"ph": "f", "bp": "e", **arrow, **worker, "ts": clock.stamp(start)}


def _counters(run: Run, rows: IntArray, processes: _Processes, clock: _Clock) -> Iterator[Event]:
    """Values where they change, while the requests of ``rows`` run."""
    begin, end = run.start[rows[0]], run.finish[rows].max()
    for name, levels in {"waiting": waiting_levels(run), **batch_levels(run)}.items():
        first = max(int(np.searchsorted(levels.time, begin, side="right")) - 1, 0)
        last = int(np.searchsorted(levels.time, end, side="right"))
        kept = first + np.flatnonzero(np.diff(levels.value[first:last], prepend=-1))
        for time, value in zip(levels.time[kept].tolist(), levels.value[kept].tolist(), strict=True):
            event = {"ph": "C", "name": name, "pid": processes.queue, "ts": clock.stamp(time)}
            yield {**event, "args": {name: value}}
