"""Waiting and active requests over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from analysis.latency import served_requests
from analysis.outcome import Outcome
from analysis.plots.style import (
    drawing,
    fill_steps,
    inks,
    legend_above,
    new_figure,
    plain_numbers,
    until_edge,
)
from analysis.text import number
from analysis.time_unit import TimeUnit
from serving_sim.request import FloatArray

_BINS = 300


def load_over_time(outcomes: Sequence[Outcome], *, time_unit: TimeUnit) -> Figure:
    """Draw queue length and occupancy of the first replication.

    Queues share one panel; batches fill and drain too fast for that and get a strip each. Both are
    exact time averages over equal bins from 0 to the largest makespan: no peak between two samples
    is lost without a trace.

    Parameters
    ----------
    outcomes : sequence of Outcome
        Policies to draw, which served the same requests.
    time_unit : TimeUnit
        What the run counts time in.
    """
    style = inks([outcome.policy for outcome in outcomes])
    release = served_requests(outcomes[0].runs[0]).requests.release  # all policies serve the same requests
    edges = np.linspace(0, max(outcome.runs[0].makespan for outcome in outcomes), _BINS + 1)
    released = time_since(release, edges)
    with drawing():
        figure = new_figure(height=2.9 + 0.62 * len(outcomes))
        ratios = [3.2] + [1] * len(outcomes)
        queue, *strips = figure.subplots(1 + len(outcomes), 1, sharex=True, height_ratios=ratios)
        for outcome, strip in zip(outcomes, strips, strict=True):
            served = served_requests(outcome.runs[0])
            released, started, finished = (
                time_since(events, edges) for events in (served.requests.release, served.start, served.finish)
            )
            waiting, active = mean_level(released - started, edges), mean_level(started - finished, edges)
            ink = style[outcome.policy]
            queue.step(edges, until_edge(waiting), where="post", label=outcome.policy, **ink.line)
            fill_steps(strip, edges, active, ink)
            strip.set_ylim(0, outcome.runs[0].slots)
            strip.set_yticks([0, outcome.runs[0].slots])
            strip.set_title(f"active requests, {outcome.policy}", loc="left", fontsize=8, pad=2)
        queue.set_title("waiting requests", loc="left", fontsize=8, pad=2)
        queue.set_ylim(bottom=0)
        queue.margins(x=0)
        plain_numbers(queue.yaxis)
        plain_numbers(strips[-1].xaxis)
        strips[-1].set_xlabel(
            f"time ({time_unit.plural}), means over {number(edges[1])} {time_unit.plural} each"
        )
        legend_above(figure, queue)
    return figure


def time_since(events: FloatArray, instants: FloatArray) -> FloatArray:
    """Sum over the events before each instant of the time since then.

    Parameters
    ----------
    events : ndarray of float, shape (n,)
        In time units.
    instants : ndarray of float, shape (m,)
        Growing.

    Returns
    -------
    ndarray of float, shape (m,)
        Of entries less that of departures it is the time that all who came have spent.
    """
    place = np.searchsorted(instants, events)
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
