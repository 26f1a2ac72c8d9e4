"""``serving-sim workload``: make and inspect workloads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.cli.console import say, show
from analysis.cli.expand import expand
from analysis.cli.options import WorkerOptions, WorkloadOptions
from analysis.cli.preset import with_defaults
from analysis.cli.traffic import Traffic, lines, time_unit, traffic
from analysis.time_unit import TimeUnit
from serving_sim import StepTime

if TYPE_CHECKING:
    from analysis.tables import Table

app = typer.Typer(help="Make and inspect workloads.", no_args_is_help=True)


_Slots = Annotated[
    int | None, typer.Option(help="Slots that the load counts on (default: 32).", min=1, show_default=False)
]


def make(
    out: Annotated[
        Path, typer.Option(help="File to write: .csv, .jsonl or .parquet.", metavar="FILE", dir_okay=False)
    ],
    workload: WorkloadOptions,
    slots: _Slots = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing.")] = False,
) -> None:
    """Write a workload to a plain file, made from a distribution or converted from a trace."""
    from workloads import write_workload

    arrivals, _ = _one(workload, slots)
    say(lines(arrivals.facts), quiet=quiet)
    write_workload(arrivals.workloads[0], out)
    say(f"written to {out}", quiet=quiet)


def inspect(
    workload: WorkloadOptions,
    slots: _Slots = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the result alone.")] = False,
) -> None:
    """Describe a workload: how many requests, how long, how often, how bursty."""
    from analysis.json_text import to_json
    from analysis.workload_facts import workload_facts

    arrivals, counted = _one(workload, slots)
    say(lines(arrivals.facts), quiet=quiet)
    facts = workload_facts(arrivals.workloads[0], slots=counted)
    if json:
        typer.echo(to_json(facts), nl=False)
    else:
        show(_table(facts, time_unit(workload, StepTime())))


def _one(options: WorkloadOptions, slots: int | None) -> tuple[Traffic, int]:
    """The one workload that ``options`` name, and the slots that its load counts on."""
    if options.replications > 1:
        raise ValueError(f"--replications={options.replications}: must be 1, this is about one workload")
    workload, worker = with_defaults(options, WorkerOptions(slots=slots))
    assert worker.slots is not None
    return traffic(workload, slots=worker.slots, step_time=StepTime()), worker.slots


def _table(facts: dict[str, float | int | None], unit: TimeUnit) -> Table:
    from analysis.tables import Table
    from analysis.text import number

    rows = [(name.replace("_", " "), number(value)) for name, value in facts.items()]
    return Table(f"times in {unit.plural}", ("", "value"), rows)


app.command("make")(expand(make))
app.command("inspect")(expand(inspect))
