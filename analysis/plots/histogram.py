"""Counts by class."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from analysis.plots.style import drawing, inks, new_figure


def histogram(edges: Sequence[float], counts: Sequence[float], x: str, y: str) -> Figure:
    """Counts between edges, with the names of both axes."""
    with drawing():
        figure = new_figure(height=3.4)
        axes = figure.subplots()
        axes.stairs(counts, edges, fill=True, color=inks([x])[x].colour)
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.margins(x=0)
    return figure
