"""Mean and quantiles of a metric with their intervals, policy beside policy."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.definitions import definition
from analysis.estimate import Estimate
from analysis.outcome import Outcome
from analysis.plots.style import Ink, drawing, inks, new_figure
from analysis.stability import GROWING
from analysis.text import number
from analysis.time_unit import TimeUnit

_COLUMNS = 3


def quantile_bars(outcomes: Sequence[Outcome], metric: str, *, time_unit: TimeUnit) -> Figure:
    """Draw one panel a statistic, one bar a policy; each panel has its own scale, from zero.

    Parameters
    ----------
    outcomes : sequence of Outcome
        Policies to draw, from the top.
    metric : str
        Key of `analysis.definitions.REQUEST_METRICS`.
    time_unit : TimeUnit
        What the run counts time in.
    """
    style = inks([outcome.policy for outcome in outcomes])
    names = list(outcomes[0].metrics[metric])
    rows = math.ceil(len(names) / _COLUMNS)
    with drawing():
        # apart, or a number would seem to belong to the next panel
        figure = new_figure(height=0.5 + rows * (0.6 + 0.28 * len(outcomes)), apart=0.09)
        panels = figure.subplots(rows, min(_COLUMNS, len(names)), squeeze=False).ravel()
        for place, (axes, name) in enumerate(zip(panels, names, strict=False)):
            estimates = {outcome.policy: outcome.metrics[metric][name] for outcome in outcomes}
            _panel(axes, name, estimates, style, named=place % _COLUMNS == 0)
        for axes in panels[len(names) :]:
            axes.set_visible(False)
        grows = any(outcome.unstable for outcome in outcomes)
        legend = "; ! grows with the length of the run" if grows else ""
        figure.supxlabel(f"{definition(metric).label(time_unit)}, with 95 % intervals{legend}", fontsize=9)
    return figure


def _number(estimate: Estimate) -> str:
    return number(estimate.value) + (" !" if estimate.note == GROWING else "")


def _panel(
    axes: Axes, title: str, estimates: dict[str, Estimate], style: dict[str, Ink], *, named: bool
) -> None:
    axes.set_title(title, loc="left")
    most = max((estimate.high or estimate.value or 0) for estimate in estimates.values())
    for place, (policy, estimate) in enumerate(estimates.items()):
        if estimate.value is None:
            continue
        axes.barh(place, estimate.value, height=0.68, color=style[policy].colour)
        if estimate.low is not None and estimate.high is not None:
            reach = [[estimate.value - estimate.low], [estimate.high - estimate.value]]
            axes.errorbar(estimate.value, place, xerr=reach, color="#333333", capsize=2.5, linewidth=1)
        # in a column of their own: at the end of a whisker they would seem to name that end
        across = axes.get_yaxis_transform()
        axes.text(1, place, _number(estimate), transform=across, ha="right", va="center", fontsize=8)
    axes.set_xlim(0, 1.38 * most if most else 1)  # room for the numbers
    axes.set_yticks(range(len(estimates)), list(estimates) if named else [""] * len(estimates))
    axes.set_ylim(len(estimates) - 0.5, -0.5)
    axes.set_xticks([])  # the number at each bar says more than a scale
    axes.spines["bottom"].set_visible(False)
    axes.grid(visible=False)
    axes.tick_params(axis="y", length=0)
