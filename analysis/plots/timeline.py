"""Waiting and active requests over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from analysis.latency import served_requests
from analysis.outcome import Outcome
from analysis.plots.instants import mean_level, time_since
from analysis.plots.strips import Strip, draw_strips, round_tick
from analysis.plots.style import drawing, inks, new_figure
from analysis.text import number
from analysis.time_unit import TimeUnit

_BINS = 200
_LONG = 1e7
"""From here on numbers are so wide that few fit below half a figure."""


def load_over_time(outcomes: Sequence[Outcome], *, time_unit: TimeUnit) -> Figure:
    """Draw queue length and occupancy of the first replication, a strip a policy.

    Both are exact time averages over equal bins from 0 to the largest makespan: no peak between two
    samples is lost without a trace. The average in the title of a strip ends at the makespan of its policy.

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
        sides = ((waiting, f"{outcome.policy}, ", released - started), (active, "", started - finished))
        for strips, name, spent in sides:
            level = mean_level(spent, edges)
            average = float(level.mean()) * float(edges[-1]) / outcome.runs[0].makespan
            strips.append(Strip(f"{name}{number(average)} on average", level, style[outcome.policy].colour))
    longest = max(1.0, *(float(strip.heights.max()) for strip in waiting))
    with drawing():
        figure = new_figure(height=0.9 + 0.75 * len(outcomes))
        left, right = figure.subplots(1, 2)
        draw_strips(left, edges, waiting, top=longest, tick=round_tick(longest))
        draw_strips(right, edges, active, top=slots, tick=slots, titles="right")
        for axes, title in ((left, "waiting requests"), (right, "active requests")):
            axes.set_title(title, loc="left")
            axes.set_xlabel(f"time ({time_unit.plural}), means over {number(edges[1])}")
            axes.locator_params(axis="x", nbins=5 if edges[-1] < _LONG else 4)
    return figure
