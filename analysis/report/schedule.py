"""Schedules of a comparison as data for the viewer inside the report."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray
from sortedcontainers import SortedList

from analysis.outcome import Outcome
from serving_sim import Run, Workload

MOST_REQUESTS = 100_000
"""Longer runs have no viewer: the page would grow beyond what can be mailed."""

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
    json : Markup
        All of it as JSON that cannot end the script element it stands in.
    """

    runs: Sequence[RunSchedule]
    json: Markup


def schedules(outcomes: Sequence[Outcome]) -> Schedule | None:
    """Schedules of the first replication of each policy; None where there are too many requests."""
    first = [outcome.runs[0] for outcome in outcomes]
    workload = first[0].requests
    if workload is None or len(workload) > MOST_REQUESTS:
        return None
    runs = [RunSchedule(run.policy, _run_columns(run), broken_spans(run)) for run in first]
    end = max(run.makespan for run in first)
    shown = min(len(workload), _FIRST_ROUNDS * first[0].slots) - 1
    content = {
        "slots": first[0].slots,
        "count": len(workload),
        "longest": int(workload.length.max()),
        "end": end,
        "first": min(end, max(float(np.sort(run.finish)[shown]) for run in first)),
        "ids": None if workload.request_id is None else workload.request_id.tolist(),
        "requests": _request_columns(workload),
        "runs": [vars(run) for run in runs],
    }
    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    # inside a script element only "<" can lead out of it
    return Schedule(runs, Markup(text.replace("<", "\\u003c")))  # noqa: S704 - nothing here is markup


def broken_spans(run: Run) -> list[tuple[float, float]]:
    """Spans of time in which two requests of the batch were more than alpha tokens apart.

    Only a constant step time lets times tell progress; with another the list is empty, and the audit
    has the count.

    Parameters
    ----------
    run : Run
        A run that kept its requests.

    Returns
    -------
    list of (float, float)
        Begin and end in time units, apart from each other and in order.
    """
    if run.audit.fair is not False or not run.step_time.constant:
        return []
    limit = (run.audit.alpha or 0) + 0.5  # starts of a batch are whole steps apart, but for rounding
    spans: list[tuple[float, float]] = []
    active: SortedList[float] = SortedList()
    since: float | None = None
    for time, start in _changes(run):
        if time == start:
            active.add(start)
        else:
            active.remove(start)
        broken = len(active) > 1 and active[-1] - active[0] > limit * run.step_time.base
        if broken and since is None:
            since = time
        elif not broken and since is not None:
            if time > since:
                spans.append((since, time))
            since = None
    return spans


def _changes(run: Run) -> list[tuple[float, float]]:
    """Each admission and each finish with the start of its request; finishes first at one instant."""
    starts, finishes = run.start.tolist(), run.finish.tolist()
    return sorted([*zip(finishes, starts, strict=True), *zip(starts, starts, strict=True)])


def _request_columns(workload: Workload) -> str:
    return _packed([workload.release.astype("<f8"), workload.length.astype("<i4")])


def _run_columns(run: Run) -> str:
    return _packed([run.start.astype("<f8"), run.finish.astype("<f8"), run.slot.astype("<i4")])


def _packed(columns: Sequence[NDArray[np.generic]]) -> str:
    raw = b"".join(column.tobytes() for column in columns)
    return base64.b64encode(gzip.compress(raw, mtime=0)).decode()
