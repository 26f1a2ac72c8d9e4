"""Distances between simulated numbers and theory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from analysis.plots.style import drawing, inks, new_figure

_USUAL = 1.96
"""Standard errors within which 95 of 100 normal variables lie."""


def deviations(groups: Mapping[str, Sequence[float]], tolerance: float) -> Figure:
    """One row of dots a group, in order from left to right.

    Parameters
    ----------
    groups : mapping of str to sequence of float
        Distances in standard errors.
    tolerance : float
        Largest distance that passes, marked by dashed lines.
    """
    style = inks(list(groups))
    with drawing():
        figure = new_figure(height=1.2 + 0.45 * len(groups))
        axes = figure.subplots()
        axes.axvspan(-_USUAL, _USUAL, color="#EEEEEE", zorder=0)
        for edge in (-tolerance, tolerance):
            axes.axvline(edge, color="#555555", linestyle="--", linewidth=0.8)
        for row, (name, values) in enumerate(groups.items()):
            # neighbours in size stand at different heights, or they would hide each other
            heights = row + 0.12 * (np.arange(len(values)) % 5 - 2)
            axes.plot(sorted(values), heights, "o", color=style[name].colour, ms=4, alpha=0.8)
        axes.set_yticks(range(len(groups)), list(groups))
        axes.set_ylim(len(groups) - 0.5, -0.5)
        widest = max(tolerance, *(abs(value) for values in groups.values() for value in values))
        axes.set_xlim(-1.1 * widest, 1.1 * widest)
        axes.set_xlabel("simulated - expected (standard errors)")
    return figure
