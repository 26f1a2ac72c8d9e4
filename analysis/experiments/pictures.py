"""The worst ratios that a search found beside the stated bounds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from analysis.plots.ratios import Line, worst_against_slots
from analysis.plots.save import save_figure


def draw_worst_against_slots(found: dict[str, dict[int, float]], folder: Path) -> None:
    """The worst ratios that a search found, by policy and slots, beside the stated bounds."""
    bounds: dict[str, Callable[[int], float]] = {
        "ljf": lambda slots: slots / (2 * slots - 1),
        "lpt": lambda slots: 3 * slots / (4 * slots - 1),
        "isjl": lambda _: 3 / 4,
    }
    points: dict[str, Line] = {name: (list(worst), list(worst.values())) for name, worst in found.items()}
    stated: dict[str, Line] = {
        name: (list(worst), [bounds[name](slots) for slots in worst])
        for name, worst in found.items()
        if name in bounds
    }
    save_figure(worst_against_slots(points, stated), folder / "worst-by-slots")
