"""What all pictures share: colours, line styles, axes, legends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, Locator, LogLocator, MaxNLocator, NullLocator

from analysis.plots.margins import Margins
from analysis.text import number

# Okabe and Ito (2008), "Color universal design": told apart with any colour vision. Black comes
# late, it stands out too much; their yellow is left out, it vanishes on white.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_DASHES = ("-", "--", "-.", ":")

_AS_LINEAR = 3
"""Ends of a logarithmic axis that are no further apart are labelled as those of a linear one."""

_LABELS = {1.5: (1, 2, 5), 3: (1, 3)}
"""Which multiples of powers of ten a logarithmic axis of up to so many decades labels."""

_SETTINGS: dict[Any, Any] = {
    "font.size": 9.0,
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib; a list would be searched for every text
    "axes.titlesize": 10.0,
    "axes.labelsize": 9.0,
    "axes.titley": 1.0,  # where it stands anyway; looking for a place takes as long as drawing a panel
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.5,
    "legend.frameon": False,
    "svg.hashsalt": "serving-sim",  # the ids in an SVG are random without it
    "svg.fonttype": "none",  # letters, to be found, edited and read aloud; outlines take a third longer
}


@dataclass(frozen=True)
class Ink:
    """How one policy looks in every picture of a comparison."""

    colour: str
    dash: str

    @property
    def line(self) -> dict[str, Any]:
        """Keyword arguments for a line."""
        return {"color": self.colour, "linestyle": self.dash}


def inks(policies: Sequence[str]) -> dict[str, Ink]:
    """One ink a policy, by its place in the comparison.

    Dashes change too, so that lines that cross or lie on each other can be told apart in grey.
    """
    return {
        policy: Ink(_COLOURS[place % len(_COLOURS)], _DASHES[place % len(_DASHES)])
        for place, policy in enumerate(policies)
    }


@contextmanager
def drawing() -> Iterator[None]:
    """Settings of all pictures, for as long as one is drawn or saved."""
    with mpl.rc_context(_SETTINGS):
        yield


def new_figure(width: float = 7.2, height: float = 4.2) -> Figure:
    """Empty figure of the given size in inches."""
    return Figure(figsize=(width, height), layout=Margins())


def legend_above(figure: Figure, axes: Axes) -> None:
    """Name the policies above the axes, where they cover no data."""
    handles, labels = axes.get_legend_handles_labels()
    room = 13 * figure.get_figwidth()  # letters that fit beside each other
    fitting = (rows for rows in range(1, len(labels)) if _width(labels, rows) <= room)
    rows = next(fitting, len(labels))
    columns = -(-len(labels) // rows)
    figure.legend(handles, labels, loc="outside upper left", ncols=columns, handlelength=2.6)


def hollow(axes: Axes, marker: str, x: Sequence[float], y: Sequence[float], ink: Ink) -> None:
    """Draw points on a line as hollow ones: what they say holds with a restriction."""
    axes.plot(x, y, marker, markersize=5, markerfacecolor="white", color=ink.colour, zorder=3)


def _width(labels: Sequence[str], rows: int) -> int:
    """Letters across a legend, which fills its columns from the top; a sample is seven letters wide."""
    return sum(max(map(len, labels[top : top + rows])) + 7 for top in range(0, len(labels), rows))


def plain_numbers(axis: Axis) -> None:
    """Label ``axis`` with numbers as the tables write them."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    if axis.get_scale() == "log":
        axis.set_major_locator(_log_ticks(*axis.get_view_interval()))
        axis.set_minor_locator(NullLocator())  # hundreds of ticks, which take longer to draw than the data


def _log_ticks(low: float, high: float) -> Locator:
    # powers of ten alone can leave a short axis with a single label or none; more would crowd a long one
    if high < _AS_LINEAR * low:
        return MaxNLocator(5)
    return LogLocator(
        subs=next((subs for decades, subs in _LABELS.items() if high < 10**decades * low), (1,))
    )
