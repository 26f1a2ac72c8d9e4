"""Figures as files and as text."""

from __future__ import annotations

import io
from pathlib import Path

from matplotlib.figure import Figure

from analysis.plots.style import drawing
from workloads.whole_file import replacing


def save_figure(figure: Figure, stem: Path) -> None:
    """Write ``figure`` to ``stem`` with the suffixes ``.png`` and ``.svg``."""
    _settle(figure)
    for suffix in (".png", ".svg"):
        with replacing(stem.with_name(stem.name + suffix)) as temporary, drawing():
            figure.savefig(temporary, format=suffix[1:], metadata=_metadata(suffix))


def to_svg(figure: Figure) -> str:
    """``figure`` as SVG text, the same for the same figure."""
    _settle(figure)
    text = io.StringIO()
    with drawing():
        figure.savefig(text, format="svg", metadata=_metadata(".svg"))
    return text.getvalue()


def _settle(figure: Figure) -> None:
    # a layout engine starts from where it stopped the last time, so every saving would move the axes
    with drawing():
        figure.draw_without_rendering()
    figure.set_layout_engine("none")


def _metadata(suffix: str) -> dict[str, None] | None:
    return {"Date": None} if suffix == ".svg" else None  # a date would make every file new
