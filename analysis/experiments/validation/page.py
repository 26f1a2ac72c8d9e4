"""Findings as tables, as a web page and as a page of the documentation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import fill

import pandas as pd

from analysis.experiments.validation.check import TOLERANCE, Check
from analysis.experiments.validation.runner import Finding
from analysis.experiments.validation.settings import Settings
from analysis.plots.deviations import deviations
from analysis.report import Picture, Section, sections_page
from analysis.tables import Table
from analysis.text import ABSENT

_TITLE = "The simulator against queueing theory"

_HEADER = ("system", "quantity", "simulated", "standard error", "expected", "distance", "verdict")

_INTRODUCTION = (
    (
        "Queueing theory knows some systems exactly. Here they are simulated and compared with it: one row a "
        f"number. A number passes within {TOLERANCE:g} standard errors of theory, which chance alone exceeds "
        "once in some thousand rows; a number that chance has no part in must be equal, but for rounding. "
        "The distance is in standard errors."
    ),
    (
        "Time is slotted: steps take one time unit, and an empty worker too starts at whole times only. This "
        "is the mode with exact theory. B is the number of slots, the load the share of them in use. Queues "
        "start empty; the first tenth of every run is left out. Little's law, L = lambda W, is checked in "
        "every single run and counted apart. No two systems share random numbers."
    ),
)

_READING = (
    "One dot a number: how many standard errors the simulation lies from theory. About 95 of 100 dots belong "
    "into the shaded band, and all between the dashed lines. Numbers of one system move together."
)


def to_frame(findings: Sequence[Finding]) -> pd.DataFrame:
    """One row a check."""
    return pd.DataFrame(rows(findings))


def rows(findings: Sequence[Finding]) -> list[dict[str, object]]:
    """The checks by the names of their columns."""
    return [
        {
            "chapter": finding.chapter.name,
            "system": check.case,
            "quantity": check.quantity,
            "simulated": check.found,
            "standard_error": check.error,
            "expected": check.expected,
            "deviation": check.deviation,
            "met": check.met,
        }
        for finding in findings
        for check in finding.checks
    ]


def to_table(finding: Finding) -> Table:
    """The checks of a chapter as people read them."""
    return Table(finding.chapter.title, _HEADER, [_cells(check) for check in finding.checks])


def overview(findings: Sequence[Finding]) -> Picture:
    """All distances from theory in one picture."""
    distances = {
        finding.chapter.title: [check.deviation for check in finding.checks if check.deviation is not None]
        for finding in findings
    }
    shown = {title: values for title, values in distances.items() if values}
    return Picture("deviations", "Distance from theory", _READING, deviations(shown, TOLERANCE))


def html_page(findings: Sequence[Finding], settings: Settings, picture: Picture, *, command: str) -> str:
    """The whole validation as one self-contained page."""
    chapters = [
        Section(
            finding.chapter.name,
            finding.chapter.title,
            [finding.chapter.measures],
            [outcome(finding)],
            [to_table(finding)] if finding.checks else [],
        )
        for finding in findings
    ]
    first = Section("overview", "Overview", [_READING], [_total(findings)], pictures=[picture])
    facts = {"Command": command, **_facts(settings)}
    return sections_page(_TITLE, [first, *chapters], introduction=_INTRODUCTION, facts=facts)


def markdown_page(findings: Sequence[Finding], settings: Settings, *, pictures: str, command: str) -> str:
    """The whole validation as a page of the documentation.

    Parameters
    ----------
    findings : sequence of Finding
        In the order of the page.
    settings : Settings
        What was simulated.
    pictures : str
        Folder of the picture as links of the page name it.
    command : str
        How the page came about.
    """
    return "\n".join(_markdown(findings, settings, pictures, command))


def outcome(finding: Finding) -> str:
    """How many checks of a chapter are met, or why there are none."""
    reason = finding.chapter.absent()
    if not finding.checks and reason is not None:
        return reason
    if finding.identity:
        return f"{finding.met} of {len(finding.checks)} systems keep it."
    return f"{finding.met} of {len(finding.checks)} numbers agree with theory."


def _total(findings: Sequence[Finding]) -> str:
    known = [each for each in findings if not each.identity]
    met, all_checks = sum(each.met for each in known), sum(len(each.checks) for each in known)
    return f"{met} of {all_checks} numbers agree with theory."


def _markdown(findings: Sequence[Finding], settings: Settings, pictures: str, command: str) -> Iterator[str]:
    yield f"# {_TITLE}\n"
    for paragraph in _INTRODUCTION:
        yield _wrapped(paragraph)
    yield _wrapped(
        f"**{_total(findings)}** This page is what `{command}` writes: {_size(settings)}. The same with "
        "`--quick` takes half a minute, and the tests repeat it on yet shorter runs."
    )
    yield f"![Distance from theory]({pictures}/deviations.svg)\n"
    yield _wrapped(_READING)
    for finding in findings:
        yield f"## {finding.chapter.title}\n"
        yield _wrapped(finding.chapter.measures)
        yield _wrapped(outcome(finding))
        if finding.checks:
            table = to_table(finding)
            yield f"| {' | '.join(table.header)} |"
            yield f"|{' --- |' * 2}{' ---: |' * 4} --- |"
            yield from (f"| {' | '.join(row)} |" for row in table.rows)
            yield ""


def _wrapped(paragraph: str) -> str:
    return fill(paragraph, 105, break_long_words=False, break_on_hyphens=False) + "\n"


def _facts(settings: Settings) -> dict[str, str]:
    return {"Seed": str(settings.seed), "Size": _size(settings)}


def _size(settings: Settings) -> str:
    return (
        f"{settings.replications} runs of {settings.requests:,} requests of each system, "
        f"{settings.identity_requests:,} requests where every start is compared, seed {settings.seed}"
    )


def _cells(check: Check) -> tuple[str, ...]:
    return (
        check.case,
        check.quantity,
        f"{check.found:.6g}",
        ABSENT if check.error is None else f"{check.error:.2g}",
        f"{check.expected:.6g}",
        ABSENT if check.deviation is None else f"{check.deviation:+.2f}",
        "agrees" if check.met else "DIFFERS",
    )
