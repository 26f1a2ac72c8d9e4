"""``serving-sim workload servegen``: requests out of the client tables of ServeGen."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from analysis.cli.console import say, show_json
from analysis.cli.options import Json
from analysis.cli.parsing import parse_duration
from analysis.cli.paths import input_path, output_file
from serving_sim.how_many import how_many


def servegen(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Folder of chunk-N-trace.csv and chunk-N-dataset.json.", metavar="DIR", parser=input_path
        ),
    ],
    *,
    out: Annotated[
        Path,
        typer.Option(help="File to write: .csv, .jsonl or .parquet.", metavar="FILE", parser=output_file),
    ],
    time_unit: Annotated[
        float, typer.Option(help="Seconds per time unit.", metavar="SECONDS", show_default=False)
    ],
    begin: Annotated[
        str, typer.Option("--from", help="Start on the clients' clock, as in 18h.", metavar="TIME")
    ] = "0s",
    duration: Annotated[
        str, typer.Option("--for", help="How long, as in 10min or 1h.", metavar="TIME")
    ] = "1h",
    seed: Annotated[int, typer.Option(help="Seed of the requests.", min=0)] = 0,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing.")] = False,
) -> None:
    """Write a plain workload file with requests as the clients of ServeGen send them."""
    from workloads import write_workload
    from workloads.servegen import client_workload, read_servegen

    clients = read_servegen(folder)
    workload = client_workload(
        clients,
        begin=parse_duration("--from", begin, 1.0),
        duration=parse_duration("--for", duration, 1.0),
        time_unit=time_unit,
        seed=seed,
    )
    assert workload.tenant is not None
    sending = len(set(workload.tenant))
    fact = f"{how_many(len(workload), 'request')} of {sending:,} among {how_many(len(clients), 'client')}"
    say(fact, quiet=quiet)
    write_workload(workload, out, time_unit=time_unit)
    say(f"written to {out}", quiet=quiet)
    if json:
        files = [{"file": str(out), "requests": len(workload)}]
        show_json({"facts": [fact], "seed": seed, "input": None, "files": files})
