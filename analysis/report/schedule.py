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

from analysis.levels import gap_levels
from analysis.outcome import Outcome
from analysis.spans import first_spans, span_steps
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
    """Schedules of the first replication of each policy.

    None where there are too many requests, or batches were not recorded.
    """
    first = [outcome.runs[0] for outcome in outcomes]
    workload = first[0].requests
    if workload is None or is_too_long(outcomes) or any(run.batches is None for run in first):
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


def is_too_long(outcomes: Sequence[Outcome]) -> bool:
    """Whether the runs have more requests than a page can hold."""
    return outcomes[0].runs[0].totals.requests > MOST_REQUESTS


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
    return _packed([workload.release.astype("<f8"), workload.length.astype("<i4")])


def _run_columns(run: Run) -> str:
    assert run.batches is not None
    # busy steps before a request started: the differences are how far requests of a batch are apart
    admitted = span_steps(run.batches)[first_spans(run)]
    columns = (run.start, run.finish, admitted)  # whole numbers below 2 ** 53 are exact as floats
    return _packed([*(each.astype("<f8") for each in columns), run.slot.astype("<i4")])


def _packed(columns: Sequence[NDArray[np.generic]]) -> str:
    # first bytes first, then all second ones: the high bytes of times are alike, which packs a fifth smaller
    raw = b"".join(column.view(np.uint8).reshape(len(column), -1).T.tobytes() for column in columns)
    return base64.b64encode(gzip.compress(raw, mtime=0)).decode()
