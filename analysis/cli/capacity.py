"""``serving-sim capacity``: the largest arrival rates that policies can serve."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.cli import completion
from analysis.cli.console import progress, say, show, show_json
from analysis.cli.naming import flag
from analysis.cli.options import Jobs, Json, PriceOptions, StatisticsOptions, WorkerOptions, WorkloadOptions
from analysis.cli.parsing import parse_loads, parse_share
from analysis.cli.paths import output_folder
from analysis.cli.serve import Job, make_job
from analysis.cli.traffic import lines

if TYPE_CHECKING:
    from analysis.experiments.capacity import Capacity, Question

_POLICIES = ("fcfs", "sjf", "ljf", "isjl")
_ATTAINMENT = "99%"
_REQUESTS = 20_000
_REPLICATIONS = 5


def capacity(
    *,
    context: typer.Context,
    workload: WorkloadOptions,
    worker: WorkerOptions,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME[:key=value,..], repeatable (default: fcfs, sjf, ljf, isjl).",
            autocompletion=completion.policy,
            show_default=False,
        ),
    ] = None,
    goodput: Annotated[
        str | None,
        typer.Option(help="Objectives in time units, as in ttft:200,e2el:2000.", show_default=False),
    ] = None,
    attainment: Annotated[
        str | None,
        typer.Option(help="Share of requests that must meet them (default: 99%).", show_default=False),
    ] = None,
    loads: Annotated[
        str, typer.Option(help="Loads at which latencies are measured.")
    ] = "0.2,0.4,0.5,0.6,0.7,0.8,0.85,0.9,0.95",
    metric: Annotated[
        str, typer.Option(help="Metric to measure there.", autocompletion=completion.request_metric)
    ] = "e2el",
    percentiles: Annotated[str, typer.Option(help="Its percentiles.")] = "50,90,99",
    warmup: Annotated[
        str,
        typer.Option(help="First requests that the metrics leave out, as many at every load.", metavar="N"),
    ] = "0",
    jobs: Jobs = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for tables, pictures and the page.", metavar="DIR", parser=output_folder),
    ] = None,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the result alone.")] = False,
) -> None:
    """Find the largest rates that policies keep up with and serve within objectives.

    The arrivals named are sped up and slowed down as a whole. By default there are 5 replications of
    20,000 requests.
    """
    from analysis.compare import check_distinct
    from analysis.definitions import check_request_metric
    from analysis.experiments.capacity import Question, count_tasks, limits_table, measure
    from analysis.workers import processes

    names = policy or list(_POLICIES)
    if attainment is None:
        attainment = _ATTAINMENT
    elif goodput is None:
        raise ValueError("--attainment: needs --goodput, the objectives to attain")
    job = make_job(
        names,
        _long(workload, once=_asked(context, "replications") and workload.replications == 1),
        worker,
        PriceOptions(),
        StatisticsOptions(percentiles=percentiles, goodput=goodput, warmup=warmup),
        record_batches=False,
        recorded={"policies": names, "attainment": attainment, "loads": loads, "metric": metric},
    )
    if job.traffic.at_once:
        raise ValueError(f"{_rhythm(workload)}: all requests come at once, there is no rate to change")
    if job.wanted.warmup is None:
        raise ValueError("--warmup=auto: must be a number here, every load would have one of its own")
    check_distinct([each.describe() for each in job.policies])
    question = Question(
        metric=check_request_metric(metric),
        percentiles=job.wanted.percentiles,
        loads=parse_loads(loads),
        objectives=job.wanted.objectives,
        share=parse_share(attainment),
        warmup=job.left_out,
    )
    benches = job.benches()
    say(lines((job.headline(), *job.traffic.facts[1:])), quiet=quiet)
    with progress(count_tasks(benches, question), quiet=quiet) as done:
        done("")  # the bar counts what began; this is the first
        found = measure(benches, question, jobs=processes(jobs), done=done, ruled_out=job.ruled_out)
    if out is not None:
        _write(job, found, question, out, shlex.join(["serving-sim", *context.obj]))
        say(f"files are in {out}, read {out / 'report.html'} first", quiet=quiet)
    if json:
        show_json({**job.header(), **found.to_dict()})
        return
    show(limits_table(found, question, job.time_unit))


def _rhythm(workload: WorkloadOptions) -> str:
    """The option that says when requests come."""
    if workload.num_prompts == 1:
        return "--num-prompts=1"
    sources = ("requests", "clients", "arrivals", "workload", "preset")
    return flag(next(name for name in sources if getattr(workload, name) is not None))


def _asked(context: typer.Context, option: str) -> bool:
    """Whether the user gave an option, be it with the value it has by default."""
    source = context.get_parameter_source(option)
    return source is not None and source.name != "DEFAULT"


def _long(workload: WorkloadOptions, *, once: bool) -> WorkloadOptions:
    """Enough requests and replications, unless one was asked for, to tell whether a queue grows."""
    if workload.requests is not None:
        return workload
    return replace(
        workload,
        num_prompts=_REQUESTS if workload.num_prompts is None else workload.num_prompts,
        replications=_REPLICATIONS if workload.replications == 1 and not once else workload.replications,
    )


def _write(job: Job, found: Capacity, question: Question, folder: Path, command: str) -> None:
    from analysis.experiments.capacity import capacity_section
    from analysis.output import write_frame, write_json, write_text
    from analysis.report import sections_page

    section = capacity_section(found, question, job.time_unit)
    for picture in section.pictures:
        picture.save(folder)
    write_frame(folder / "capacity.csv", found.frame())
    write_json(folder / "capacity.json", {**job.header(), **found.to_dict()})
    facts = {"Command": command, **job.facts()}
    write_text(folder / "report.html", sections_page("Capacity", [section], introduction=(), facts=facts))
