"""``serving-sim compare``: several policies on the very same arrivals."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from analysis.cli import completion
from analysis.cli.console import progress, say, say_all, show, show_json
from analysis.cli.measure import measure, warmup_notes
from analysis.cli.options import (
    OutputOptions,
    PriceOptions,
    StatisticsOptions,
    WorkerOptions,
    WorkloadOptions,
)
from analysis.cli.serve import Job, make_job, show_costs, timeline_window
from analysis.cli.traffic import lines
from analysis.run_files import PATTERNS
from analysis.text import file_names

if TYPE_CHECKING:
    from analysis.compare import Comparison
    from analysis.outcome import Outcome

_POLICIES = ("fcfs", "sjf", "ljf", "isjl")


def compare(
    *,
    context: typer.Context,
    workload: WorkloadOptions,
    worker: WorkerOptions,
    prices: PriceOptions,
    statistics: StatisticsOptions,
    output: OutputOptions,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME[:key=value,..], repeatable, first the baseline (default: fcfs, sjf, ljf, isjl).",
            autocompletion=completion.policy,
            show_default=False,
        ),
    ] = None,
    percentile_metrics: Annotated[
        str,
        typer.Option(help="Metrics to compare, as in e2el,ttft.", autocompletion=completion.request_metrics),
    ] = "e2el",
) -> None:
    """Serve the same arrivals with several policies and compare their latencies."""
    from analysis.compare import check_distinct
    from analysis.compare import compare as compare_outcomes

    names = policy or list(_POLICIES)
    metrics = _metrics(percentile_metrics)
    timeline = timeline_window(output)
    job = make_job(
        names,
        workload,
        worker,
        prices,
        statistics,
        record_batches=_reports_costs(output, prices) or output.record_batches or output.timeline,
        recorded={"policies": names, "metrics": metrics},
    )
    described = [each.describe() for each in job.policies]
    check_distinct(described)
    folders = {} if output.out is None else _folders(output.out, described)
    say(lines(job.head()), quiet=output.quiet)

    def write(final: Job, outcome: Outcome) -> None:
        if output.out is not None:
            for note in final.write(folders[outcome.policy], outcome, output, timeline):
                say(f"{outcome.policy}: {note}", quiet=output.quiet)

    asked = job
    with progress(job.tasks, quiet=output.quiet) as begin:
        job, outcomes = measure(asked, begin, write)
    say_all(warmup_notes(asked, job, outcomes), quiet=output.quiet)
    comparison = compare_outcomes(
        outcomes,
        metrics=metrics,
        percentiles=job.wanted.percentiles,
        warmup=job.left_out,
        log=bool(job.traffic.inputs),
    )
    if output.out is not None:
        _write_comparison(job, comparison, output.out, shlex.join(["serving-sim", *context.obj]))
        _remove_earlier(output.out, folders.values())
        say(f"files are in {output.out}, read {output.out / 'report.html'} first", quiet=output.quiet)
    if output.json:
        show_json(_content(job, comparison))
        return
    from analysis.audit_tables import token_audit_tables
    from analysis.tables import comparison_tables, precision_tables

    for table in (
        *comparison_tables(comparison, job.time_unit),
        *token_audit_tables(outcomes),
        *precision_tables(outcomes, job.wanted.targets),
    ):
        show(table)
    if prices.given:
        show_costs(job, outcomes)


def _folders(out: Path, policies: Sequence[str]) -> dict[str, Path]:
    """Where the runs of each policy go; requests come from there no more than from what goes at the end."""
    from analysis.leftovers import compared_policies
    from workloads.own_inputs import Target, check_output

    folders = {policy: out / name for policy, name in file_names(policies).items()}
    for folder in (*folders.values(), *compared_policies(out)):
        check_output(Target(folder, str(folder), PATTERNS))
    return folders


def _remove_earlier(out: Path, folders: Collection[Path]) -> None:
    """The report tells of the policies in ``folders`` alone; those that were compared before them go."""
    from analysis.leftovers import compared_policies, remove_runs

    for earlier in set(compared_policies(out)) - set(folders):
        remove_runs(earlier)


def _reports_costs(output: OutputOptions, prices: PriceOptions) -> bool:
    """Whether batches are needed to tell who pays for whom."""
    return output.out is not None or output.json or prices.given


def _metrics(text: str) -> tuple[str, ...]:
    from analysis.compare import check_metrics

    names = tuple(name.strip() for name in text.split(","))
    check_metrics(names, "percentile-metrics")
    return names


def _content(job: Job, comparison: Comparison) -> dict[str, Any]:
    """What ``compare.json`` holds."""
    from analysis.books import prices_as_dict

    books, leads = job.money(comparison.outcomes)
    costs = {
        "prices": prices_as_dict(job.prices),
        "books": [each.to_dict() for each in books],
        "leads": [asdict(each) for each in leads],
    }
    return {
        **job.header(),
        **comparison.to_dict(),
        **job.precision(comparison.outcomes),
        "costs": costs,
    }


def _write_comparison(job: Job, comparison: Comparison, folder: Path, command: str) -> None:
    from analysis.leftovers import remove_pictures
    from analysis.output import write_json, write_text
    from analysis.report import (
        comparison_page,
        comparison_picture_names,
        comparison_pictures,
        cost_section,
        fairness_section,
    )

    pictures = comparison_pictures(comparison, time_unit=job.time_unit, warmup=job.left_out)
    sections = [
        fairness_section(comparison.outcomes, job.time_unit),
        cost_section(*job.money(comparison.outcomes), job.prices, job.time_unit),
    ]
    for picture in (*pictures, *(picture for section in sections for picture in section.pictures)):
        picture.save(folder)
    write_json(folder / "compare.json", _content(job, comparison))
    facts = {"Command": command, **job.facts()}
    page = comparison_page(comparison, pictures, sections=sections, facts=facts, time_unit=job.time_unit)
    write_text(folder / "report.html", page)
    remove_pictures(folder, comparison_picture_names() - {picture.name for picture in pictures})
