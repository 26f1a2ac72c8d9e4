"""One burst under several policies: who waits, who is served where, and when nobody may enter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.bursts import presence
from analysis.latency import served_requests
from analysis.outcome import Outcome
from analysis.plots.style import drawing, inks, legend_above, new_figure, plain_numbers
from analysis.time_unit import TimeUnit
from serving_sim import Run
from serving_sim.request import FloatArray

_AT_ONCE = "#0072B2"
_WAITED = "#E69F00"
_HELD = "#CCCCCC"
_MEANINGS = {"started at once": _AT_ONCE, "waited first": _WAITED, "let nobody in": _HELD}


def burst_schedule(outcomes: Sequence[Outcome], start: float, end: float, *, time_unit: TimeUnit) -> Figure:
    """Draw the queue, and for each policy its slots with a bar a request.

    Where a panel is grey a slot was free and a request had waited for more than the step under way,
    so it was the policy that let nobody in.

    Parameters
    ----------
    outcomes : sequence of Outcome
        Policies to draw, with slots in common.
    start, end : float
        Window to draw, in time units.
    time_unit : TimeUnit
        What times are counted in.
    """
    shown, factor = time_unit.as_seconds()
    style = inks([outcome.policy for outcome in outcomes])
    with drawing():
        figure = new_figure(width=7.6, height=2.0 + 1.9 * len(outcomes))
        queue, *panels = figure.subplots(
            1 + len(outcomes), 1, sharex=True, height_ratios=[1.0] + [1.25] * len(outcomes)
        )
        for outcome, axes in zip(outcomes, panels, strict=True):
            run = outcome.runs[0]
            instants, waiting, _ = presence(served_requests(run))
            drawn = slice(*np.searchsorted(instants, [start, end]))  # what is outside would set the scale
            ink = style[outcome.policy].line
            queue.step(instants[drawn] * factor, waiting[drawn], where="post", label=outcome.policy, **ink)
            _draw_slots(axes, run, (start, end), factor)
            axes.set_title(f"slots, {outcome.policy}", loc="left", fontsize=8, pad=2)
        queue.set_title("waiting requests", loc="left", fontsize=8, pad=2)
        queue.set_ylim(0, None)
        queue.set_xlim(start * factor, end * factor)
        plain_numbers(queue.yaxis)
        plain_numbers(panels[-1].xaxis)
        panels[-1].set_xlabel(f"time ({shown.plural})")
        for label, colour in _MEANINGS.items():
            queue.plot([], [], "s", color=colour, label=label)
        legend_above(figure, queue)
    return figure


def _draw_slots(axes: Axes, run: Run, window: tuple[float, float], factor: float) -> None:
    served = served_requests(run)
    inside = (served.finish > window[0]) & (served.start < window[1])
    start, finish = served.start[inside] * factor, served.finish[inside] * factor
    waited = served.start[inside] - served.requests.release[inside] > run.step_time.base
    for slot in range(run.slots):
        here = served.slot[inside] == slot
        bars = list(zip(start[here], finish[here] - start[here], strict=True))
        colours = [_WAITED if each else _AT_ONCE for each in waited[here]]
        axes.broken_barh(
            bars, (slot + 0.1, 0.8), facecolors=colours, edgecolor="white", linewidth=6 / (run.slots + 9)
        )
    instants, held = _held(run)
    axes.fill_between(
        instants * factor, 0, run.slots, where=held, step="post", color=_HELD, linewidth=0, zorder=0
    )
    axes.set_ylim(0, run.slots)
    axes.set_yticks([0, run.slots])
    axes.grid(visible=False)


def _held(run: Run) -> tuple[FloatArray, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """When a slot was free and a request had waited for more than the step under way."""
    served = served_requests(run)
    seen = np.minimum(served.requests.release + run.step_time.base, served.start)
    instants = np.unique(np.concatenate([seen, served.start, served.finish]))
    waiting, begun, gone = (
        np.searchsorted(np.sort(each), instants, side="right") for each in (seen, served.start, served.finish)
    )
    return instants, (waiting > begun) & (begun - gone < run.slots)
