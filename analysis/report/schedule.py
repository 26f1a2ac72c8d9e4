"""Schedules of a comparison as data for the viewer inside the report."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from analysis.levels import gap_levels
from analysis.outcome import Outcome
from analysis.spans import first_spans, span_steps
from serving_sim import Batches, Run, Workload
from serving_sim.request import IntArray

MOST_REQUESTS = 100_000
"""Of a longer run the viewer has the beginning alone: the page would grow beyond what can be mailed."""

FIRST_REQUESTS = 20_000
"""Released in that beginning."""

_FIRST_ROUNDS = 10
"""Requests a slot that the viewer shows at first."""


@dataclass(frozen=True)
class RunSchedule:
    """One policy in the viewer: its name, its columns, the spans in which its batch broke alpha."""

    policy: str
    columns: str
    violations: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Schedule:
    """What the viewer draws.

    Attributes
    ----------
    runs : sequence of RunSchedule
        First replications of the policies, in the order of the comparison.
    shown, of : int
        Requests that are there, and that the runs have.
    until : float
        Time up to which everything is there, in time units.
    json : Markup
        All of it as JSON that cannot end the script element it stands in.
    """

    runs: Sequence[RunSchedule]
    shown: int
    of: int
    until: float
    json: Markup


def schedules(outcomes: Sequence[Outcome]) -> Schedule | None:
    """Schedules of the first replication of each policy, of long runs the beginning.

    None where batches were not recorded, or too many requests come at once.
    """
    runs = [outcome.runs[0] for outcome in outcomes]
    workload = runs[0].requests
    if workload is None or any(run.batches is None for run in runs):
        return None
    rows, end = _beginning(workload, max(run.makespan for run in runs))
    if not len(rows):
        return None
    parts = [_part(run, rows, end) for run in runs]
    requests = workload.take(rows)
    shown = min(len(rows), _FIRST_ROUNDS * runs[0].slots) - 1
    drawn = [RunSchedule(part.policy, _run_columns(part), _within(broken_spans(part), end)) for part in parts]
    content = {
        "slots": runs[0].slots,
        "count": len(rows),
        "longest": int(requests.length.max()),
        "end": end,
        "first": min(end, max(float(np.sort(part.finish)[shown]) for part in parts)),
        "ids": _names(requests, rows),
        "requests": _request_columns(requests),
        "runs": [vars(each) for each in drawn],
    }
    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    # inside a script element only "<" can lead out of it
    markup = Markup(text.replace("<", "\\u003c"))  # noqa: S704 - nothing here is markup
    return Schedule(drawn, len(rows), len(workload), end, markup)


def _beginning(workload: Workload, makespan: float) -> tuple[IntArray, float]:
    """Rows to show, and the time up to which nobody else is there."""
    if len(workload) <= MOST_REQUESTS:
        return np.arange(len(workload)), makespan
    end = float(np.partition(workload.release, FIRST_REQUESTS)[FIRST_REQUESTS])
    return np.flatnonzero(workload.release < end), end


def _part(run: Run, rows: IntArray, end: float) -> Run:
    """A run with these requests alone, right up to ``end``."""
    assert run.requests is not None
    assert run.batches is not None
    if len(rows) == len(run.requests):
        return run
    spans = slice(np.searchsorted(run.batches.time, end))
    columns = {field.name: getattr(run.batches, field.name)[spans] for field in fields(run.batches)}
    return replace(
        run,
        requests=run.requests.take(rows),
        start=run.start[rows],
        finish=run.finish[rows],
        slot=run.slot[rows],
        batches=Batches(**columns),
    )


def _within(spans: Sequence[tuple[float, float]], end: float) -> list[tuple[float, float]]:
    return [(begin, min(last, end)) for begin, last in spans if begin < end]


def _names(requests: Workload, rows: IntArray) -> list[str] | list[int] | None:
    """What to call the requests; None where they are called by their places from 0."""
    if requests.request_id is not None:
        names: list[str] = requests.request_id.tolist()
        return names
    return None if rows[-1] == len(rows) - 1 else rows.tolist()


def broken_spans(run: Run) -> list[tuple[float, float]]:
    """Spans of time in which two requests of the batch were more than alpha tokens apart.

    Parameters
    ----------
    run : Run
        A run that kept its requests and recorded its batches.

    Returns
    -------
    list of (float, float)
        Begin and end in time units, apart from each other and in order; empty without an alpha.
    """
    return [] if run.audit.alpha is None else gap_levels(run).above(run.audit.alpha)


def _request_columns(workload: Workload) -> str:
    return _packed([each.astype("<f8") for each in (workload.release, workload.length)])


def _run_columns(run: Run) -> str:
    assert run.batches is not None
    # busy steps before a request started: the differences are how far requests of a batch are apart
    admitted = span_steps(run.batches)[first_spans(run)]
    columns = (run.start, run.finish, admitted)  # no run has steps beyond 2 ** 53, where floats miss some
    return _packed([*(each.astype("<f8") for each in columns), run.slot.astype("<i4")])


def _packed(columns: Sequence[NDArray[np.generic]]) -> str:
    # first bytes first, then all second ones: the high bytes of times are alike, which packs a fifth smaller
    raw = b"".join(column.view(np.uint8).reshape(len(column), -1).T.tobytes() for column in columns)
    return base64.b64encode(gzip.compress(raw, compresslevel=6, mtime=0)).decode()
