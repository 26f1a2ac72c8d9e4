"""Pictures of costs and profits."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from analysis.plots.labels import label_points
from analysis.plots.ratios import Line
from analysis.plots.style import drawing, inks, legend_above, new_figure, plain_numbers

_PARTS = {"tau_q": "tau Q, the same for all", "c_t": "c T, steps", "tau_e": "tau E, externality"}


def cost_bars(parts: Mapping[str, Mapping[str, float]]) -> Figure:
    """Stacked parts of the cost, one bar a policy from the top.

    Parameters
    ----------
    parts : mapping of str to mapping of str to float
        By policy the money for ``tau_q``, ``c_t`` and ``tau_e``.
    """
    style = inks(list(_PARTS))
    with drawing():
        figure = new_figure(height=0.9 + 0.3 * len(parts))
        axes = figure.subplots()
        left = [0.0] * len(parts)
        for key, label in _PARTS.items():
            widths = [part[key] for part in parts.values()]
            axes.barh(range(len(parts)), widths, left=left, height=0.7, color=style[key].colour, label=label)
            left = [start + width for start, width in zip(left, widths, strict=True)]
        axes.set_yticks(range(len(parts)), list(parts))
        axes.set_ylim(len(parts) - 0.4, -0.6)
        axes.set_xlabel("cost (money)")
        plain_numbers(axes.xaxis)
        axes.grid(visible=False, axis="y")
        legend_above(figure, axes)
    return figure


def profit_frontier(
    measured: Mapping[str, tuple[float, float]], stated: Mapping[str, tuple[float, float]]
) -> Figure:
    """Points (throughput, profit) by policy: measured ones filled, stated ones open."""
    style = inks(list(dict.fromkeys(map(_family, measured))))
    colours = {policy: style[_family(policy)].colour for policy in measured}
    with drawing():
        figure = new_figure(height=4.6)
        axes = figure.subplots()
        for policy, (x, y) in measured.items():
            axes.plot(x, y, "o", color=colours[policy], ms=6)
            if policy in stated:
                other_x, other_y = stated[policy]
                axes.plot(other_x, other_y, "o", mfc="none", mec=colours[policy], ms=6)
                axes.plot((x, other_x), (y, other_y), color=colours[policy], linewidth=0.6, alpha=0.6)
        axes.plot([], [], "o", color="#555555", label="measured")
        axes.plot([], [], "o", mfc="none", mec="#555555", label="paper")
        axes.margins(x=0.1)
        axes.set_xlabel("throughput (tokens per step)")
        axes.set_ylabel("profit (money)")
        legend_above(figure, axes)
        label_points(axes, measured, colours)
    return figure


def _family(label: str) -> str:
    """All budgets of a policy look alike: their labels are the budget alone."""
    return "isjl" if label.isdecimal() else label


def profit_differences(
    measured: Mapping[str, Line], stated: Mapping[str, Line], *, baseline: float
) -> Figure:
    """Profit differences against the cost of a step, measured and stated side by side.

    Parameters
    ----------
    measured, stated : mapping of str to (step costs, differences)
        By label, the same labels in both.
    baseline : float
        Step cost to mark.
    """
    style = inks(list(measured))
    with drawing():
        figure = new_figure(height=4.0)
        panels = figure.subplots(1, 2, sharey=True)
        for axes, title, lines in zip(panels, ("measured", "paper"), (measured, stated), strict=True):
            for label, (c, difference) in lines.items():
                axes.plot(c, difference, label=label, **style[label].line)
            axes.axvline(baseline, color="#555555", linewidth=0.8, linestyle="--")
            axes.axhline(0, color="#555555", linewidth=0.8)
            axes.set_xscale("log")
            axes.set_title(title, loc="left")
            axes.set_xlabel("cost of a step c (money)")
            plain_numbers(axes.xaxis)
            plain_numbers(axes.yaxis)
        panels[0].set_ylabel("profit of ISJL less that of LJF (money)")
        legend_above(figure, panels[0])
    return figure


def transfers(lines: Mapping[str, Line]) -> Figure:
    """Money that a request makes others pay less what it pays for others, against its length.

    Parameters
    ----------
    lines : mapping of str to (lengths, transfers)
        By policy: tokens, money per request.
    """
    style = inks(list(lines))
    with drawing():
        figure = new_figure(height=4.0)
        axes = figure.subplots()
        for policy, (length, money) in lines.items():
            axes.plot(length, money, marker="o", markersize=3, label=policy, **style[policy].line)
        axes.axhline(0, color="#555555", linewidth=0.8)
        axes.set_xlabel("request length (tokens)")
        axes.set_ylabel("caused less suffered (money per request)")
        legend_above(figure, axes)
    return figure
