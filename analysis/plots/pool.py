"""Unmatched fractions of pools of waiting requests."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from analysis.plots.ratios import Line
from analysis.plots.style import drawing, inks, legend_above, new_figure, plain_numbers


def unmatched_fractions(measured: Mapping[str, Line], bound: Line) -> Figure:
    """Measured fractions and the bound on all of them, on logarithmic axes.

    Parameters
    ----------
    measured : mapping of str to (pools, fractions)
        By distribution of lengths.
    bound : (pools, fractions)
        The same for all distributions.
    """
    style = inks(list(measured))
    with drawing():
        figure = new_figure(height=3.8)
        axes = figure.subplots()
        for name, (pool, fraction) in measured.items():
            axes.plot(pool, fraction, marker="o", markersize=3, label=name, **style[name].line)
        axes.plot(*bound, color="#555555", linewidth=0.8, label="bound K (B - 1) / N")
        axes.set_xscale("log")
        axes.set_yscale("log")
        plain_numbers(axes.xaxis)
        plain_numbers(axes.yaxis)
        axes.set_xlabel("requests in the pool N")
        axes.set_ylabel("unmatched fraction")
        legend_above(figure, axes)
    return figure
