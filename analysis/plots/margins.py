"""Room around panels for what is written there."""

from __future__ import annotations

import io
from functools import cache

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.figure import Figure
from matplotlib.layout_engine import LayoutEngine
from matplotlib.text import Text
from matplotlib.transforms import ScaledTranslation
from numpy.typing import ArrayLike

from serving_sim.request import FloatArray

_INCH = 72
_EDGE = 5.0  # of the figure, kept free
_APART = 9.0  # between panels, besides what is written there
_TICK = 7.0  # from an axis to its numbers
_PAD = 4.0  # from the numbers to the label
_HALF_A_NUMBER = 30.0  # a long one; what reaches further beyond a panel is a title longer than it


class Margins(LayoutEngine):
    """Places the panels of a figure so that what is written around them has room.

    Constrained layout does so for any figure, and takes as long as the drawing: it measures everything
    several times over. Here the panels are those of one `Figure.subplots`, only texts stand around
    them, and labels of axes are told their place, which drawing else looks for again. All sizes are in
    points.
    """

    _adjust_compatible = True
    _colorbar_gridspec = False

    def execute(self, fig: Figure) -> None:
        """Place the panels of ``fig``."""
        dpi = fig.get_dpi()
        fig.set_dpi(_INCH)  # a point is a pixel
        renderer = _ruler()
        ticks = _ticks(fig)
        beyond = _place(fig, renderer)
        # how many numbers an axis has, and how far words reach beyond their panel, depends on its length
        if beyond > _HALF_A_NUMBER or _ticks(fig) != ticks:
            _place(fig, renderer)
        fig.set_dpi(dpi)


@cache
def _ruler() -> RendererBase:
    """What measures texts; one for all figures, since matplotlib remembers what it has measured with one."""
    ruler: RendererBase = RendererSVG(0, 0, io.StringIO())  # type: ignore[no-untyped-call]
    return ruler


def _ticks(figure: Figure) -> list[list[float]]:
    """Where the numbers of all axes stand."""
    return [axis.get_majorticklocs().tolist() for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)]


def _place(figure: Figure, renderer: RendererBase) -> float:
    """Give every panel its place; returns how far to the right something reaches beyond one."""
    width, height = _INCH * figure.get_size_inches()
    above, below = _legends(figure, renderer)
    specs = {axes: spec for axes in figure.axes if (spec := axes.get_subplotspec()) is not None}
    grid = next(iter(specs.values())).get_gridspec()
    rooms = np.zeros((grid.nrows, grid.ncols, 4))
    for axes, spec in specs.items():
        if axes.get_visible():
            rooms[spec.rowspan.start, spec.colspan.start] = _room(axes, renderer)
    left, right = rooms[..., :2].max(axis=0).T
    top, bottom = rooms[..., 2:].max(axis=1).T
    x, widths = _cells(left, right, (_EDGE, width - _EDGE), grid.get_width_ratios())
    y, heights = _cells(top, bottom, (_EDGE + above, height - _EDGE - below), grid.get_height_ratios())
    for axes, spec in specs.items():
        row, column = spec.rowspan.start, spec.colspan.start
        foot = height - y[row] - heights[row]  # rows run from the top
        axes.set_position((x[column] / width, foot / height, widths[column] / width, heights[row] / height))
    return float(right.max())


def _cells(
    before: FloatArray, behind: FloatArray, ends: tuple[float, float], ratios: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Where panels in a line begin, and how long they are."""
    shares = np.asarray(ratios, dtype=np.float64)
    begin, end = ends
    free = end - begin - before.sum() - behind.sum() - _APART * (len(before) - 1)
    length = free * shares / shares.sum()
    taken = np.cumsum(before + length + behind + _APART)
    return begin + before + np.append(0, taken[:-1]), length


def _legends(figure: Figure, renderer: RendererBase) -> tuple[float, float]:
    """Heights of the legends above and below."""
    heights = [0.0, 0.0]
    for legend in figure.legends:
        box = legend.get_window_extent(renderer)
        below = int(box.y0 + box.y1 < _INCH * figure.get_figheight())
        heights[below] = max(heights[below], box.height + _PAD)
    return heights[0], heights[1]


def _room(axes: Axes, renderer: RendererBase) -> tuple[float, float, float, float]:
    """What a panel needs left and right of it, above and below; tells its labels where to stand."""
    panel = axes.get_window_extent(renderer)
    texts = [each for each in axes.get_children() if isinstance(each, Text) and each.get_in_layout()]
    texts = [each for each in texts if each.get_text()]
    texts += [*numbers_in_view(axes.xaxis), *numbers_in_view(axes.yaxis)]
    boxes = [each.get_window_extent(renderer) for each in texts]
    left = max([_TICK, *(panel.x0 - box.x0 for box in boxes)])
    right = max([0.0, *(box.x1 - panel.x1 for box in boxes)])
    above = max([0.0, *(box.y1 - panel.y1 for box in boxes)])
    below = max([_TICK, *(panel.y0 - box.y0 for box in boxes)])
    if axes.get_ylabel():
        _shift(axes.yaxis, axes, (0.0, 0.5), (-left - _PAD, 0.0))
        left += _PAD + axes.yaxis.label.get_window_extent(renderer).width
    if axes.get_xlabel():
        _shift(axes.xaxis, axes, (0.5, 0.0), (0.0, -below - _PAD))
        below += _PAD + axes.xaxis.label.get_window_extent(renderer).height
    return left, right, above, below


def _shift(axis: Axis, axes: Axes, place: tuple[float, float], by: tuple[float, float]) -> None:
    """Put a label at a place of the panel, and so many points away."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    inches = ScaledTranslation(by[0] / _INCH, by[1] / _INCH, figure.dpi_scale_trans)
    axis.set_label_coords(*place, transform=axes.transAxes + inches)


def numbers_in_view(axis: Axis) -> list[Text]:
    """Numbers at the ticks of an axis, those in view."""
    axis.get_majorticklabels()  # finds the ticks
    low, high = sorted(axis.get_view_interval())
    labels = [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    return [label for label in labels if label.get_visible() and label.get_text()]
