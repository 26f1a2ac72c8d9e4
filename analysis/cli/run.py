"""``serving-sim run``: one policy on one workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from analysis.cli.console import progress, say, say_all, show, show_json
from analysis.cli.ending import CheckFailedError
from analysis.cli.measure import measure, warmup_notes
from analysis.cli.options import (
    OnePolicy,
    OutputOptions,
    PriceOptions,
    StatisticsOptions,
    WorkerOptions,
    WorkloadOptions,
)
from analysis.cli.serve import Job, make_job, show_costs, timeline_window
from analysis.cli.traffic import lines

if TYPE_CHECKING:
    from analysis.outcome import Outcome


def run(
    *,
    policy: OnePolicy,
    workload: WorkloadOptions,
    worker: WorkerOptions,
    prices: PriceOptions,
    statistics: StatisticsOptions,
    output: OutputOptions,
    audit: Annotated[
        bool,
        typer.Option("--audit", help="Draw the first violation of alpha, and exit with 1 if there is one."),
    ] = False,
) -> None:
    """Serve a workload with one policy and print its latency quantiles."""
    from analysis.audit_tables import token_audit_tables
    from analysis.tables import precision_tables, run_tables

    timeline = timeline_window(output)
    job = make_job(
        [policy],
        workload,
        worker,
        prices,
        statistics,
        record_batches=output.record_batches or audit or output.timeline or prices.given,
        recorded={"policy": policy},
        reactive=True,
    )
    if audit:
        _check_auditable(job)
    say(lines(job.head()), quiet=output.quiet)

    def write(final: Job, outcome: Outcome) -> None:
        if output.out is not None:
            for note in final.write(output.out, outcome, output, timeline):
                say(note, quiet=output.quiet)
            say(f"files are in {output.out}", quiet=output.quiet)

    with progress(job.tasks, quiet=output.quiet) as begin:
        final, (outcome,) = measure(job, begin, write)
    say_all(warmup_notes(job, final, [outcome]), quiet=output.quiet)
    if output.json:
        _print_json(final, outcome)
    else:
        for table in (
            *run_tables(outcome, job.time_unit),
            *token_audit_tables([outcome]),
            *precision_tables([outcome], job.wanted.targets),
        ):
            show(table)
        if prices.given:
            show_costs(job, [outcome])
    if audit:
        _report_audit(outcome, beside_json=output.json)


def _check_auditable(job: Job) -> None:
    if job.server.alpha is None and job.policies[0].alpha is None:
        raise ValueError(f"--audit: needs --alpha, {job.policies[0].describe()} promises none")


def _report_audit(outcome: Outcome, *, beside_json: bool) -> None:
    from analysis.violation import audit_text, token_audit_text

    broken = [run for run in outcome.runs if not run.audit.fair]
    typer.echo(audit_text((broken or outcome.runs)[0]), err=beside_json)
    in_tokens = list(zip(outcome.runs, outcome.token_audits, strict=True)) if outcome.token_audits else []
    broken_in_tokens = [(run, found) for run, found in in_tokens if not found.fair]
    for run, found in (broken_in_tokens or in_tokens)[:1]:
        typer.echo(token_audit_text(run, found), err=beside_json)
    if broken or broken_in_tokens:
        raise CheckFailedError


def _print_json(job: Job, outcome: Outcome) -> None:

    single = len(outcome.runs) == 1
    content = job.summary(outcome, 0) if single else job.estimates(outcome)
    show_json(content)
