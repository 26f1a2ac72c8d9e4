"""Pictures of competitive ratios: against gamma, against the delay, against the number of slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from analysis.plots.style import drawing, inks, legend_above, new_figure

Line = tuple[Sequence[float], Sequence[float]]
"""Abscissae and ordinates."""


def ratios_against_gamma(stated: Mapping[str, Line], measured: Mapping[str, Line]) -> Figure:
    """Stated ratios as lines, measured ones as points, against gamma = alpha / L.

    Parameters
    ----------
    stated, measured : mapping of str to (gammas, ratios)
        By family; a measured family takes the colour of the stated one of the same name.
    """
    style = inks(list(stated))
    with drawing():
        figure = new_figure()
        axes = figure.subplots()
        for name, (gamma, ratio) in stated.items():
            axes.plot(gamma, ratio, label=f"{name}, stated", **style[name].line)
        for name, (gamma, ratio) in measured.items():
            axes.plot(gamma, ratio, "o", color=style[name].colour, ms=4, label=f"{name}, measured")
        axes.set_xlabel("gamma (alpha over the longest length)")
        axes.set_ylabel("optimum / makespan of ISJL")
        legend_above(figure, axes)
    return figure


def ratios_against_delay(curves: Mapping[str, Line], golden: float, at_once: Sequence[float] = ()) -> Figure:
    """The worse of the adversary's two continuations against the delay of the first start.

    Parameters
    ----------
    curves : mapping of str to (x, ratio)
        By label, one a length.
    golden : float
        The limit of the peak, marked by a thin line.
    at_once : sequence of float
        Ratios of policies that do not wait.
    """
    style = inks(list(curves))
    with drawing():
        figure = new_figure()
        axes = figure.subplots()
        for name, (x, ratio) in curves.items():
            axes.plot(x, ratio, label=name, **style[name].line)
        if at_once:
            label = "policies that start at once"
            axes.plot([0.0] * len(at_once), at_once, "o", color="#333333", ms=5, label=label)
        axes.axhline(golden, color="#555555", linewidth=0.8)
        axes.axvline(golden, color="#555555", linewidth=0.8)
        axes.annotate(
            f"({golden:.4f}, {golden:.4f})",
            (golden, golden),
            xytext=(6, 6),
            textcoords="offset points",
            color="#555555",
        )
        axes.set_xlabel("x (delay of the first start over its length)")
        axes.set_ylabel("optimum / makespan")
        legend_above(figure, axes)
    return figure


def worst_against_slots(found: Mapping[str, Line], stated: Mapping[str, Line]) -> Figure:
    """The worst ratio found for each policy as points, the stated bounds as lines."""
    style = inks(list(found))
    with drawing():
        figure = new_figure()
        axes = figure.subplots()
        for name, (slots, ratio) in stated.items():
            axes.plot(slots, ratio, label=f"{name}, bound", **style[name].line)
        for name, marker in zip(found, "os^Dv", strict=False):  # points may lie on each other
            slots, ratio = found[name]
            axes.plot(slots, ratio, marker, color=style[name].colour, ms=6, label=f"{name}, worst found")
        axes.set_xticks(sorted({slot for slots, _ in found.values() for slot in slots}))
        axes.set_ylim(0, 1.05)
        axes.set_xlabel("slots")
        axes.set_ylabel("optimum / makespan")
        legend_above(figure, axes)
    return figure
