"""Unmatched fractions of pools of waiting requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from analysis.plots.style import drawing, inks, legend_above, new_figure, plain_numbers


def unmatched_fractions(lines: Mapping[str, Sequence[Sequence[float]]]) -> Figure:
    """Measured fractions and their bounds on logarithmic axes.

    Parameters
    ----------
    lines : mapping of str to (pools, measured, bounds)
        By distribution of lengths.
    """
    style = inks(list(lines))
    with drawing():
        figure = new_figure(height=3.8)
        axes = figure.subplots()
        for name, (pool, measured, bound) in lines.items():
            ink = style[name]
            axes.plot(pool, measured, marker="o", markersize=3, label=name, **ink.line)
            axes.plot(pool, bound, linewidth=0.8, label=f"{name}, bound", **ink.line)
        axes.set_xscale("log")
        axes.set_yscale("log")
        plain_numbers(axes.xaxis)
        plain_numbers(axes.yaxis)
        axes.set_xlabel("requests in the pool N")
        axes.set_ylabel("unmatched fraction")
        legend_above(figure, axes)
    return figure
