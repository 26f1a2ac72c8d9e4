"""``serving-sim study``: a grid of simulations that survives whatever stops it."""

from __future__ import annotations

import shlex
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperGroup

from analysis.cli import completion
from analysis.cli.console import progress, say, show, show_json
from analysis.cli.ending import CheckFailedError
from analysis.cli.naming import named
from analysis.cli.options import Jobs, Json
from analysis.cli.paths import input_path, output_file, output_folder
from serving_sim.how_many import how_many

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from typer._click.core import Context

    from analysis.study import Cell, Study
    from analysis.study.backends import Backend
    from analysis.study.run import Standing
    from analysis.tables import Table


class _RunByDefault(TyperGroup):
    """``study FILE.toml`` stands for ``study run FILE.toml``."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["run", *args]
        return super().parse_args(ctx, args)


class BackendName(StrEnum):
    """Where cells are simulated."""

    LOKY = "loky"
    DASK = "dask"


class Axis(StrEnum):
    """What the curves of a plot run along."""

    LOAD = "load"
    REQUEST_RATE = "request-rate"
    ALPHA = "alpha"
    SLOTS = "slots"


app = typer.Typer(
    cls=_RunByDefault,
    help="Run a grid of simulations; 'study FILE.toml' starts it or goes on where it stopped.",
    no_args_is_help=True,
)

_File = Annotated[
    Path, typer.Argument(metavar="FILE", help="Study file in TOML.", parser=input_path, show_default=False)
]
_Modules = Annotated[
    list[str] | None,
    typer.Option(
        "--module",
        help="Module of your own that policies of the study may come from (repeatable).",
        metavar="NAME",
        show_default=False,
    ),
]
_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the result alone.")]


@app.command()
def run(
    file: _File,
    *,
    module: _Modules = None,
    jobs: Jobs = None,
    backend: Annotated[
        BackendName, typer.Option(help="Processes of this machine, or a Dask cluster.", case_sensitive=False)
    ] = BackendName.LOKY,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of Dask's scheduler.", metavar="ADDRESS", show_default=False)
    ] = None,
    json: Json = False,
    quiet: _Quiet = False,
) -> None:
    """Simulate the cells that are not finished yet and keep each as soon as it is."""
    from analysis.study import Store, read_study, run_study
    from analysis.study.lock import sole_worker
    from analysis.study.run import standing
    from analysis.study.store import set_aside

    where = _backend(backend, scheduler, jobs)
    study = read_study(file, module or ())
    with sole_worker(study.store_path):
        moved = set_aside(study.store_path)
        if moved is not None:
            say(f"{study.store_path}: {moved[1]}; kept as {moved[0].name}", quiet=False)
        with Store(study.store_path) as store:
            before = standing(study.cells, store.read())
            say(f"{file}: {_in_words(before)}", quiet=quiet)
            with progress(len(before.to_do), quiet=quiet) as begin:
                begin("")  # the bar counts what began; this is the first
                try:
                    failed = run_study(study, store, where, lambda cell: begin(cell.policy))
                except KeyboardInterrupt:
                    now = _in_words(standing(study.cells, store.read()))
                    say(f"{now}; kept in {study.store_path}, the same command goes on", quiet=quiet)
                    raise
            after = standing(study.cells, store.read())
    say(f"{_in_words(after)}; kept in {study.store_path}", quiet=quiet)
    if json:
        show_json(_as_json(study, after))
    _report_failures(failed)
    if failed:
        raise CheckFailedError


@app.command()
def status(file: _File, *, module: _Modules = None, json: Json = False) -> None:
    """Tell how far a study is, and which cells failed."""
    from analysis.study import read_study
    from analysis.study.lock import is_running
    from analysis.study.run import standing
    from analysis.study.store import kept_cells

    study = read_study(file, module or ())
    now = standing(study.cells, kept_cells(study.store_path))
    running = is_running(study.store_path)
    if json:
        show_json(_as_json(study, now) | {"running": running})
        return
    show(_status_table(now, running=running))
    _report_failures(now.failed)


@app.command()
def export(
    file: _File,
    *,
    module: _Modules = None,
    out: Annotated[
        Path, typer.Option(help="File to write: .csv or .parquet.", metavar="FILE", parser=output_file)
    ],
    json: Json = False,
    quiet: _Quiet = False,
) -> None:
    """Write the finished cells as one table, a row a cell."""
    from analysis.output import write_frame

    study, table = _finished(file, module or ())
    write_frame(out, table)
    say(f"{len(table):,} of {how_many(len(study.cells), 'cell')} written to {out}", quiet=quiet)
    if json:
        show_json({"file": str(out), "cells": len(study.cells), "written": len(table)})


@app.command()
def plot(
    file: _File,
    *,
    module: _Modules = None,
    context: typer.Context,
    out: Annotated[Path, typer.Option(help="Folder for the pictures.", metavar="DIR", parser=output_folder)],
    against: Annotated[
        Axis | None,
        typer.Option(
            help="What the curves run along (default: the first of them with several values).",
            case_sensitive=False,
            show_default=False,
        ),
    ] = None,
    metrics: Annotated[
        str,
        typer.Option(
            help="Metrics to draw, of requests or of runs, as in ttft,throughput.",
            autocompletion=completion.metrics,
        ),
    ] = "e2el,queue_time,slowdown",
    baseline: Annotated[
        str | None,
        typer.Option(
            help="Also give the differences of all others from this policy, as the page names it, paired by "
            "replication.",
            metavar="POLICY",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
    quiet: _Quiet = False,
) -> None:
    """Draw the finished cells: a picture a metric with one line a policy, and a page."""
    from analysis.definitions import check_metric
    from analysis.output import write_text
    from analysis.report.study import study_page, study_sections
    from analysis.study.curves import axis_of
    from analysis.study.description import described
    from analysis.study.differences import difference_records
    from analysis.version import project_version

    study, table = _finished(file, module or ())
    axis = axis_of(study.cells) if against is None else against.value.replace("-", "_")
    drawn = [check_metric(name.strip()) for name in metrics.split(",")]
    sections = study_sections(table, drawn, axis, study.time_unit, baseline)
    for section in sections:
        for picture in section.pictures:
            picture.save(out)
    warmup = study.cells[0].settings.warmup
    facts = {
        "Command": shlex.join(["serving-sim", *context.obj]),
        **described(study),
        "Cells": f"{len(table):,} of {len(study.cells):,}",
        "Replications": f"{table['replication'].max()}",
        **({"Left out as warm-up": f"first {warmup:,} requests of each run"} if warmup else {}),
        "Version": project_version(),
    }
    write_text(out / "report.html", study_page(f"Study {file.stem}", sections, facts))
    say(f"files are in {out}, read {out / 'report.html'} first", quiet=quiet)
    if json:
        pictures = [str(out / picture.name) for section in sections for picture in section.pictures]
        show_json(
            {
                "page": str(out / "report.html"),
                "pictures": pictures,
                "cells": len(table),
                "differences": [] if baseline is None else difference_records(table, drawn, axis, baseline),
            }
        )


def _finished(file: Path, modules: Sequence[str]) -> tuple[Study, pd.DataFrame]:
    """A study and the table of its finished cells, of which there must be one."""
    from analysis.study import read_study, study_table
    from analysis.study.store import kept_cells

    study = read_study(file, modules)
    table = study_table(study, kept_cells(study.store_path))
    if table.empty:
        raise ValueError(f"{file}: no cell is finished yet, 'serving-sim study {file}' runs it")
    return study, table


def _backend(backend: BackendName, scheduler: str | None, jobs: int | None) -> Backend:
    from analysis.study.backends import Dask, Loky
    from analysis.workers import processes

    if backend is BackendName.LOKY:
        if scheduler is not None:
            raise ValueError("--scheduler: needs --backend dask")
        return Loky(processes(jobs))
    if scheduler is None:
        raise ValueError("--backend dask: needs --scheduler ADDRESS")
    if jobs is not None:
        raise ValueError("--jobs: cannot go with --backend dask, the cluster has the workers it has")
    if find_spec("distributed") is None:
        raise ImportError("--backend dask: needs Dask: pip install 'serving-sim[dask]'")
    from distributed.comm.addressing import get_address_host_port

    with named(f"--scheduler={scheduler!r}"):
        get_address_host_port(scheduler)
    return Dask(scheduler)


def _in_words(found: Standing) -> str:
    """As in ``200 cells: 120 done, 80 missing``."""
    counts = {name: number for name, number in _counts(found).items() if number}
    total = sum(counts.values())
    return f"{how_many(total, 'cell')}: " + ", ".join(f"{number:,} {name}" for name, number in counts.items())


def _counts(found: Standing) -> dict[str, int]:
    return {
        "done": len(found.done),
        "missing": len(found.missing),
        "of another definition": len(found.outdated),
        "failed": len(found.failed),
    }


def _as_json(study: Study, found: Standing) -> dict[str, object]:
    failed = [{"cell": str(cell), "error": error} for cell, error in found.failed]
    counts = {
        "done": len(found.done),
        "missing": len(found.missing),
        "outdated": len(found.outdated),
        "failed": len(found.failed),
    }
    return {"store": str(study.store_path), "cells": counts, "failures": failed}


def _status_table(found: Standing, *, running: bool) -> Table:
    from analysis.tables import Table

    rows = [(name, f"{number:,}") for name, number in _counts(found).items()]
    state = "a process is running it" if running else "no process is running it"
    return Table(f"cells of the study; {state}", ("", "cells"), rows)


def _report_failures(failed: Sequence[tuple[Cell, str]]) -> None:
    for cell, error in failed:
        say(f"failed: {cell}: {error}", quiet=False)
