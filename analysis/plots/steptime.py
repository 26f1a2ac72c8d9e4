"""A fitted step time beside the steps it is fitted to."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.plots.length import Bins
from analysis.plots.style import drawing, inks, new_figure, plain_numbers
from analysis.steptime import MeasuredSteps, StepTimeFit
from serving_sim.request import FloatArray, IntArray

_POINTS = 3000
_MARK = "#D55E00"


def fitted_steps(fit: StepTimeFit, steps: MeasuredSteps) -> Figure:
    """Draw measured against fitted times, and residuals against what the step time depends on.

    Parameters
    ----------
    fit : StepTimeFit
        The fit.
    steps : MeasuredSteps
        Measured steps; of many only some thousand, evenly spread, become points.
    """
    fitted = fit.predicted(steps)
    residual = steps.milliseconds - fitted
    shown = np.unique(np.linspace(0, len(steps) - 1, min(len(steps), _POINTS)).astype(np.int64))
    against = {
        "batch size (requests)": steps.batch_size,
        "longest cache (tokens)": steps.max_kv_tokens,
        "all caches (tokens)": steps.sum_kv_tokens,
    }
    with drawing():
        figure = new_figure(width=8.4, height=6.4)
        (first, second), (third, fourth) = figure.subplots(2, 2)
        _points(first, fitted[shown], steps.milliseconds[shown])
        ends = (min(fitted.min(), steps.milliseconds.min()), max(fitted.max(), steps.milliseconds.max()))
        first.plot(ends, ends, color=_MARK, linewidth=1.2, label="measured = fitted")
        first.set_xlabel("fitted (ms)")
        first.set_ylabel("measured (ms)")
        for axes, (label, values) in zip((second, third, fourth), against.items(), strict=True):
            _residuals(axes, values, residual, shown)
            axes.set_xlabel(label)
        for axes in (first, second, third, fourth):
            axes.locator_params(axis="x", nbins=6)  # counts of tokens are wide
            plain_numbers(axes.xaxis)
            plain_numbers(axes.yaxis)
        lines = [axes.get_legend_handles_labels()[0][0] for axes in (first, second)]
        figure.legend(handles=lines, loc="outside upper left", ncols=2)
    return figure


def _residuals(axes: Axes, values: IntArray, residual: FloatArray, shown: IntArray) -> None:
    _points(axes, values[shown], residual[shown])
    axes.axhline(0, color="#555555", linewidth=0.8)
    bins = Bins.of(values)
    (height,) = bins.quantiles(residual, [0.5])
    label = "median nearby"
    axes.plot(bins.centre, height, color=_MARK, marker="o", markersize=3, linewidth=1.2, label=label)
    axes.set_ylabel("measured - fitted (ms)")


def _points(axes: Axes, x: IntArray | FloatArray, y: FloatArray) -> None:
    axes.plot(x, y, ".", color=inks([""])[""].colour, markersize=3, alpha=0.35, rasterized=True)
