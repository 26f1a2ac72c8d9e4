"""Share of requests slower than a latency, with a logarithmic tail."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from analysis.definitions import definition
from analysis.outcome import Outcome
from analysis.plots.scale import Scale, latency_scale, metric_series
from analysis.plots.style import drawing, inks, legend_above, new_figure, plain_numbers
from analysis.time_unit import TimeUnit
from serving_sim.request import FloatArray

_POINTS = 500
_FASTEST = 0.01
"""Share of requests that a logarithmic picture leaves out on its left."""


def latency_tail(outcomes: Sequence[Outcome], metric: str, *, time_unit: TimeUnit, warmup: int = 0) -> Figure:
    """Draw 1 - F of a metric, one line a policy, over all replications.

    Parameters
    ----------
    outcomes : sequence of Outcome
        Policies to draw.
    metric : str
        Key of `analysis.definitions.REQUEST_METRICS`, of which some request has a value.
    time_unit : TimeUnit
        What the run counts time in.
    warmup : int
        First requests to leave out.
    """
    style = inks([outcome.policy for outcome in outcomes])
    with drawing():
        figure = new_figure()
        axes = figure.subplots()
        series = metric_series(outcomes, metric, warmup)
        scale = latency_scale(series)
        left = np.inf
        for outcome, values in zip(outcomes, series, strict=True):
            at, share = survival(values, scale)
            left = min(left, at[np.argmax(share <= 1 - _FASTEST)])
            axes.step(at, share, where="post", label=outcome.policy, **style[outcome.policy].line)
        axes.set_yscale("log")
        axes.set_ylim(top=1)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g} %"))
        axes.yaxis.set_minor_locator(NullLocator())  # takes longer to draw than the data
        axes.set_xscale(scale)
        if scale == "log":
            axes.set_xlim(left=left)  # decades in which nothing falls would press the rest together
        plain_numbers(axes.xaxis)
        axes.set_xlabel(definition(metric).label(time_unit))
        axes.set_ylabel("requests at least as slow")
        legend_above(figure, axes)
    return figure


def survival(values: FloatArray, scale: Scale) -> tuple[FloatArray, FloatArray]:
    """Shares P(X >= x) at latencies x that lie as close to each other as can be seen on their axis.

    Parameters
    ----------
    values : ndarray of float, shape (n,)
        One value a request.
    scale : {"linear", "log"}
        Of the axis; a logarithmic one wants values above 0.

    Returns
    -------
    at, share : ndarray of float, shape (m,), m <= 500
        ``share`` falls from 1 at the fastest request to that of the slowest.
    """
    low, high = float(values.min()), float(values.max())
    along = np.log(values) if scale == "log" else values
    begin, end = along.min(), along.max()
    if begin == end:  # so may be the logarithms of different latencies
        return np.array([high]), np.array([1.0])
    at = np.geomspace(low, high, _POINTS) if scale == "log" else np.linspace(low, high, _POINTS)
    # Sorting takes ten times as long. Rounding may count a value at a place before or after it.
    place = ((along - begin) / (end - begin) * (_POINTS - 1)).astype(np.int64)
    passed = np.bincount(np.minimum(place, _POINTS - 2), minlength=_POINTS - 1).cumsum()
    slower = len(values) - np.append(0, passed)
    slower[-1] = np.count_nonzero(values == high)
    return at, slower / len(values)
