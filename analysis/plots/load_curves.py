"""A metric against load, one panel a setting."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from analysis.plots.ratios import Line
from analysis.plots.style import drawing, hollow, inks, legend_above, new_figure, plain_numbers


def load_curves(
    panels: Mapping[str, Mapping[str, Line]],
    y: str,
    *,
    scale: str = "log",
    undecided: Mapping[str, Mapping[str, Line]] | None = None,
) -> Figure:
    """Draw one line a policy in every panel, on a common scale.

    Parameters
    ----------
    panels : mapping of str to mapping of str to (loads, values)
        By title, then by policy.
    y : str
        Name of the values.
    scale : str
        Of the values, as matplotlib calls it.
    undecided : mapping like ``panels`` or None
        Points of the lines to draw as hollow squares.
    """
    style = inks(list(next(iter(panels.values()))))
    with drawing():
        figure = new_figure(height=4.0)
        axes_of = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, (title, lines) in zip(axes_of, panels.items(), strict=True):
            for policy, (load, value) in lines.items():
                axes.plot(load, value, marker="o", markersize=3, label=policy, **style[policy].line)
            for policy, (load, value) in (undecided or {}).get(title, {}).items():
                hollow(axes, "s", load, value, style[policy])
            if len(panels) > 1:
                axes.set_title(title, loc="left")
            axes.set_xlabel("load")
            # loads are tenths and twentieths; quarters, matplotlib's own choice, would lie between the points
            axes.xaxis.set_major_locator(MaxNLocator(max(4, 10 // len(panels)), steps=(1, 2, 5, 10)))
            plain_numbers(axes.xaxis)
            axes.set_yscale(scale)
        plain_numbers(axes_of[0].yaxis)
        axes_of[0].set_ylabel(y)
        legend_above(figure, axes_of[0])
    return figure
