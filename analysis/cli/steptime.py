"""``serving-sim steptime``: how long a step takes, from measured ones."""

from __future__ import annotations

import math
import shlex
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from analysis.cli.console import say, show, show_json
from analysis.cli.options import Json, OnBadRow
from analysis.cli.paths import input_path, output_folder
from analysis.cli.shaping import input_record, offering_to_drop, rows_line
from analysis.time_unit import TimeUnit

if TYPE_CHECKING:
    from analysis.report import Section
    from serving_sim import StepTime

app = typer.Typer(help="How long a step takes, from measured ones.", no_args_is_help=True)


@app.command("fit")
def fit(
    steps: Annotated[
        Path,
        typer.Argument(
            help="Measured steps, with columns batch_size, max_kv_tokens, sum_kv_tokens and milliseconds.",
            metavar="STEPS",
            parser=input_path,
        ),
    ],
    *,
    context: typer.Context,
    time_unit: Annotated[float, typer.Option(help="Seconds per time unit.", metavar="SECONDS")] = 1.0,
    on_bad_row: Annotated[
        OnBadRow, typer.Option(help="Stop at a bad row or drop it.", case_sensitive=False)
    ] = OnBadRow.ERROR,
    seed: Annotated[int, typer.Option(help="Seed of what is held out.", min=0)] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for a report with pictures.", metavar="DIR", parser=output_folder, show_default=False
        ),
    ] = None,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the result alone.")] = False,
) -> None:
    """Fit the step time of a worker to steps that an engine has measured."""
    from analysis.report.steptime import step_time_section, step_time_tables
    from analysis.steptime import fit_step_time, read_steps

    if not 0 < time_unit < math.inf:
        raise ValueError(f"--time-unit={time_unit!r}: must be a finite number of seconds > 0")
    with offering_to_drop():
        measured, report = read_steps(steps, on_bad_row=on_bad_row.value)
    say(rows_line(report, ()), quiet=quiet)
    found = fit_step_time(measured, seed)
    option = _option(found.step_time(time_unit))
    unit = TimeUnit.of(steps=False, seconds=time_unit)
    advice = f"to simulate in {unit.plural}: --step-time {option} --time-unit {time_unit:.15g}"
    content = {
        "input": input_record(report, ()),
        **found.to_dict(),
        "time_unit": time_unit,
        "step_time": option,
    }
    if out is not None:
        facts = {"Command": shlex.join(["serving-sim", *context.obj]), "Steps": rows_line(report, ())}
        _write(out, step_time_section(found, measured, advice), content, facts)
        say(f"files are in {out}", quiet=quiet)
    if json:
        show_json(content)
        return
    for table in step_time_tables(found):
        show(table)
    typer.echo(advice)


def _option(step_time: StepTime) -> str:
    """What ``--step-time`` takes; coefficients left out are 0."""
    values = {field.name: getattr(step_time, field.name) for field in fields(step_time)}
    return ",".join(f"{name}={value!r}" for name, value in values.items() if value)


def _write(folder: Path, section: Section, content: dict[str, Any], facts: dict[str, str]) -> None:
    from analysis.output import write_json, write_text
    from analysis.report import sections_page

    for picture in section.pictures:
        picture.save(folder)
    write_json(folder / "steptime.json", content)
    write_text(folder / "report.html", sections_page(section.title, [section], introduction=(), facts=facts))
