"""Share of requests slower than a latency, with a logarithmic tail."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from analysis.definitions import definition
from analysis.outcome import Outcome
from analysis.plots.scale import latency_scale, metric_series
from analysis.plots.style import drawing, inks, legend_above, new_figure, plain_numbers
from analysis.time_unit import TimeUnit
from serving_sim.request import FloatArray, IntArray

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
        Key of `analysis.definitions.REQUEST_METRICS`.
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
        left = np.inf
        for outcome, values in zip(outcomes, series, strict=True):
            at, share = survival(values)
            left = min(left, at[np.argmax(share <= 1 - _FASTEST)])
            axes.step(at, share, where="post", label=outcome.policy, **style[outcome.policy].line)
        axes.set_yscale("log")
        axes.set_ylim(top=1)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g} %"))
        axes.yaxis.set_minor_locator(NullLocator())  # takes longer to draw than the data
        axes.set_xscale(latency_scale(series))
        if axes.get_xscale() == "log":
            axes.set_xlim(left=left)  # decades in which nothing falls would press the rest together
        plain_numbers(axes.xaxis)
        axes.set_xlabel(definition(metric).label(time_unit))
        axes.set_ylabel("requests at least as slow")
        legend_above(figure, axes)
    return figure


def survival(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Latencies x and shares P(X >= x), thinned evenly on the logarithmic axis of shares.

    Parameters
    ----------
    values : ndarray of float, shape (n,)
        One value a request.

    Returns
    -------
    at, share : ndarray of float, shape (m,), m <= about 500
        ``share`` falls from 1 to 1 / n: the slowest request is always there.
    """
    ranks = _thinned(len(values))
    places = len(values) - ranks
    return np.partition(values, places)[places], ranks / len(values)


def _thinned(count: int) -> IntArray:
    """Ranks from the slowest (1) to the fastest (count), falling."""
    ranks = np.unique(np.geomspace(1, count, _POINTS).round().astype(np.int64))
    return ranks[::-1]
