"""``serving-sim validate``: the simulator against queueing theory."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.cli.console import progress, say, show, show_json
from analysis.cli.ending import CheckFailedError
from analysis.cli.options import Jobs, Json
from analysis.cli.paths import output_file, output_folder

if TYPE_CHECKING:
    from analysis.experiments.validation import Finding, Settings


def validate(
    *,
    context: typer.Context,
    out: Annotated[
        Path,
        typer.Option(
            help="Folder for the table, the picture and the page; what is finished there is kept.",
            metavar="DIR",
            parser=output_folder,
        ),
    ] = Path("validated"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Shorter runs: half a minute instead of minutes.")
    ] = False,
    jobs: Jobs = None,
    seed: Annotated[int, typer.Option(help="Where all randomness comes from.", min=0)] = 0,
    markdown: Annotated[
        Path | None,
        typer.Option(
            help="Page to write; its picture goes to ../assets/validation beside it.",
            metavar="FILE",
            parser=output_file,
            show_default=False,
        ),
    ] = None,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the result alone.")] = False,
) -> None:
    """Hold simulated waits and latencies against exact theory; exit with 1 where they differ."""
    from analysis.experiments import validation
    from analysis.workers import processes

    settings = validation.quick(seed) if quick else validation.full(seed)
    systems = validation.count_tasks(settings)
    say(
        f"{systems} systems, {settings.replications} runs of {settings.requests:,} requests, seed {seed}",
        quiet=quiet,
    )
    with progress(systems, quiet=quiet) as done:
        done("")  # the bar counts what began; this is the first
        findings = validation.validate(settings, folder=out, jobs=processes(jobs), done=done)
    _write(findings, settings, out, markdown, command=shlex.join(["serving-sim", *context.obj]))
    if json:
        _print_json(findings, settings, out / "report.html")
    else:
        _show(findings)
    say(f"files are in {out}, read {out / 'report.html'} first", quiet=quiet)
    if any(finding.met < len(finding.checks) for finding in findings):
        raise CheckFailedError


def _write(
    findings: list[Finding], settings: Settings, out: Path, markdown: Path | None, *, command: str
) -> None:
    from analysis.experiments.validation.page import html_page, markdown_page, overview, to_frame
    from analysis.output import write_frame, write_text

    picture = overview(findings)
    write_frame(out / "validation.csv", to_frame(findings))
    picture.save(out)
    write_text(out / "report.html", html_page(findings, settings, picture, command=command))
    if markdown is not None:
        picture.save(markdown.parent.parent / "assets" / "validation")
        write_text(
            markdown, markdown_page(findings, settings, pictures="../assets/validation", command=command)
        )


def _show(findings: list[Finding]) -> None:
    from analysis.experiments.validation.page import outcome, to_table

    for finding in findings:
        if finding.checks:
            show(to_table(finding))
        typer.echo(f"{finding.chapter.title}: {outcome(finding)}\n")


def _print_json(findings: list[Finding], settings: Settings, page: Path) -> None:
    from analysis.experiments.validation.page import outcome, rows
    from analysis.version import project_version

    chapters = [
        {
            "name": finding.chapter.name,
            "title": finding.chapter.title,
            "outcome": outcome(finding),
            "checks": rows([finding]),
        }
        for finding in findings
    ]
    show_json(
        {"version": project_version(), "settings": asdict(settings), "page": str(page), "chapters": chapters}
    )
