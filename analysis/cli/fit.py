"""``serving-sim workload fit``: a stand-in for a log that cannot be shared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.cli.console import say, show, show_json
from analysis.cli.options import FileOptions, Json, WorkloadOptions
from analysis.cli.paths import input_path, output_file
from analysis.cli.traffic import lines, one_workload, time_unit
from serving_sim import StepTime

if TYPE_CHECKING:
    from analysis.standin import Match
    from analysis.tables import Table
    from analysis.time_unit import TimeUnit

_COMMENT = """\
A workload like a request log, made by serving-sim workload fit.
No row of the log stands here: lengths are given by their quantiles, arrivals by counts in windows of
time and the quantiles of their gaps. To serve it: serving-sim run --workload FILE --policy fcfs\
"""


def fit(
    log: Annotated[
        Path,
        typer.Argument(help="Request log in any format the project reads.", metavar="LOG", parser=input_path),
    ],
    *,
    out: Annotated[
        Path, typer.Option(help="Specification to write, in TOML.", metavar="FILE", parser=output_file)
    ],
    file: FileOptions,
    slots: Annotated[
        int | None,
        typer.Option(help="Slots that the load counts on (default: 32).", min=1, show_default=False),
    ] = None,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the result alone.")] = False,
) -> None:
    """Write a specification of workloads like a log, without its rows, and say how well it matches."""
    from analysis.standin import fit_specification, match
    from workloads import write_specification

    options = WorkloadOptions(requests=log, **vars(file))
    arrivals, counted = one_workload(options, slots)
    say(lines(arrivals.facts), quiet=quiet)
    workload = arrivals.workloads[0]
    specification = fit_specification(workload, time_unit=arrivals.time_unit)
    write_specification(specification, out, _COMMENT)
    say(f"written to {out}", quiet=quiet)
    unit = time_unit(arrivals, StepTime())
    found = match(workload, specification.workload(file.seed), slots=counted, time_unit=unit)
    if json:
        show_json({"input": arrivals.inputs[0], **found.to_dict()})
        return
    for table in _tables(found, unit):
        show(table)


def _tables(found: Match, unit: TimeUnit) -> list[Table]:
    from analysis.report.inspection import fact_titles
    from analysis.tables import Table
    from analysis.text import number

    titles = fact_titles(unit)
    pairs = [
        (titles.get(pair.of) or _named(pair.of), number(pair.log), number(pair.standin))
        for pair in found.pairs
    ]
    distances = [(_named(each.of), number(each.distance), number(each.noise)) for each in found.distances]
    return [
        Table("the log and one workload of the stand-in", ("", "log", "stand-in"), pairs),
        Table(
            "Kolmogorov-Smirnov distances; two samples of one distribution exceed the last column once in 20",
            ("", "distance", "by chance"),
            distances,
        ),
    ]


def _named(name: str) -> str:
    return name.replace("_", " ")
