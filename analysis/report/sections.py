"""One HTML page for experiments, with everything it needs inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.report.html import render, with_pictures
from analysis.report.section import Section


def sections_page(
    title: str, sections: Sequence[Section], *, introduction: Sequence[str], facts: Mapping[str, str]
) -> str:
    """HTML text of a report of experiments.

    Parameters
    ----------
    title : str
        Heading of the page.
    sections : sequence of Section
        Experiments in the order of the page; pictures are embedded as SVG.
    introduction : sequence of str
        What a reader must know first, in paragraphs.
    facts : mapping of str to str
        What was run, by heading.
    """
    return render(
        "sections.html",
        title=title,
        introduction=introduction,
        facts=facts,
        sections=with_pictures(sections),
    )
