"""``serving-sim reproduce``: the paper's tables and figures, measured."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.cli import completion
from analysis.cli.console import progress, say, show, show_json
from analysis.cli.options import Jobs, Json
from analysis.cli.paths import output_folder

if TYPE_CHECKING:
    from analysis.experiments.reproduce.experiment import Settings
    from analysis.report.section import Section


def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            help="table1 to table3, fig4 to fig7, golden-ratio, who-pays, guarantees, nested-frontier, "
            "pooling, demand, or all.",
            autocompletion=completion.experiment,
        ),
    ],
    *,
    context: typer.Context,
    out: Annotated[
        Path,
        typer.Option(
            help="Folder for tables, pictures and the page; what is finished there is kept.",
            metavar="DIR",
            parser=output_folder,
        ),
    ] = Path("reproduced"),
    sets: Annotated[
        int, typer.Option(help="Sets of five replications of the profit experiment.", min=2, max=10_000)
    ] = 100,
    replications: Annotated[
        int, typer.Option(help="Replications of the experiments on arrivals.", min=2, max=10_000)
    ] = 10,
    jobs: Jobs = None,
    seed: Annotated[int, typer.Option(help="Where all randomness comes from.", min=0)] = 0,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the result alone.")] = False,
) -> None:
    """Run an experiment of the paper and print its numbers beside those measured."""
    from analysis.experiments.reproduce import catalogue
    from analysis.experiments.reproduce.experiment import Settings
    from analysis.workers import processes

    experiments = catalogue.find(name)
    settings = Settings(seed=seed, sets=sets, replications=replications)
    say(
        f"{', '.join(each.name for each in experiments)}: {sets} sets of five replications, "
        f"{replications} replications with arrivals, seed {seed}",
        quiet=quiet,
    )
    with progress(catalogue.count_tasks(experiments, settings), quiet=quiet) as done:
        done("")  # the bar counts what began; this is the first
        items = catalogue.reproduce(experiments, settings, folder=out, jobs=processes(jobs), done=done)
        sections = [item.section for item in items]
    command = shlex.join(["serving-sim", *context.obj])
    page = catalogue.write_page(sections, settings, folder=out, command=command)
    if json:
        _print_json(sections, settings, page)
    else:
        _show(sections)
    say(f"files are in {out}, read {page} first", quiet=quiet)


def _show(sections: Sequence[Section]) -> None:
    for section in sections:
        for table in section.tables:
            show(table)
        typer.echo("\n".join([f"{section.title}:", *(f"- {text}" for text in section.found), ""]))


def _print_json(sections: Sequence[Section], settings: Settings, page: Path) -> None:
    from analysis.version import project_version

    experiments = [
        {
            "name": section.name,
            "title": section.title,
            "found": section.found,
            "tables": [asdict(table) for table in section.tables],
        }
        for section in sections
    ]
    show_json(
        {
            "version": project_version(),
            "settings": asdict(settings),
            "page": str(page),
            "experiments": experiments,
        }
    )
