"""Distributions and the families fitted to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.inspection import Fitted
from analysis.plots.style import Ink, drawing, inks, legend_above, new_figure, plain_numbers
from analysis.time_unit import TimeUnit
from serving_sim.request import FloatArray, IntArray

_DATA = "this workload"
_POINTS = 400
_TITLES = {"length": "length (steps)", "prompt_tokens": "prompt (tokens)", "output_tokens": "output (tokens)"}


def gap_tail(release: FloatArray, fits: Sequence[Fitted], *, time_unit: TimeUnit) -> Figure:
    """Draw the share of gaps above each value, and the same of the fitted families.

    Parameters
    ----------
    release : ndarray of float, shape (n,)
        Sorted release times in time units, not all the same.
    fits : sequence of Fitted
        Families for the gaps above 0.
    time_unit : TimeUnit
        What times are counted in.
    """
    shown, factor = time_unit.as_seconds()
    gaps = np.diff(release)
    positive = np.sort(gaps[gaps > 0])
    grid = np.geomspace(positive[0], positive[-1], _POINTS)
    style = inks([_DATA, *(fitted.family for fitted in fits)])
    with drawing():
        figure = new_figure(width=6.4, height=3.8)
        axes = figure.subplots()
        above = 1 - np.searchsorted(positive, grid, side="right") / len(positive)
        axes.plot(grid * factor, _drawable(above), label=_DATA, **style[_DATA].line)
        for fitted in fits:
            tail = 1 - fitted.cdf(grid)
            axes.plot(grid * factor, _drawable(tail), label=fitted.family, **style[fitted.family].line)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylim(0.5 / len(positive), 1.3)
        axes.set_xlabel(f"gap between requests ({shown.plural})")
        axes.set_ylabel("share of gaps above it")
        plain_numbers(axes.xaxis)
        plain_numbers(axes.yaxis)
        legend_above(figure, axes)
    return figure


def length_distributions(lengths: Mapping[str, IntArray], fits: Mapping[str, Sequence[Fitted]]) -> Figure:
    """Draw the distribution functions of lengths, prompts and outputs with the fitted families.

    Parameters
    ----------
    lengths : mapping of str to ndarray of int, shape (n,)
        By name: ``length``, ``prompt_tokens``, ``output_tokens``.
    fits : mapping of str to sequence of Fitted
        Families for each of them.
    """
    families = sorted({fitted.family for each in fits.values() for fitted in each})
    style = inks([_DATA, *families])
    with drawing():
        figure = new_figure(width=2.7 * len(lengths) + 0.9, height=3.4)
        panels = figure.subplots(1, len(lengths), sharey=True, squeeze=False)[0]
        for axes, (name, values) in zip(panels, lengths.items(), strict=True):
            _draw_shares(axes, values, fits[name], style)
            axes.set_xlabel(_TITLES[name])
        panels[0].set_ylabel("share of requests up to it")
        legend_above(figure, panels[0])
    return figure


def _draw_shares(axes: Axes, values: IntArray, fits: Sequence[Fitted], style: Mapping[str, Ink]) -> None:
    positive = np.sort(values[values > 0])
    grid = np.unique(np.geomspace(positive[0], positive[-1], _POINTS).round())
    shares = np.searchsorted(positive, grid, side="right") / len(positive)
    axes.plot(grid, shares, drawstyle="steps-post", label=_DATA, **style[_DATA].line)
    for fitted in sorted(fits, key=lambda each: each.family):
        axes.plot(grid, fitted.cdf(grid), label=fitted.family, **style[fitted.family].line)
    axes.set_xscale("log")
    axes.set_ylim(0, 1.02)
    plain_numbers(axes.xaxis)


def _drawable(shares: FloatArray) -> FloatArray:
    """Shares without the zeros, which a logarithmic axis has no place for."""
    return np.where(shares > 0, shares, np.nan)
