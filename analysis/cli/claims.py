"""``serving-sim claims``: what the paper says, held against runs."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.cli.console import progress, say, show, show_json
from analysis.cli.options import Json
from analysis.cli.paths import output_file, output_folder

if TYPE_CHECKING:
    from analysis.experiments.claims import Finding


def claims(
    *,
    context: typer.Context,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Check this claim alone, as in 'Theorem 3.9'; repeatable.", show_default=False),
    ] = None,
    thorough: Annotated[bool, typer.Option("--thorough", help="Try ten times as many instances.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of the instances.", min=0)] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for claims.json, pictures of counterexamples and the page.",
            metavar="DIR",
            parser=output_folder,
            show_default=False,
        ),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            help="Page to write; its pictures go to ../assets/claims beside it.",
            metavar="FILE",
            parser=output_file,
            show_default=False,
        ),
    ] = None,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the result alone.")] = False,
) -> None:
    """Check every claim of the paper that can be run and give a verdict with its evidence.

    A claim that fails is a finding, not an error: the exit code is 0.
    """
    from analysis.experiments.claims import QUICK, THOROUGH, all_claims, examine, find_claims

    chosen = find_claims(only) if only else all_claims()
    say(f"{len(chosen)} claims, seed {seed}, {'thorough' if thorough else 'quick'}", quiet=quiet)
    findings: list[Finding] = []
    try:
        with progress(len(chosen), quiet=quiet) as done:
            done("")  # the bar counts what began; this is the first
            for finding in examine(chosen, seed=seed, budget=THOROUGH if thorough else QUICK):
                findings.append(finding)
                done(finding.claim.name)
    finally:  # an interruption keeps what was found
        findings.sort(key=lambda finding: chosen.index(finding.claim))
        command = shlex.join(["serving-sim", *context.obj])
        _report(findings, seed=seed, thorough=thorough, out=out, json=json, command=command)
    if markdown is not None:
        _write_page(findings, seed, markdown)
        say(f"page is {markdown}", quiet=quiet)


def _report(
    findings: list[Finding], *, seed: int, thorough: bool, out: Path | None, json: bool, command: str
) -> None:
    from analysis.experiments.claims.page import findings_json

    content = findings_json(findings, seed=seed, thorough=thorough)
    if out is not None and findings:
        from analysis.experiments.claims.pictures import counterexample_pictures
        from analysis.experiments.claims.report import claims_page
        from analysis.output import write_json, write_text
        from analysis.version import project_version

        write_json(out / "claims.json", content)  # first, as pictures take longer
        pictures = counterexample_pictures(findings)
        for picture in pictures.values():
            picture.save(out)
        facts = {"Command": command, "Seed": str(seed), "Version": project_version()}
        write_text(out / "report.html", claims_page(findings, pictures, facts=facts))
    if json:
        show_json(content)
    elif findings:
        _show(findings)


def _show(findings: list[Finding]) -> None:
    from analysis.tables import Table

    rows = [
        (
            finding.claim.name,
            str(finding.verdict.kind),
            f"{finding.verdict.instances:,}",
            "-" if finding.verdict.margin is None else f"{finding.verdict.margin:.4g}",
            finding.verdict.evidence,
        )
        for finding in findings
    ]
    show(
        Table(
            "claims of the paper",
            ("claim", "verdict", "instances", "margin", "evidence"),
            rows,
            numbers=False,
        )
    )


def _write_page(findings: list[Finding], seed: int, page: Path) -> None:
    from analysis.experiments.claims.page import findings_page
    from analysis.experiments.claims.pictures import counterexample_pictures
    from analysis.output import write_text

    for picture in counterexample_pictures(findings).values():
        picture.save(page.parent.parent / "assets" / "claims")
    write_text(page, findings_page(findings, seed=seed, pictures="../assets/claims"))
