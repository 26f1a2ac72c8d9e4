"""When requests come."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from analysis.inspection import Dispersion, round_width, windows_of
from analysis.plots.style import drawing, inks, legend_above, new_figure, plain_numbers
from analysis.text import number
from analysis.time_unit import TimeUnit
from serving_sim.request import FloatArray

_MOST_BINS = 240


def rate_over_time(release: FloatArray, *, time_unit: TimeUnit) -> Figure:
    """Draw the arrival rate in bins of a round width; the begun one at the end is left out.

    Divided by the full width it would seem to say that arrivals calm down, by its own that they burst.

    Parameters
    ----------
    release : ndarray of float, shape (n,)
        Sorted release times in time units.
    time_unit : TimeUnit
        What they are counted in.
    """
    shown, factor = time_unit.as_seconds()
    span = float(np.ptp(release)) * factor
    width = round_width(max(span / _MOST_BINS, np.finfo(float).tiny), seconds=shown.name == "second")
    place = windows_of(release * factor, width).astype(np.int64)
    counts = np.bincount(place)[: max(1, place[-1])]
    edges = float(release[0]) * factor + width * np.arange(len(counts) + 1)
    with drawing():
        figure = new_figure(height=3.0)
        axes = figure.subplots()
        axes.stairs(counts / width, edges, fill=True, color=inks(["rate"])["rate"].colour)
        axes.set_xlabel(f"time ({shown.plural}), means over {number(width)} {shown.plural} each")
        axes.set_ylabel(f"requests per {shown.singular}")
        axes.set_ylim(bottom=0)
        axes.margins(x=0)
        plain_numbers(axes.xaxis)
        plain_numbers(axes.yaxis)
    return figure


def dispersion_curve(found: Sequence[Dispersion], *, time_unit: TimeUnit) -> Figure:
    """Draw the index of dispersion of counts against the width of the window.

    Parameters
    ----------
    found : sequence of Dispersion
        At least one.
    time_unit : TimeUnit
        What widths are counted in.
    """
    shown, factor = time_unit.as_seconds()
    style = inks(["this workload", "Poisson"])
    with drawing():
        figure = new_figure(width=5.4, height=3.4)
        axes = figure.subplots()
        width = [each.width * factor for each in found]
        index = [each.index for each in found]
        ink = style["this workload"].line
        axes.plot(width, index, marker="o", markersize=3, label="this workload", **ink)
        axes.plot(width, [1.0] * len(width), label="Poisson", **style["Poisson"].line)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(f"width of the window ({shown.plural})")
        axes.set_ylabel("variance / mean of the count")
        plain_numbers(axes.xaxis)
        plain_numbers(axes.yaxis)
        legend_above(figure, axes)
    return figure
