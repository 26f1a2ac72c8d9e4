"""A quantity over time under several policies: filled curves in strips, one above the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from analysis.plots.style import plain_numbers
from analysis.text import number
from serving_sim.request import FloatArray, IntArray

_PITCH = 1.5  # from one strip to the next, in heights of a strip: the rest is for its title


@dataclass(frozen=True, eq=False)
class Strip:
    """One of them.

    Attributes
    ----------
    title : str
        What stands above it; a long one reaches into the panel beside it.
    heights : ndarray, shape (m,)
        One a bin.
    colour : str
        Of the filling.
    mark : float or None
        Height of a dashed line across it.
    """

    title: str
    heights: IntArray | FloatArray
    colour: str
    mark: float | None = None


def draw_strips(
    axes: Axes,
    edges: FloatArray,
    strips: Sequence[Strip],
    *,
    top: float,
    tick: float,
    titles: Literal["left", "right"] = "left",
) -> None:
    """Fill from 0 up to a height in each bin of time, on the same scale in all strips.

    The strips share one `Axes`: an `Axes` a strip takes three times as long to draw.

    Parameters
    ----------
    axes : Axes
        Where to draw.
    edges : ndarray of float, shape (m + 1,)
        Ends of the bins.
    strips : sequence of Strip
        From the top.
    top : float
        Height of a full strip, above 0.
    tick : float
        Height to label beside 0.
    titles : {"left", "right"}
        Where they stand: on the right they leave room for long ones from the panel on the left.
    """
    floors = [_PITCH * place for place in reversed(range(len(strips)))]
    for floor, strip in zip(floors, strips, strict=True):
        outline = floor + _until_edge(strip.heights) / top
        # what `Axes.stairs` does, which looks for curves in every step
        axes.fill_between(edges, floor, outline, step="post", color=strip.colour, linewidth=0)
        at = edges[0] if titles == "left" else edges[-1]
        axes.text(at, floor + 1.1, strip.title, ha=titles, fontsize=8, in_layout=False)
        if strip.mark is not None:
            axes.axhline(floor + strip.mark / top, color="#000000", linewidth=1, linestyle="--")
    axes.hlines(floors, edges[0], edges[-1], color="#000000", linewidth=0.8)
    labelled = [0.0, *(floor + tick / top for floor in reversed(floors))]  # the lines say where 0 is
    axes.set_yticks(labelled, [number(0), *[number(tick)] * len(floors)])
    axes.set_ylim(0, floors[0] + _PITCH)
    axes.set_xlim(edges[0], edges[-1])
    axes.grid(visible=False, axis="y")
    axes.patch.set_visible(False)  # it would cover what reaches into it
    axes.spines["left"].set_visible(False)
    plain_numbers(axes.xaxis)


def round_tick(top: float) -> float:
    """The largest round number up to ``top``."""
    return max(each for each in MaxNLocator(2).tick_values(0, top) if each <= top)


def _until_edge(heights: IntArray | FloatArray) -> FloatArray:
    """Heights between edges as steps at the edges: the last one is there twice."""
    return np.append(heights, heights[-1:]).astype(np.float64)
