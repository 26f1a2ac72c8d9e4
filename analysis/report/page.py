"""One HTML page for a comparison, with everything it needs inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.compare import Comparison
from analysis.definitions import REQUEST_METRICS, Definition, definition
from analysis.report.findings import findings, headline
from analysis.report.html import embedded, render, with_pictures
from analysis.report.pictures import Picture
from analysis.report.schedule import schedules
from analysis.report.section import Section
from analysis.tables import comparison_tables, run_metrics
from analysis.text import ABSENT, number
from analysis.time_unit import TimeUnit


def comparison_page(
    comparison: Comparison,
    pictures: Sequence[Picture],
    *,
    sections: Sequence[Section] = (),
    facts: Mapping[str, str],
    time_unit: TimeUnit,
) -> str:
    """HTML text of the report.

    Parameters
    ----------
    comparison : Comparison
        What is reported.
    pictures : sequence of Picture
        Pictures of `comparison_pictures`, embedded as SVG.
    sections : sequence of Section
        What stands after the pictures.
    facts : mapping of str to str
        What was run, by heading.
    time_unit : TimeUnit
        What the runs count time in.
    """
    return render(
        "compare.html",
        title=" · ".join(outcome.policy for outcome in comparison.outcomes),
        headline=headline(comparison, time_unit),
        findings=findings(comparison, time_unit),
        facts=facts,
        cards=_cards(comparison, time_unit),
        tables=comparison_tables(comparison, time_unit, intervals=True),
        pictures=embedded(pictures),
        schedule=schedules(comparison.outcomes),
        sections=with_pictures(sections),
        definitions=_defined(comparison),
        time_unit=time_unit,
        notes=_notes(comparison),
    )


def _defined(comparison: Comparison) -> list[Definition]:
    """All metrics on the page; slowdown is always drawn."""
    keys = {*comparison.metrics, "slowdown"}
    return [*(entry for entry in REQUEST_METRICS if entry.key in keys), *run_metrics(comparison)]


def _cards(comparison: Comparison, time_unit: TimeUnit) -> list[tuple[str, dict[str, str]]]:
    """What to know of each policy at a glance."""
    metric = comparison.metrics[0]
    title = definition(metric).title
    verdicts = {True: "keeps alpha", False: "breaks alpha", None: "no alpha given"}
    cards = []
    for outcome in comparison.outcomes:
        latencies = outcome.metrics[metric]
        shown = ("mean", "p99" if "p99" in latencies else list(latencies)[-1])
        unit = definition(metric).unit_in(time_unit)
        figures = {
            f"{name} {title}": ABSENT
            if (value := latencies[name].value) is None
            else f"{number(value)} {unit}"
            for name in shown
        }
        tokens = time_unit.in_service("tokens")
        figures[f"{tokens} a busy step"] = number(outcome.figures["occupancy"].value)
        gap = number(outcome.figures["extent_max"].value)
        figures["max gap"] = f"{gap} {tokens}, {verdicts[outcome.fair]}"
        cards.append((outcome.policy, figures))
    return cards


def _notes(comparison: Comparison) -> list[str]:
    """Why some estimates have no interval, each reason once, by policy."""
    return list(
        dict.fromkeys(
            f"{outcome.policy}: {estimate.note}"
            for outcome in comparison.outcomes
            for metric in comparison.metrics
            for estimate in outcome.metrics[metric].values()
            if estimate.note is not None
        )
    )
