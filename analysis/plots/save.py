"""Figures as files and as text."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from analysis.plots.style import drawing
from workloads.whole_file import replacing

_DOTS_PER_INCH = 150


def save_figure(figure: Figure, stem: Path, svg: str | None = None) -> None:
    """Write ``figure`` to ``stem`` with the suffixes ``.png`` and ``.svg``.

    Parameters
    ----------
    figure : Figure
        What to write.
    stem : Path
        Without suffix.
    svg : str, optional
        Its `to_svg`, where that is there already.
    """
    with replacing(stem.with_name(f"{stem.name}.svg")) as temporary:
        temporary.write_text(to_svg(figure) if svg is None else svg, encoding="utf-8", newline="\n")
    with replacing(stem.with_name(f"{stem.name}.png")) as temporary, drawing():
        figure.set_dpi(_DOTS_PER_INCH)
        canvas: Any = FigureCanvasAgg(figure)
        canvas.print_png(temporary)


def to_svg(figure: Figure) -> str:
    """``figure`` as SVG text, the same for the same figure."""
    text = io.StringIO()
    with drawing():
        _settle(figure)
        canvas: Any = FigureCanvasSVG(figure)  # draws once, `Figure.savefig` twice
        canvas.print_svg(text, metadata={"Date": None})  # a date would make every file new
    return text.getvalue()


def _settle(figure: Figure) -> None:
    # a layout engine starts from where it stopped the last time, so every drawing would move the axes
    engine = figure.get_layout_engine()
    assert engine is not None
    engine.execute(figure)
    figure.set_layout_engine("none")
