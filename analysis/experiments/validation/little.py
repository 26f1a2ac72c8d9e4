"""Little's law, which holds in every run whatever is served how."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.experiments.validation.check import Check
from serving_sim import Run

LAW = "L / (lambda W) - 1"
"""How the quantity of a `little_check` begins."""

_ROUNDING = 1e-9


def little_distance(run: Run) -> float:
    """Relative distance between L and lambda W over the whole of a run.

    L is the mean number of requests in the system, walked from event to event; lambda the requests per
    time unit and W their mean latency (Little 1961, "A proof for the queuing formula L = lambda W"). A
    run begins and ends empty, so the two are equal but for rounding.
    """
    assert run.requests is not None
    events = np.concatenate([run.requests.release, run.finish])
    changes = np.repeat([1, -1], len(run.finish))
    order = np.argsort(events, kind="stable")
    present = np.cumsum(changes[order])[:-1]
    number = float(present @ np.diff(events[order])) / run.makespan
    rate = len(run.finish) / run.makespan
    latency = float(np.mean(run.finish - run.requests.release))
    return abs(number / (rate * latency) - 1)


def little_check(case: str, distances: Sequence[float]) -> Check:
    """All runs of a system at once."""
    quantity = f"{LAW}, largest of {len(distances):,} run{'s' * (len(distances) > 1)}"
    return Check(case, quantity, max(distances), 0.0, rounding=_ROUNDING)
