"""Latency against the length of the request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from analysis.definitions import definition
from analysis.latency import defined, latency, measured_rows, served_requests
from analysis.outcome import Outcome
from analysis.plots.scale import latency_scale
from analysis.plots.style import drawing, inks, legend_above, new_figure, plain_numbers
from analysis.time_unit import TimeUnit
from serving_sim.request import FloatArray, IntArray

_BINS = 16
_DRAWN = 200_000
"""Requests whose quantiles lie less than the width of a line from those of any larger number."""

_SHARES = {"median": 0.5, "95th percentile": 0.95}


def latency_against_length(
    outcomes: Sequence[Outcome], metric: str, bins: Bins, *, time_unit: TimeUnit, warmup: int = 0
) -> Figure:
    """Draw median and 95th percentile of a metric against length, one line a policy.

    Parameters
    ----------
    outcomes : sequence of Outcome
        Policies to draw, which served the same requests; all replications count.
    metric : str
        Key of `analysis.definitions.REQUEST_METRICS`.
    bins : Bins
        `length_bins` of any of them with the same warm-up, whatever the metric.
    time_unit : TimeUnit
        What the run counts time in.
    warmup : int
        First requests to leave out.
    """
    style = inks([outcome.policy for outcome in outcomes])
    series = [_values(outcome, metric, warmup) for outcome in outcomes]
    with drawing():
        figure = new_figure(height=3.8)
        panels = figure.subplots(1, len(_SHARES), sharey=True)
        for outcome, values in zip(outcomes, series, strict=True):
            heights = bins.quantiles(values, list(_SHARES.values()))
            for axes, height in zip(panels, heights, strict=True):
                ink = style[outcome.policy].line
                axes.plot(bins.centre, height, marker="o", markersize=3, label=outcome.policy, **ink)
        for axes, title in zip(panels, _SHARES, strict=True):
            axes.set_title(title, loc="left")
            axes.set_xlabel(time_unit.in_service("request length (tokens)"))
            axes.set_xscale("log")
            plain_numbers(axes.xaxis)
        panels[0].set_yscale(latency_scale(series))
        plain_numbers(panels[0].yaxis)
        panels[0].set_ylabel(definition(metric).label(time_unit))
        legend_above(figure, panels[0])
    return figure


@dataclass(frozen=True, eq=False)
class Bins:
    """Requests in m <= 16 bins of length that hold about equally many; equal lengths share a bin.

    Of very many requests a random part of about 200,000, the same for the same number: not every k-th one,
    which of requests that come in groups could be the first of each.

    Attributes
    ----------
    centre : ndarray of float, shape (m,)
        Mean length in each.
    members : list of ndarray of int, length m
        Rows in each.
    """

    centre: FloatArray
    members: list[IntArray]

    @classmethod
    def of(cls, length: IntArray | FloatArray) -> Bins:
        """Bins of lengths, shape (n,)."""
        drawn = _drawn(len(length))
        lengths = length[drawn]
        edges = np.unique(np.quantile(lengths, np.linspace(0, 1, _BINS + 1)))
        place = np.zeros(len(lengths), dtype=np.int8)  # few: sorts in one pass
        for edge in edges[1:-1]:  # sixteen comparisons take a third of the time of a search
            place += lengths >= edge
        counts = np.bincount(place)
        rows = np.split(drawn[np.argsort(place, kind="stable")], np.cumsum(counts)[:-1])
        members = [each for each in rows if len(each)]
        return cls(np.array([length[each].mean() for each in members]), members)

    def quantiles(self, values: FloatArray, shares: Sequence[float]) -> FloatArray:
        """Quantiles of ``values`` in each bin, shape (len(shares), m); NaN counts as no value."""
        return np.array([_quantiles(values[each], shares) for each in self.members]).T


def _drawn(count: int) -> IntArray:
    """Rows that are drawn, in order."""
    if count <= _DRAWN:
        return np.arange(count)
    return np.flatnonzero(np.random.default_rng(count).random(count) < _DRAWN / count)


def length_bins(outcome: Outcome, warmup: int = 0) -> Bins:
    """Bins of the requests of a policy, over all replications.

    Parameters
    ----------
    outcome : Outcome
        Any policy of a comparison: all serve the same requests.
    warmup : int
        First requests of each run to leave out.
    """
    lengths = [served_requests(run).requests.length[measured_rows(run, warmup)] for run in outcome.runs]
    return Bins.of(np.concatenate(lengths))


def _values(outcome: Outcome, metric: str, warmup: int) -> FloatArray:
    """One value a request of `length_bins`, row by row; NaN where the metric is undefined."""
    return np.concatenate(
        [
            latency(served_requests(run), run.step_time, metric)[measured_rows(run, warmup)]
            for run in outcome.runs
        ]
    )


def _quantiles(values: FloatArray, shares: Sequence[float]) -> FloatArray:
    counted = defined(values)
    return np.quantile(counted, shares) if len(counted) else np.full(len(shares), np.nan)
