"""Pictures of the theory: measured ratios beside the stated ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from analysis.experiments.adversarial import (
    GOLDEN,
    golden_ratio_curve,
    measured_ratio_of_gamma,
    over_inserting_limit,
    under_inserting_limit,
)
from analysis.plots.ratios import Line, ratios_against_delay, ratios_against_gamma, worst_against_slots
from analysis.plots.save import save_figure

_LENGTHS = (10**2, 10**3, 10**4, 10**5, 10**6)
_MEASURED = tuple(k / 20 for k in range(1, 20))


def draw_golden_ratio(folder: Path) -> None:
    """The ratio against the delay for lengths 10^2 to 10^6, with the peak of each in the legend."""
    curves: dict[str, Line] = {}
    for length in _LENGTHS:
        curve = golden_ratio_curve(length)
        label = f"L = 1e{round(np.log10(length))}, peak {curve.peak[1]:.6f}"
        curves[label] = (curve.x, curve.ratio)
    save_figure(ratios_against_delay(curves, GOLDEN), folder / "golden-ratio")


def draw_gamma(folder: Path) -> None:
    """Figure 4 of the paper with measured points: ISJL on both inserting families."""
    gammas = np.linspace(0.01, 0.99, 99).tolist()
    limits = {"over-inserting": over_inserting_limit, "under-inserting": under_inserting_limit}
    stated: dict[str, Line] = {name: (gammas, [limit(g) for g in gammas]) for name, limit in limits.items()}
    measured: dict[str, Line] = {
        name: (_MEASURED, [duel.ratio[1] for duel in measured_ratio_of_gamma(name, _MEASURED)])
        for name in limits
    }
    save_figure(ratios_against_gamma(stated, measured), folder / "fig4")


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
