"""Waiting and active requests over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from analysis.latency import served_requests
from analysis.outcome import Outcome
from analysis.plots.strips import Strip, draw_strips, round_tick
from analysis.plots.style import drawing, inks, new_figure
from analysis.text import number
from analysis.time_unit import TimeUnit
from serving_sim.request import FloatArray

_BINS = 200


def load_over_time(outcomes: Sequence[Outcome], *, time_unit: TimeUnit) -> Figure:
    """Draw queue length and occupancy of the first replication, a strip a policy.

    Both are exact time averages over equal bins from 0 to the largest makespan: no peak between two
    samples is lost without a trace.

    Parameters
    ----------
    outcomes : sequence of Outcome
        Policies to draw, which served the same requests.
    time_unit : TimeUnit
        What the run counts time in.
    """
    style = inks([outcome.policy for outcome in outcomes])
    release = served_requests(outcomes[0].runs[0]).requests.release  # all policies serve the same requests
    slots = outcomes[0].runs[0].slots
    edges = np.linspace(0, max(outcome.runs[0].makespan for outcome in outcomes), _BINS + 1)
    released = time_since(release, edges)
    waiting: list[Strip] = []
    active: list[Strip] = []
    for outcome in outcomes:
        served = served_requests(outcome.runs[0])
        started, finished = time_since(served.start, edges), time_since(served.finish, edges)
        for strips, spent in ((waiting, released - started), (active, started - finished)):
            level = mean_level(spent, edges)
            title = f"{outcome.policy}, {number(float(level.mean()))} on average"
            strips.append(Strip(title, level, style[outcome.policy].colour))
    longest = max(1.0, *(float(strip.heights.max()) for strip in waiting))
    with drawing():
        figure = new_figure(height=0.9 + 0.75 * len(outcomes))
        left, right = figure.subplots(1, 2)
        draw_strips(left, edges, waiting, top=longest, tick=round_tick(longest))
        draw_strips(right, edges, active, top=slots, tick=slots)
        for axes, title in ((left, "waiting requests"), (right, "active requests")):
            axes.set_title(title, loc="left")
            axes.set_xlabel(f"time ({time_unit.plural}), means over {number(edges[1])}")
            axes.locator_params(axis="x", nbins=5)
    return figure


def time_since(events: FloatArray, instants: FloatArray) -> FloatArray:
    """Sum over the events before each instant of the time since then.

    Parameters
    ----------
    events : ndarray of float, shape (n,)
        In time units.
    instants : ndarray of float, shape (m,), m >= 2
        Growing in equal steps.

    Returns
    -------
    ndarray of float, shape (m,)
        Of entries less that of departures it is the time that all who came have spent.
    """
    # A search takes five times as long. Rounding may count an event at an instant before or after it:
    # it has spent no time there.
    step = (instants[-1] - instants[0]) / (len(instants) - 1)
    place = np.clip(np.ceil((events - instants[0]) / step), 0, len(instants)).astype(np.int64)
    before = np.bincount(place, minlength=len(instants) + 1)[:-1].cumsum()
    sums = np.bincount(place, weights=events, minlength=len(instants) + 1)[:-1].cumsum()
    since: FloatArray = before * instants - sums
    return since


def mean_level(spent: FloatArray, edges: FloatArray) -> FloatArray:
    """Time average, in each of m bins, of a number of requests.

    Parameters
    ----------
    spent : ndarray of float, shape (m + 1,)
        Time that all of them have spent up to each edge.
    edges : ndarray of float, shape (m + 1,)
        Ends of the bins, growing.

    Returns
    -------
    ndarray of float, shape (m,)
    """
    return np.maximum(np.diff(spent), 0) / np.diff(edges)  # rounding could leave -1e-16
