"""Findings as a documentation page and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from analysis.experiments.claims.cases import Case
from analysis.experiments.claims.claim import Counterexample, Finding, Kind
from analysis.experiments.claims.pictures import picture_name, reading
from analysis.experiments.claims.runner import SECTIONS
from analysis.experiments.claims.verdicts import described

_HEAD = """\
# The claims of the paper, run

Every proposition, lemma, theorem, corollary, example, table and worked remark of Yao and Zhou,
*Efficiency and Cost Alignment in Batched LLM Serving via Resource-Fair Scheduling*, that can be run is a
check here. A claim is stated first, in our words, with its assumptions and our reading of what the paper
leaves open; the verdict comes from the run and from nowhere else:

- **holds**: true on every instance tried; the margin is the smallest distance to the claimed bound;
- **holds exactly**: an identity, met without rounding on every instance tried;
- **reproduced**: the stated numbers or their order come out again;
- **fails**: false on the instance shown, or at odds with the paper's own numbers;
- **not testable**: nothing that can be run decides it.

A check that holds is evidence, not a proof: another seed may find what this one missed. A check that
fails is settled by its instance: the optimum beside it comes from CP-SAT, its schedule is checked by code
that shares nothing with engine and solver, and both can be checked by hand in the picture, where a bar is
a request with its length.
"Guarded" is ISJL with our test in Phase ONE, "as printed" is algorithm 3 word for word.
"""

_FOOT = """\
This page is what `serving-sim claims --markdown docs/explanation/claims.md` writes, with seed {seed};
`serving-sim claims --thorough` tries ten times as many instances, `--only "Theorem 3.9"` one claim.
"""


def findings_page(findings: Sequence[Finding], *, seed: int, pictures: str) -> str:
    """Markdown page of the findings.

    Parameters
    ----------
    findings : sequence of Finding
        In the order of the paper.
    seed : int
        What they were found with.
    pictures : str
        Folder of the pictures as links of the page name it.
    """
    by_claim = {finding.claim.name: finding for finding in findings}
    parts = [_HEAD, f"{counts(findings)}\n", _overview(findings)]
    for section, claims in SECTIONS.items():
        present = [by_claim[claim.name] for claim in claims if claim.name in by_claim]
        if present:
            parts.append(f"## {section}\n")
            parts += [finding_entry(finding, pictures=pictures) for finding in present]
    parts.append(f"---\n\n{_FOOT.format(seed=seed)}")
    return "\n".join(parts)


def finding_entry(finding: Finding, *, pictures: str) -> str:
    """What the page says of one claim."""
    return "\n".join(_entry(finding, pictures))


def findings_json(findings: Sequence[Finding], *, seed: int, thorough: bool) -> dict[str, object]:
    """Findings for programs; whole numbers stay exact."""
    return {
        "seed": seed,
        "thorough": thorough,
        "counts": dict(Counter(str(finding.verdict.kind) for finding in findings)),
        "claims": [
            {
                "name": finding.claim.name,
                "states": finding.claim.states,
                "assumes": finding.claim.assumes,
                "reading": finding.claim.reading,
                "tested": finding.claim.tested,
                "verdict": str(finding.verdict.kind),
                "evidence": finding.verdict.evidence,
                "instances": finding.verdict.instances,
                "margin": finding.verdict.margin,
                "why": finding.verdict.why,
                "counterexample": _example(finding.verdict.counterexample),
            }
            for finding in findings
        ],
    }


def _example(example: Counterexample | None) -> dict[str, object] | None:
    return None if example is None else asdict(example)


def counts(findings: Sequence[Finding]) -> str:
    """How many claims came to which verdict."""
    kinds = Counter(finding.verdict.kind for finding in findings)
    return (
        f"{len(findings)} claims: " + ", ".join(f"{kinds[kind]} {kind}" for kind in Kind if kinds[kind]) + "."
    )


def _overview(findings: Sequence[Finding]) -> str:
    rows = ["| claim | tested | verdict |", "| --- | --- | --- |"]
    rows += [
        f"| [{finding.claim.name}](#{_anchor(finding)}) | {finding.claim.tested or '-'} "
        f"| {_emphasised(finding.verdict.kind)} |"
        for finding in findings
    ]
    return "\n".join(rows) + "\n"


def _entry(finding: Finding, pictures: str) -> Iterator[str]:
    claim, verdict = finding.claim, finding.verdict
    yield f'### <a id="{_anchor(finding)}"></a>{claim.name}\n'
    yield f"{claim.states}\n"
    yield f"- Assumes: {claim.assumes}."
    if claim.reading:
        yield f"- Our reading: {claim.reading}"
    if claim.tested:
        yield f"- Tested: {claim.tested}."
    yield f"- Verdict: **{verdict.kind}**{effort(finding)}. {sentence(verdict.evidence)}"
    if verdict.why:
        yield f"- Why: {verdict.why}."
    yield ""
    if verdict.counterexample is not None:
        yield from _shown(finding, verdict.counterexample, pictures)


def effort(finding: Finding) -> str:
    """Instances tried and margin in parentheses; empty where there are none."""
    verdict = finding.verdict
    tried = f"{verdict.instances:,} instances" if verdict.instances else ""
    margin = "" if verdict.margin is None else f"margin {verdict.margin:.4g}"
    text = ", ".join(part for part in (tried, margin) if part)
    return f" ({text})" if text else ""


def _shown(finding: Finding, example: Counterexample, pictures: str) -> Iterator[str]:
    what = described(Case(example.instance, example.upper))
    yield f"![Schedules for {what}]({pictures}/{picture_name(finding)}.svg)\n"
    yield f"{reading(example)}\n"


def _anchor(finding: Finding) -> str:
    return picture_name(finding)


def _emphasised(kind: Kind) -> str:
    return f"**{kind}**" if kind is Kind.FAILS else str(kind)


def sentence(text: str) -> str:
    """The text with a capital and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."
