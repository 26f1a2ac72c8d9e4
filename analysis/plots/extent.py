"""The gap over time, and what keeping it small costs in throughput."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from analysis.levels import gap_levels
from analysis.outcome import Outcome
from analysis.plots.labels import label_points
from analysis.plots.style import drawing, fill_steps, inks, new_figure, plain_numbers
from analysis.text import number
from analysis.time_unit import TimeUnit

_BINS = 300
_BUDGET = "#000000"
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
    with drawing():
        figure = new_figure(height=0.7 + 0.95 * len(outcomes))
        strips = figure.subplots(len(outcomes), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for outcome, alpha, strip in zip(outcomes, budgets, strips, strict=True):
            gap = gap_levels(outcome.runs[0]).largest(edges)
            fill_steps(strip, edges, gap, style[outcome.policy])
            if alpha is not None:
                strip.axhline(alpha, color=_BUDGET, linewidth=1, linestyle="--")
                strip.text(
                    1.005, alpha, "alpha", transform=strip.get_yaxis_transform(), va="center", fontsize=8
                )
            strip.set_title(outcome.policy, loc="left", fontsize=8, pad=2)
            strip.margins(x=0)
            strip.set_ylim(0, top)
            plain_numbers(strip.yaxis)
        plain_numbers(strips[-1].xaxis)
        figure.supylabel("largest gap (tokens)", fontsize=9)
        strips[-1].set_xlabel(f"time ({time_unit.plural}), bins of {number(edges[1])}")
    return figure


def gap_against_throughput(outcomes: Sequence[Outcome]) -> Figure:
    """Draw tokens made in a busy step against the mean gap, one point a policy.

    A line joins the policies that no other beats in both.

    Parameters
    ----------
    outcomes : sequence of Outcome
        Policies to draw.
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
        axes.set_xlabel("mean gap over busy steps (tokens); further left is fairer")
        axes.set_ylabel("tokens a busy step")
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


def _gap_and_speed(outcome: Outcome) -> tuple[float, float]:
    gap, speed = outcome.figures["extent_mean"].value, outcome.figures["occupancy"].value
    assert gap is not None
    assert speed is not None
    return gap, speed
