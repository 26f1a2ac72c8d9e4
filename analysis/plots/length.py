"""Latency against the length of the request."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from analysis.definitions import definition
from analysis.latency import latency, measured_rows, served_requests
from analysis.outcome import Outcome
from analysis.plots.scale import latency_scale
from analysis.plots.style import drawing, inks, legend_above, new_figure, plain_numbers
from analysis.time_unit import TimeUnit
from serving_sim.request import FloatArray, IntArray

_BINS = 16
_SHARES = {"median": 0.5, "95th percentile": 0.95}


def latency_against_length(
    outcomes: Sequence[Outcome], metric: str, *, time_unit: TimeUnit, warmup: int = 0
) -> Figure:
    """Draw median and 95th percentile of a metric against length, one line a policy.

    Parameters
    ----------
    outcomes : sequence of Outcome
        Policies to draw; all replications count.
    metric : str
        Key of `analysis.definitions.REQUEST_METRICS`.
    time_unit : TimeUnit
        What the run counts time in.
    warmup : int
        First requests to leave out.
    """
    style = inks([outcome.policy for outcome in outcomes])
    with drawing():
        figure = new_figure(height=3.8)
        panels = figure.subplots(1, len(_SHARES), sharey=True)
        for outcome in outcomes:
            length, values = _points(outcome, metric, warmup)
            for axes, (title, share) in zip(panels, _SHARES.items(), strict=True):
                centre, height = binned_quantile(length, values, share)
                axes.plot(
                    centre,
                    height,
                    marker="o",
                    markersize=3,
                    label=outcome.policy,
                    **style[outcome.policy].line,
                )
                axes.set_title(title, loc="left")
        for axes in panels:
            axes.set_xlabel("request length (tokens)")
            axes.set_xscale("log")
            plain_numbers(axes.xaxis)
        panels[0].set_yscale(latency_scale(outcomes, metric))
        plain_numbers(panels[0].yaxis)
        panels[0].set_ylabel(definition(metric).label(time_unit))
        legend_above(figure, panels[0])
    return figure


def binned_quantile(length: IntArray, values: FloatArray, share: float) -> tuple[FloatArray, FloatArray]:
    """Quantile of ``values`` in bins of ``length`` that hold about equally many requests.

    Parameters
    ----------
    length, values : ndarray, shape (n,)
        Length and metric of each request.
    share : float
        Which quantile.

    Returns
    -------
    centre, height : ndarray of float, shape (m,), m <= 16
        Mean length in a bin and the quantile there. Requests of equal length share a bin.
    """
    edges = np.unique(np.quantile(length, np.linspace(0, 1, _BINS + 1)))
    bins = np.searchsorted(edges[1:-1], length, side="right")
    members = [bins == each for each in np.unique(bins)]
    centre = np.array([length[each].mean() for each in members])
    return centre, np.array([np.quantile(values[each], share) for each in members])


def _points(outcome: Outcome, metric: str, warmup: int) -> tuple[IntArray, FloatArray]:
    lengths, values = [], []
    for run in outcome.runs:
        rows = measured_rows(run, warmup)
        served = served_requests(run)
        found = latency(served, run.step_time, metric)[rows]
        defined = ~np.isnan(found)
        lengths.append(served.requests.length[rows][defined])
        values.append(found[defined])
    return np.concatenate(lengths), np.concatenate(values)
