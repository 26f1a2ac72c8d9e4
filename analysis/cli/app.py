"""The commands and where they live."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from analysis.cli import (
    adversary,
    calibrate,
    capacity,
    claims,
    compare,
    optimum,
    policies,
    reproduce,
    run,
    steptime,
    study,
    validate,
    watch,
    workload,
)
from analysis.cli.details import detailed
from analysis.cli.expand import expand
from analysis.cli.once import OnceCommand
from analysis.version import project_version

app = typer.Typer(
    name="serving-sim",
    help="Simulate batched LLM serving: schedulers, latency, throughput and fairness.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich" if sys.stdout.isatty() else None,  # boxes are for terminals
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("run")(expand(run.run))
app.command("compare")(expand(compare.compare))
app.command("watch")(expand(watch.watch))
app.command("capacity")(expand(capacity.capacity))
app.command("adversary")(adversary.adversary)
app.command("optimum")(optimum.optimum)
app.command("calibrate")(expand(calibrate.calibrate))
app.command("claims")(claims.claims)
app.command("reproduce")(reproduce.reproduce)
app.command("validate")(validate.validate)
app.command("policies")(policies.policies)
app.add_typer(steptime.app, name="steptime")
app.add_typer(study.app, name="study")
app.add_typer(workload.app, name="workload")

for commands in (app, steptime.app, study.app, workload.app):
    for each in commands.registered_commands:
        assert each.callback is not None
        each.callback = detailed(each.callback)
        each.cls = OnceCommand


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(f"serving-sim {project_version()}")
        raise typer.Exit


@app.callback()
def serving_sim(
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Simulate batched LLM serving: schedulers, latency, throughput and fairness."""
