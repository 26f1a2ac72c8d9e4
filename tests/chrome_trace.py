"""A strict reader of Chrome trace events, written from the format and not from what writes them here.

It knows the phases of complete slices (X), asynchronous slices (b, e), flows (s, f), counters (C) and
metadata (M), holds every event against what the format asks of its phase, and gives back what a viewer
would draw.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from dataclasses import dataclass, field
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import Any

Event = dict[str, Any]
Track = tuple[int, int]

_NEEDED = {
    "X": {"name", "cat", "ts", "dur", "pid", "tid"},
    "b": {"name", "cat", "ts", "pid", "tid"},
    "e": {"name", "cat", "ts", "pid", "tid"},
    "s": {"name", "cat", "ts", "pid", "tid", "id"},
    "f": {"name", "cat", "ts", "pid", "tid", "id"},
    "C": {"name", "ts", "pid", "args"},
    "M": {"name", "pid", "tid", "args"},
}
_METADATA = {"process_name": "name", "thread_name": "name", "thread_sort_index": "sort_index"}


@dataclass(frozen=True)
class Slice:
    """One bar; times in microseconds."""

    name: str
    begin: float
    end: float
    arguments: dict[str, Any]


@dataclass
class Trace:
    """What a viewer draws.

    Attributes
    ----------
    processes, threads : dict
        Names by number, and by pair of numbers.
    slices : dict of Track to list of Slice
        Complete slices by track, by begin.
    waits : list of (str, float, float)
        Asynchronous slices: the request in their arguments, begin and end.
    arrows : list of ((Track, float), (Track, float))
        Where each flow starts and ends.
    counters : dict of str to list of (float, float)
        Values from a time on, by name.
    """

    processes: dict[int, str] = field(default_factory=dict)
    threads: dict[Track, str] = field(default_factory=dict)
    slices: dict[Track, list[Slice]] = field(default_factory=lambda: defaultdict(list))
    waits: list[tuple[str, float, float]] = field(default_factory=list)
    arrows: list[tuple[tuple[Track, float], tuple[Track, float]]] = field(default_factory=list)
    counters: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))

    def track(self, process: str, thread: str) -> Track:
        """The one track of these names."""
        (found,) = [
            track
            for track, name in self.threads.items()
            if (self.processes[track[0]], name) == (process, thread)
        ]
        return found


def read_trace(path: Path) -> Trace:
    """What is in a gzipped JSON file.

    Raises
    ------
    AssertionError
        If an event is not as the format wants it.
    """
    content = json.loads(gzip.decompress(path.read_bytes()), parse_constant=_no_constant)
    assert content["displayTimeUnit"] in ("ms", "ns")
    trace = Trace()
    open_waits: dict[tuple[Any, ...], Event] = {}
    flows: dict[tuple[Any, ...], Event] = {}
    for event in content["traceEvents"]:
        _check(event)
        match event["ph"]:
            case "M":
                _name(trace, event)
            case "X":
                slice_ = Slice(event["name"], event["ts"], event["ts"] + event["dur"], event.get("args", {}))
                trace.slices[_track(event)].append(slice_)
            case "b":
                key = _asynchronous(event)
                assert key not in open_waits, f"opened twice: {event}"
                open_waits[key] = event
            case "e":
                begin = open_waits.pop(_asynchronous(event))
                assert begin["ts"] <= event["ts"]
                trace.waits.append((begin["args"]["request"], begin["ts"], event["ts"]))
            case "s":
                key = (event["cat"], event["name"], event["id"])
                assert key not in flows, f"started twice: {event}"
                flows[key] = event
            case "f":
                start = flows.pop((event["cat"], event["name"], event["id"]))
                assert start["ts"] <= event["ts"]
                trace.arrows.append(((_track(start), start["ts"]), (_track(event), event["ts"])))
            case "C":
                _count(trace, event)
    assert not open_waits, "never closed"
    assert not flows, "arrows to nowhere"
    for each in trace.slices.values():
        each.sort(key=lambda slice_: slice_.begin)
    return trace


def _check(event: Event) -> None:
    needed = _NEEDED[event["ph"]]
    assert needed <= event.keys(), f"{needed - event.keys()} missing in {event}"
    for key in ("ts", "dur"):
        if key in event:
            assert isinstance(event[key], Real)
            assert isfinite(event[key])
            assert event[key] >= 0
    assert all(isinstance(event[key], int) for key in ("pid", "tid") if key in event)


def _name(trace: Trace, event: Event) -> None:
    value = event["args"][_METADATA[event["name"]]]
    if event["name"] == "process_name":
        trace.processes[event["pid"]] = value
    elif event["name"] == "thread_name":
        trace.threads[_track(event)] = value


def _count(trace: Trace, event: Event) -> None:
    ((_, value),) = event["args"].items()
    assert isinstance(value, Real)
    series = trace.counters[event["name"]]
    assert not series or series[-1][0] <= event["ts"]
    series.append((event["ts"], float(value)))


def _asynchronous(event: Event) -> tuple[Any, ...]:
    """What events of an asynchronous slice share; a local id counts within its process."""
    number = event.get("id")
    if number is None:
        ((scope, number),) = event["id2"].items()
        assert scope in ("local", "global")
        number = (event["pid"], number) if scope == "local" else number
    return event["cat"], event["name"], number


def _track(event: Event) -> Track:
    return event["pid"], event["tid"]


def _no_constant(name: str) -> float:
    raise AssertionError(f"{name} is no JSON")
