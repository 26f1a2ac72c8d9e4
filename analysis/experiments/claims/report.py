"""Findings as a web page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.experiments.claims.claim import Finding
from analysis.experiments.claims.page import counts, effort, sentence
from analysis.experiments.claims.runner import SECTIONS
from analysis.report import Picture, Section, sections_page
from analysis.tables import Table
from analysis.text import ABSENT, number

_INTRODUCTION = (
    (
        "Every statement of Yao and Zhou, Efficiency and Cost Alignment in Batched LLM Serving via "
        "Resource-Fair Scheduling, that can be run is a check here. A claim stands first, in our words; the "
        "verdict comes from the run."
    ),
    (
        "A claim that holds was true on every instance tried, which is evidence and no proof: another seed "
        "may find what this one missed. The margin is the smallest distance to the claimed bound. A claim "
        "that fails is settled by its instance, to be checked by hand in the picture: a bar is a request "
        "with its length."
    ),
)

_HEADER = ("claim", "tested", "verdict", "instances", "margin")


def claims_page(
    findings: Sequence[Finding], pictures: Mapping[str, Picture], *, facts: Mapping[str, str]
) -> str:
    """HTML text of the page, with everything it needs inside.

    Parameters
    ----------
    findings : sequence of Finding
        In the order of the paper.
    pictures : mapping of str to Picture
        Counterexamples by claim.
    facts : mapping of str to str
        What was run, by heading.
    """
    by_claim = {finding.claim.name: finding for finding in findings}
    overview = Section("overview", "All claims", (), [counts(findings)], [_table("verdicts", findings)])
    sections = [overview]
    for place, (title, claims) in enumerate(SECTIONS.items(), start=1):
        present = [by_claim[claim.name] for claim in claims if claim.name in by_claim]
        if present:
            drawn = [pictures[each.claim.name] for each in present if each.claim.name in pictures]
            section = Section(
                f"section-{place}",
                title,
                [_statement(each) for each in present],
                [_verdict(each) for each in present],
                pictures=drawn,
            )
            sections.append(section)
    return sections_page("The claims of the paper, run", sections, introduction=_INTRODUCTION, facts=facts)


def _table(title: str, findings: Sequence[Finding]) -> Table:
    rows = [
        (
            each.claim.name,
            each.claim.tested or ABSENT,
            str(each.verdict.kind),
            f"{each.verdict.instances:,}" if each.verdict.instances else ABSENT,
            ABSENT if each.verdict.margin is None else number(each.verdict.margin),
        )
        for each in findings
    ]
    return Table(title, _HEADER, rows, numbers=False)


def _statement(finding: Finding) -> str:
    claim = finding.claim
    reading = f" Our reading: {claim.reading}" if claim.reading else ""
    return f"{claim.name}: {claim.states} Assumes: {claim.assumes}.{reading}"


def _verdict(finding: Finding) -> str:
    verdict = finding.verdict
    why = f" {sentence(verdict.why)}" if verdict.why else ""
    return f"{finding.claim.name} {verdict.kind}{effort(finding)}. {sentence(verdict.evidence)}{why}"
