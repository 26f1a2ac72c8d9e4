"""A metric of a study against load, alpha or slots: one panel a statistic, one line a policy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, LogLocator

from analysis.estimate import Estimate
from analysis.plots.style import Ink, drawing, hollow, inks, legend_above, new_figure, plain_numbers
from analysis.study.curves import Curve

_COLUMNS = 3

_FEW = 5
"""Values that fit under a panel."""

_APART = 0.18
"""Share of the axis between two values below which their numbers would touch."""

_MARKERS = {"unstable": "o", "undecided": "s"}


def study_curves(curves: Sequence[Curve], panels: Mapping[str, str], *, x: str, y: str) -> Figure:
    """Draw the curves of one setting.

    Parameters
    ----------
    curves : sequence of Curve
        One a policy.
    panels : mapping of str to str
        Columns of the study table by title.
    x, y : str
        Names of the axes.

    Returns
    -------
    Figure
        Bars are 95 % intervals over replications; a point without one has no bar. A hollow circle is
        unstable, a hollow square undecided. A policy that does not depend on the axis is a line without
        points.
    """
    style = inks([curve.label for curve in curves])
    columns = len(panels) if len(panels) <= _COLUMNS else 2 if len(panels) == 4 else _COLUMNS
    rows = math.ceil(len(panels) / columns)
    with drawing():
        figure = new_figure(height=0.8 + 2.6 * rows)
        grid = figure.subplots(rows, columns, sharex=True, squeeze=False)
        points = {curve.label: curve.estimates(panels) for curve in curves}
        for axes, title in zip(grid.flat, panels, strict=False):
            found = {label: [each[title] for each in along] for label, along in points.items()}
            for curve in curves:
                _line(axes, curve, found[curve.label], style[curve.label])
            axes.set_title(title, loc="left")
            axes.set_yscale(_scale(list(chain.from_iterable(found.values()))))
            plain_numbers(axes.yaxis)
        for axes in list(grid.flat)[len(panels) :]:
            axes.set_visible(False)
        for axes in list(grid.flat)[max(0, len(panels) - columns) : len(panels)]:  # with none below them
            axes.set_xlabel(x)
            axes.tick_params(labelbottom=True)
            _place_ticks(axes, curves)
        for axes in grid[:, 0]:
            axes.set_ylabel(y)
        legend_above(figure, grid[0, 0])
    return figure


def _line(axes: Axes, curve: Curve, estimates: Sequence[Estimate], ink: Ink) -> None:
    heights = [math.nan if each.value is None else each.value for each in estimates]
    if curve.constant:
        axes.plot(curve.x, heights, label=curve.label, **ink.line)
        return
    bars = [each.half_width or 0.0 for each in estimates]
    axes.errorbar(
        curve.x, heights, yerr=bars, marker="o", markersize=3, capsize=2, label=curve.label, **ink.line
    )
    for verdict, marker in _MARKERS.items():
        marked = [place for place, found in enumerate(curve.verdicts) if found == verdict]
        hollow(axes, marker, [curve.x[place] for place in marked], [heights[place] for place in marked], ink)


def _place_ticks(axes: Axes, curves: Sequence[Curve]) -> None:
    """Ticks where the points are, if they are few and apart; budgets that double are spread evenly."""
    places = sorted({each for curve in curves for each in curve.x})
    if _spread(curves):
        axes.set_xscale("log")
    plain_numbers(axes.xaxis)
    at = np.log(places) if _spread(curves) else np.array(places)
    if len(places) <= _FEW and np.all(np.diff(at) >= _APART * (at[-1] - at[0])):
        axes.xaxis.set_major_locator(FixedLocator(places))
    elif _spread(curves):
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))  # more would not fit a panel


def _spread(curves: Sequence[Curve]) -> bool:
    """Whether budgets double rather than step; 0 needs a linear scale."""
    x = [each for curve in curves for each in curve.x]
    return 0 < 20 * min(x) <= max(x)


def _scale(estimates: Sequence[Estimate]) -> str:
    """Logarithmic where the values differ by more than a factor of five; zero needs a linear scale."""
    values = [each.value for each in estimates if each.value is not None]
    return "log" if values and 0 < 5 * min(values) < max(values) else "linear"
