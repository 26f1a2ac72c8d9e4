"""The gap over time, and what keeping it small costs in throughput."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from analysis.levels import gaps_of_spans
from analysis.outcome import Outcome
from analysis.plots.instants import count_until
from analysis.plots.labels import label_points
from analysis.plots.strips import Strip, draw_strips, round_tick
from analysis.plots.style import drawing, inks, new_figure, plain_numbers
from analysis.text import number
from analysis.time_unit import TimeUnit
from serving_sim import Run
from serving_sim.request import FloatArray, IntArray

_BINS = 300
_FRONTIER = "#CCCCCC"


def gap_over_time(outcomes: Sequence[Outcome], *, time_unit: TimeUnit) -> Figure:
    """Draw the largest gap in each of equal bins of time, first replications, a strip a policy.

    Parameters
    ----------
    outcomes : sequence of Outcome
        Policies whose first runs recorded their batches.
    time_unit : TimeUnit
        What the runs count time in.
    """
    style = inks([outcome.policy for outcome in outcomes])
    edges = np.linspace(0, max(outcome.runs[0].makespan for outcome in outcomes), _BINS + 1)
    most = max(outcome.runs[0].max_gap for outcome in outcomes)
    budgets = [outcome.runs[0].audit.alpha for outcome in outcomes]
    top = 1.08 * max([most, 1, *(alpha for alpha in budgets if alpha is not None)])
    strips = [
        Strip(
            outcome.policy if alpha is None else f"{outcome.policy}, dashed: alpha = {number(alpha)}",
            largest_gaps(outcome.runs[0], edges),
            style[outcome.policy].colour,
            alpha,
        )
        for outcome, alpha in zip(outcomes, budgets, strict=True)
    ]
    with drawing():
        figure = new_figure(height=0.7 + 0.85 * len(outcomes))
        axes = figure.subplots()
        draw_strips(axes, edges, strips, top=top, tick=round_tick(top))
        # two lines: one is longer than a single strip is high
        axes.set_ylabel(time_unit.in_service("largest gap\n(tokens)"))
        axes.set_xlabel(f"time ({time_unit.plural}), {_BINS} equal bins")
    return figure


def gap_against_throughput(outcomes: Sequence[Outcome], *, time_unit: TimeUnit) -> Figure:
    """Draw tokens made in a busy step against the mean gap, one point a policy.

    A line joins the policies that no other beats in both.

    Parameters
    ----------
    outcomes : sequence of Outcome
        Policies to draw.
    time_unit : TimeUnit
        What the runs count service in.
    """
    style = inks([outcome.policy for outcome in outcomes])
    colours = {policy: ink.colour for policy, ink in style.items()}
    points = {outcome.policy: _gap_and_speed(outcome) for outcome in outcomes}
    with drawing():
        figure = new_figure(height=3.4)
        axes = figure.subplots()
        best = undominated(list(points.values()))
        axes.plot([gap for gap, _ in best], [speed for _, speed in best], color=_FRONTIER, linewidth=1)
        for policy, (gap, speed) in points.items():
            axes.plot(gap, speed, "o", color=colours[policy])
        axes.margins(x=0.12, y=0.15)
        axes.set_xlabel(time_unit.in_service("mean gap over busy steps (tokens); further left is fairer"))
        axes.set_ylabel(time_unit.in_service("tokens a busy step"))
        plain_numbers(axes.xaxis)
        plain_numbers(axes.yaxis)
        label_points(axes, points, colours, line=best)
    return figure


def undominated(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points (gap, speed) such that no other has a gap as small and a speed as high; by growing gap."""
    best: list[tuple[float, float]] = []
    for gap, speed in sorted(set(points), key=lambda point: (point[0], -point[1])):
        if not best or speed > best[-1][1]:
            best.append((gap, speed))
    return best


def largest_gaps(run: Run, edges: FloatArray) -> IntArray:
    """Largest gap in each bin between ``edges``, which grow in equal steps.

    It is that of `analysis.levels.gap_levels`, which sorts all requests to find out when the worker rests.
    """
    busy = count_until(run.start, edges) > count_until(run.finish, edges)
    return gaps_of_spans(run).largest(edges, busy)


def _gap_and_speed(outcome: Outcome) -> tuple[float, float]:
    gap, speed = outcome.figures["extent_mean"].value, outcome.figures["occupancy"].value
    assert gap is not None
    assert speed is not None
    return gap, speed
