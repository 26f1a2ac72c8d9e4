"""Mean and quantiles of a metric with their intervals, policy beside policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.definitions import definition
from analysis.estimate import Estimate
from analysis.outcome import Outcome
from analysis.plots.style import Ink, drawing, inks, new_figure
from analysis.stability import GROWING
from analysis.text import number
from analysis.time_unit import TimeUnit

_COLUMNS = 3  # at most
_FREE = 480.0  # points across the figure, without its edges
_LETTER = 5.6  # points across one of a name
_DIGIT = 5.1  # and of a number
_PANEL = 115.0  # points across a panel that holds bars and numbers
_APART = 1.25  # height of a title, in bars
_BARS = 0.68  # share of its panel that the longest bar or whisker takes at most
_NUMBERS = 0.95  # where the numbers of a panel end
_WHISKER = "#333333"


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
    pitch = len(outcomes) + _APART
    columns, longest = _fitting(outcomes, metric)
    rows = -(-len(names) // columns)
    with drawing():
        figure = new_figure(height=0.5 + rows * (0.6 + 0.28 * len(outcomes)))
        axes = figure.subplots()  # one for all panels: they have no scales to show
        for place, name in enumerate(names):
            row, column = divmod(place, columns)
            estimates = {outcome.policy: outcome.metrics[metric][name] for outcome in outcomes}
            _panel(axes, name, estimates, style, left=column, top=row * pitch, longest=longest)
        axes.set_yticks(
            [row * pitch + place for row in range(rows) for place in range(len(outcomes))],
            list(style) * rows,
        )
        axes.set_xlim(0, min(columns, len(names)))
        axes.set_ylim(rows * pitch - _APART - 0.4, -_APART - 0.1)
        grows = any(outcome.unstable for outcome in outcomes)
        legend = "\n! grows with the length of the run" if grows else ""
        axes.set_xlabel(f"{definition(metric).label(time_unit)}, with 95 % intervals{legend}")
        axes.set_xticks([])  # the number at each bar says more than a scale
        axes.spines[:].set_visible(False)
        axes.grid(visible=False)
        axes.tick_params(axis="y", length=0)
    return figure


def _fitting(outcomes: Sequence[Outcome], metric: str) -> tuple[int, float]:
    """How many panels fit beside each other, and the share of one that its longest bar or whisker takes."""
    numbers = [len(_number(each)) for outcome in outcomes for each in outcome.metrics[metric].values()]
    free = _FREE - _LETTER * max(len(outcome.policy) for outcome in outcomes)
    columns = max(1, min(_COLUMNS, int(free / _PANEL)))
    return columns, min(_BARS, _NUMBERS - (_DIGIT * max(numbers) + _LETTER) * columns / free)


def _number(estimate: Estimate) -> str:
    return number(estimate.value) + (" !" if estimate.note == GROWING else "")


def _panel(
    axes: Axes,
    title: str,
    estimates: Mapping[str, Estimate],
    style: Mapping[str, Ink],
    *,
    left: float,
    top: float,
    longest: float,
) -> None:
    axes.text(left, top - 0.6, title, fontsize=10, va="bottom")
    axes.vlines(left, top - 0.5, top + len(estimates) - 0.5, color="#000000", linewidth=0.8)
    most = max((estimate.high or estimate.value or 0) for estimate in estimates.values())
    scale = longest / most if most else 1.0
    places = [top + place for place in range(len(estimates))]
    widths = [scale * (estimate.value or 0) for estimate in estimates.values()]
    axes.barh(places, widths, left=left, height=0.68, color=[style[policy].colour for policy in estimates])
    for place, estimate in zip(places, estimates.values(), strict=True):
        # in a column of their own: at the end of a whisker they would seem to name that end
        axes.text(left + _NUMBERS, place, _number(estimate), ha="right", va="center", fontsize=8)
    _whiskers(axes, [each.scaled(scale) for each in estimates.values()], places, left)


def _whiskers(axes: Axes, estimates: Sequence[Estimate], places: Sequence[float], left: float) -> None:
    lows = [left + max(each.low, 0) for each in estimates if each.low is not None]
    highs = [left + each.high for each in estimates if each.high is not None]
    across = [place for place, each in zip(places, estimates, strict=True) if each.low is not None]
    axes.hlines(across, lows, highs, color=_WHISKER, linewidth=1)
    axes.plot(lows + highs, across + across, "|", color=_WHISKER, markersize=5)
