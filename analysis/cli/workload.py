"""``serving-sim workload``: make, convert, inspect and imitate workloads."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.cli.console import say, show, show_json
from analysis.cli.expand import expand
from analysis.cli.fit import fit
from analysis.cli.options import FileOptions, Json, WorkloadOptions
from analysis.cli.paths import input_path, output_file, output_folder
from analysis.cli.servegen import servegen
from analysis.cli.traffic import Traffic, lines, one_workload, time_unit
from analysis.text import file_name
from analysis.time_unit import TimeUnit
from serving_sim import StepTime, Workload
from serving_sim.how_many import how_many

if TYPE_CHECKING:
    from analysis.inspection import Inspection

app = typer.Typer(help="Make, convert, inspect and imitate workloads.", no_args_is_help=True)


class SplitBy(StrEnum):
    """What tells the parts of a workload apart."""

    TENANT = "tenant"
    MODEL = "model"


_Log = Annotated[
    Path,
    typer.Argument(help="Request log in any format the project reads.", metavar="LOG", parser=input_path),
]
_Out = Annotated[
    Path, typer.Option(help="File to write: .csv, .jsonl or .parquet.", metavar="FILE", parser=output_file)
]
_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing.")]
_Slots = Annotated[
    int | None, typer.Option(help="Slots that the load counts on (default: 32).", min=1, show_default=False)
]


def make(
    out: _Out,
    workload: WorkloadOptions,
    slots: _Slots = None,
    json: Json = False,
    quiet: _Quiet = False,
) -> None:
    """Write a workload to a plain file, made from a distribution or read from a file."""
    from workloads import write_workload

    arrivals, _ = one_workload(workload, slots)
    say(lines(arrivals.facts), quiet=quiet)
    write_workload(arrivals.workloads[0], out, time_unit=arrivals.time_unit)
    say(f"written to {out}", quiet=quiet)
    if json:
        show_json(_written(arrivals, {out: arrivals.workloads[0]}))


def convert(
    log: _Log,
    *,
    out: _Out,
    file: FileOptions,
    slots: _Slots = None,
    split_by: Annotated[
        SplitBy | None,
        typer.Option(
            help="Write a file for each, FILE-NAME, not one for all.",
            case_sensitive=False,
            show_default=False,
        ),
    ] = None,
    json: Json = False,
    quiet: _Quiet = False,
) -> None:
    """Write a request log, shaped if need be, to a plain workload file."""
    from workloads import write_workload
    from workloads.own_inputs import Target, check_output
    from workloads.shaping import split

    arrivals, _ = one_workload(WorkloadOptions(requests=log, **vars(file)), slots)
    say(lines(arrivals.facts), quiet=quiet)
    workload = arrivals.workloads[0]
    parts = {out: workload}
    if split_by is not None:
        parts = _files(out, split(workload, split_by.value), split_by)
    for path in parts:  # all of them before the first is written
        check_output(Target(path, str(path)))
    for path, part in parts.items():
        write_workload(part, path, time_unit=arrivals.time_unit)
        say(f"{how_many(len(part), 'request')} written to {path}", quiet=quiet)
    if json:
        show_json(_written(arrivals, parts))


def _written(arrivals: Traffic, files: Mapping[Path, Workload]) -> dict[str, object]:
    return {
        "facts": arrivals.facts,
        "seed": arrivals.seed,
        "input": arrivals.inputs[0] if arrivals.inputs else None,
        "files": [{"file": str(path), "requests": len(workload)} for path, workload in files.items()],
    }


def _files(out: Path, parts: dict[str, Workload], by: SplitBy) -> dict[Path, Workload]:
    named: dict[Path, list[str]] = {}
    for name in parts:
        path = out.with_name(f"{out.stem}-{file_name(name) or 'none'}{out.suffix}")
        named.setdefault(path, []).append(name)
    together = {path: names for path, names in named.items() if len(names) > 1}
    count = sum(map(len, together.values()))
    for path, (first, second, *_) in together.items():
        raise ValueError(
            f"--split-by={by.value}: {first!r} and {second!r} would both be {path}, and {count} names in all "
            f"share a file; write each of them by itself, with --{by.value} NAME --out FILE"
        )
    return {path: parts[name] for path, (name,) in named.items()}


def inspect(
    *,
    context: typer.Context,
    workload: WorkloadOptions,
    slots: _Slots = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for a report with pictures.", metavar="DIR", parser=output_folder, show_default=False
        ),
    ] = None,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the result alone.")] = False,
) -> None:
    """Describe a workload: how many requests, how long, how often, how bursty, and what fits it."""
    from analysis.inspection import inspect_workload
    from analysis.report.inspection import inspection_tables

    arrivals, counted = one_workload(workload, slots)
    say(lines(arrivals.facts), quiet=quiet)
    unit = time_unit(arrivals, StepTime())
    found = inspect_workload(arrivals.workloads[0], slots=counted, seconds=unit.seconds, span=arrivals.span)
    read = arrivals.inputs[0] if arrivals.inputs else None
    content = {"input": read, **found.to_dict()}
    if out is not None:
        facts = {
            "Command": shlex.join(["serving-sim", *context.obj]),
            "Workload": "; ".join(arrivals.facts),
        }
        _write_report(out, found, content, facts, unit)
        say(f"files are in {out}", quiet=quiet)
    if json:
        show_json(content)
        return
    if read is not None:
        typer.echo(f"rows out of order in the file: {read['out_of_order']:,}\n")
    for table in inspection_tables(found, time_unit=unit):
        show(table)


def _write_report(
    folder: Path,
    found: Inspection,
    content: dict[str, object],
    facts: dict[str, str],
    unit: TimeUnit,
) -> None:
    from analysis.output import write_json, write_text
    from analysis.report import sections_page
    from analysis.report.inspection import inspection_section

    section = inspection_section(found, title="What arrives", time_unit=unit)
    for picture in section.pictures:
        picture.save(folder)
    write_json(folder / "inspect.json", content)
    write_text(folder / "report.html", sections_page(section.title, [section], introduction=(), facts=facts))


app.command("make")(expand(make))
app.command("convert")(expand(convert))
app.command("inspect")(expand(inspect))
app.command("fit")(expand(fit))
app.command("servegen")(expand(servegen))
