"""One HTML page for a comparison, with everything it needs inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.compare import Comparison
from analysis.definitions import REQUEST_METRICS
from analysis.report.html import embedded, render, with_pictures
from analysis.report.pictures import Picture
from analysis.report.schedule import schedules
from analysis.report.section import Section
from analysis.tables import comparison_tables
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
        facts=facts,
        tables=comparison_tables(comparison, time_unit),
        pictures=embedded(pictures),
        schedule=schedules(comparison.outcomes),
        sections=with_pictures(sections),
        definitions=[entry for entry in REQUEST_METRICS if entry.key in comparison.metrics],
        time_unit=time_unit,
        notes=_notes(comparison),
    )


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
