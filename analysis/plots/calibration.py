"""Pictures for the choice of a fairness budget."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from analysis.definitions import definition
from analysis.plots.labels import label_points
from analysis.plots.style import drawing, inks, legend_above, new_figure, plain_numbers
from analysis.time_unit import TimeUnit


def budget_frontier(
    alphas: Sequence[int],
    throughput: Sequence[float],
    time_cost: Sequence[float],
    externality_cost: Sequence[float],
    *,
    within: Sequence[bool],
    chosen: int | None,
    time_unit: TimeUnit,
) -> Figure:
    """Cost against the budget, and cost against throughput with a point a budget.

    Parameters
    ----------
    alphas, throughput, time_cost, externality_cost, within : sequence, length k
        Of each candidate: budget in tokens, tokens per time unit, c T and tau E in money, and
        whether it meets the limits.
    chosen : int or None
        Budget to mark.
    time_unit : TimeUnit
        What the replays count time and service in.
    """
    total = [time + externality for time, externality in zip(time_cost, externality_cost, strict=True)]
    style = inks(["c T + tau E", "c T", "tau E"])
    with drawing():
        figure = new_figure(width=8.4, height=4.0)
        left, right = figure.subplots(1, 2)
        for label, values in zip(style, (total, time_cost, externality_cost), strict=True):
            left.plot(alphas, values, marker="o", markersize=3, label=label, **style[label].line)
        left.set_xscale("log")
        # the parts can differ by orders of magnitude; a budget of 0 has no externality at all
        scale = "log" if min(*time_cost, *externality_cost) > 0 else "linear"
        left.set_yscale(scale)
        right.set_yscale(scale)
        plain_numbers(left.yaxis)
        plain_numbers(right.yaxis)
        plain_numbers(left.xaxis)
        left.set_xlabel(time_unit.in_service("alpha (tokens)"))
        left.set_ylabel("cost (money)")
        colour = style["c T + tau E"].colour
        right.plot(throughput, total, color=colour, linewidth=0.7, alpha=0.6)
        for alpha, x, y, meets in zip(alphas, throughput, total, within, strict=True):
            right.plot(x, y, "o", color=colour, mfc=colour if meets else "none", ms=5)
            if alpha == chosen:
                right.plot(x, y, "o", mfc="none", mec="#D55E00", ms=11, mew=1.5)
                left.axvline(alpha, color="#D55E00", linewidth=1.0)
        right.margins(0.12)
        right.set_xlabel(f"throughput ({definition('throughput').unit_in(time_unit)})")
        right.set_ylabel("c T + tau E (money)")
        legend_above(figure, left)
        points = {str(alpha): (x, y) for alpha, x, y in zip(alphas, throughput, total, strict=True)}
        label_points(right, points, dict.fromkeys(points, "#333333"))
    return figure
