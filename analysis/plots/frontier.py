"""The best makespan, or the interval that holds it, against the fairness budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from analysis.plots.style import drawing, inks, legend_above, new_figure, plain_numbers

Bracket = tuple[Sequence[float], Sequence[float], Sequence[float]]
"""Budgets, lower and upper ends."""


def makespan_brackets(brackets: Mapping[str, Bracket]) -> Figure:
    """Draw a line an instance where both ends agree, and the band between them where they do not."""
    style = inks(list(brackets))
    with drawing():
        figure = new_figure(height=3.8)
        axes = figure.subplots()
        for name, (alpha, lower, upper) in brackets.items():
            axes.plot(alpha, upper, marker="o", markersize=3, label=name, **style[name].line)
            if list(lower) != list(upper):
                axes.plot(alpha, lower, color=style[name].colour, linewidth=0.8, label="no schedule below")
                axes.fill_between(alpha, lower, upper, color=style[name].colour, alpha=0.2, linewidth=0)
        axes.set_xlabel("alpha (tokens)")
        axes.set_ylabel("best makespan (steps)")
        plain_numbers(axes.xaxis)
        plain_numbers(axes.yaxis)
        legend_above(figure, axes)
    return figure
