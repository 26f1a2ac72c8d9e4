"""Waiting and active requests over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from analysis.latency import served_requests
from analysis.outcome import Outcome
from analysis.plots.style import drawing, inks, legend_above, new_figure, plain_numbers
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
        Policies to draw.
    time_unit : TimeUnit
        What the run counts time in.
    """
    style = inks([outcome.policy for outcome in outcomes])
    edges = np.linspace(0, max(outcome.runs[0].makespan for outcome in outcomes), _BINS + 1)
    with drawing():
        figure = new_figure(height=2.9 + 0.62 * len(outcomes))
        ratios = [3.2] + [1] * len(outcomes)
        queue, *strips = figure.subplots(1 + len(outcomes), 1, sharex=True, height_ratios=ratios)
        for outcome, strip in zip(outcomes, strips, strict=True):
            served = served_requests(outcome.runs[0])
            waiting = mean_present(served.requests.release, served.start, edges)
            active = mean_present(served.start, served.finish, edges)
            ink = style[outcome.policy]
            queue.stairs(waiting, edges, baseline=None, label=outcome.policy, **ink.line)
            strip.stairs(active, edges, fill=True, color=ink.colour)
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


def mean_present(entry: FloatArray, leave: FloatArray, edges: FloatArray) -> FloatArray:
    """Time average of the number of requests present, in each of m bins.

    Parameters
    ----------
    entry, leave : ndarray of float, shape (n,)
        When each request comes and goes, in time units.
    edges : ndarray of float, shape (m + 1,)
        Ends of the bins, growing.

    Returns
    -------
    ndarray of float, shape (m,)
    """
    time_spent = np.diff(_elapsed(entry, edges) - _elapsed(leave, edges))
    return np.maximum(time_spent, 0) / np.diff(edges)  # rounding could leave -1e-16


def _elapsed(events: FloatArray, instants: FloatArray) -> FloatArray:
    """Sum over the events before each instant of the time since then."""
    ordered = np.sort(events)
    before = np.searchsorted(ordered, instants, side="right")
    sums = np.concatenate(([0.0], np.cumsum(ordered)))
    return before * instants - sums[before]
