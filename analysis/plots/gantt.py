"""Schedules as bars: one row a slot, one bar a request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from analysis.plots.style import drawing, new_figure

_LONG = "#0072B2"
_SHORT = "#E69F00"
_UNFAIR = "#D55E00"


@dataclass(frozen=True)
class Bars:
    """What one panel shows.

    Attributes
    ----------
    title : str
        Heading of the panel.
    start, slot, length : sequence of int, one value a request
        First step, slot from 0, and number of steps.
    """

    title: str
    start: Sequence[int]
    slot: Sequence[int]
    length: Sequence[int]

    @property
    def end(self) -> int:
        """Last end."""
        return max(begin + length for begin, length in zip(self.start, self.length, strict=True))

    def unfair_spans(self, alpha: int) -> list[tuple[int, int]]:
        """Intervals of steps in which two active requests started more than alpha apart, merged."""
        spans: list[tuple[int, int]] = []
        instants = sorted({*self.start, *(b + n for b, n in zip(self.start, self.length, strict=True))})
        for left, right in pairwise(instants):
            active = [b for b, n in zip(self.start, self.length, strict=True) if b <= left < b + n]
            if active and max(active) - min(active) > alpha:
                joined = bool(spans) and spans[-1][1] == left
                spans[-1:] = [(spans[-1][0], right)] if joined else [*spans[-1:], (left, right)]
        return spans


def gantt(panels: Sequence[Bars], *, slots: int, alpha: int) -> Figure:
    """Draw schedules above each other on one time axis.

    Bars carry their lengths, requests longer than alpha (the longs of ISJL) have another colour than
    those that ISJL can pack, and spans that break constraint (1) are shaded.

    Parameters
    ----------
    panels : sequence of Bars
        From the top.
    slots : int
        Rows of each panel.
    alpha : int
        Fairness budget in tokens.
    """
    last = max(bars.end for bars in panels)
    with drawing():
        figure = new_figure(height=0.9 + len(panels) * (0.55 + 0.33 * slots))
        column = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for axes, bars in zip(column, panels, strict=True):
            _panel(axes, bars, slots, alpha, last)
        column[-1].set_xlabel("time (steps)")
        figure.legend(handles=_legend(panels, alpha), loc="outside lower left", ncols=3)
    return figure


def _panel(axes: Axes, bars: Bars, slots: int, alpha: int, last: int) -> None:
    axes.set_title(bars.title, loc="left")
    for left, right in bars.unfair_spans(alpha):
        axes.axvspan(left, right, color=_UNFAIR, alpha=0.25, linewidth=0)
    for begin, slot, length in zip(bars.start, bars.slot, bars.length, strict=True):
        colour = _LONG if length > alpha else _SHORT
        axes.barh(slot, length, left=begin, height=0.74, color=colour, edgecolor="white", linewidth=1.2)
        axes.text(
            begin + length / 2,
            slot,
            str(length),
            ha="center",
            va="center",
            fontsize=8,
            color="white" if length > alpha else "black",
        )
    axes.axvline(bars.end, color="#333333", linewidth=1, linestyle=":")
    axes.set_xlim(0, last * 1.02)
    axes.set_ylim(slots - 0.5, -0.5)
    axes.set_yticks(range(slots), [f"slot {slot}" for slot in range(slots)])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _legend(panels: Sequence[Bars], alpha: int) -> list[Patch]:
    lengths = [length for bars in panels for length in bars.length]
    handles = []
    if max(lengths) > alpha:
        handles.append(Patch(color=_LONG, label=f"longer than alpha = {alpha}"))
    if min(lengths) <= alpha:
        handles.append(Patch(color=_SHORT, label=f"at most alpha = {alpha}"))
    if any(bars.unfair_spans(alpha) for bars in panels):
        handles.append(Patch(color=_UNFAIR, alpha=0.25, label="gap above alpha: constraint (1) is broken"))
    return handles
