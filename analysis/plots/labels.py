"""Names beside points, where they cover as little as possible."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes

_SIZE = 7.5  # of the letters, in points
_LETTER = 0.6 * _SIZE  # width of a letter
_MARKER = 4.0  # half the width of a point

_Side = tuple[float, float, Literal["left", "right", "center"]]

_SIDES: tuple[_Side, ...] = (
    (6, 4, "left"),
    (6, -4 - _SIZE, "left"),
    (-6, 4, "right"),
    (-6, -4 - _SIZE, "right"),
    (0, 8, "center"),
    (0, -8 - _SIZE, "center"),
    (14, -_SIZE / 2, "left"),
    (-14, -_SIZE / 2, "right"),
)
"""Where a label may stand from its point, the best first: its corner in points, and its alignment."""

_SHARE = {"left": 0.0, "center": 0.5, "right": 1.0}


class _Box(NamedTuple):
    left: float
    bottom: float
    right: float
    top: float

    def overlap(self, other: _Box) -> float:
        """Area that two boxes share, in square points."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        return max(width, 0.0) * max(height, 0.0)


def label_points(
    axes: Axes,
    points: Mapping[str, tuple[float, float]],
    colours: Mapping[str, str],
    *,
    line: Sequence[tuple[float, float]] = (),
) -> None:
    """Name each point, one after the other, on the side where it covers least of what is there.

    That is points, labels, and the ``line`` through some corners. To be called last, when limits and
    layout no longer change.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None
    layout = figure.get_layout_engine()
    assert layout is not None
    layout.execute(figure)  # decides how far apart points lie
    places = _in_points(axes, list(points.values()))
    occupied = [*places, *(along for ends in pairwise(_in_points(axes, line)) for along in _between(*ends))]
    taken = [_Box(x - _MARKER, y - _MARKER, x + _MARKER, y + _MARKER) for x, y in occupied]
    for (name, point), (x, y) in zip(points.items(), places, strict=True):
        boxes = {side: _box(name, x, y, side) for side in _SIDES}
        best = min(_SIDES, key=lambda side: sum(boxes[side].overlap(other) for other in taken))
        taken.append(boxes[best])
        axes.annotate(
            name,
            point,
            xytext=best[:2],
            textcoords="offset points",
            ha=best[2],
            va="bottom",
            fontsize=_SIZE,
            color=colours[name],
        )


def _in_points(axes: Axes, places: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Places of the data in points of the page."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    scaled = 72 / figure.dpi * axes.transData.transform(np.array(places, dtype=float).reshape(-1, 2))
    return [(x, y) for x, y in scaled.tolist()]


def _between(one: tuple[float, float], other: tuple[float, float]) -> list[tuple[float, float]]:
    """Places along a straight line, about a marker apart."""
    count = 2 + int(math.dist(one, other) / (2 * _MARKER))
    return list(zip(np.linspace(one[0], other[0], count), np.linspace(one[1], other[1], count), strict=True))


def _box(name: str, x: float, y: float, side: _Side) -> _Box:
    width = _LETTER * len(name)
    left = x + side[0] - _SHARE[side[2]] * width
    return _Box(left, y + side[1], left + width, y + side[1] + _SIZE)
