"""``serving-sim calibrate``: choose alpha from a request log."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.cli.console import complain, progress, say, show, show_json
from analysis.cli.ending import CheckFailedError
from analysis.cli.options import FileOptions, Jobs, Json, WorkloadOptions
from analysis.cli.parsing import parse_objectives, parse_step_time
from analysis.cli.paths import input_path, output_folder
from analysis.cli.traffic import Traffic, lines, time_unit, traffic
from serving_sim.how_many import how_many

if TYPE_CHECKING:
    from analysis.economics import CostModel
    from analysis.experiments.calibrate import Calibration
    from analysis.tables import Table
    from analysis.time_unit import TimeUnit


def calibrate(
    log: Annotated[
        Path,
        typer.Argument(help="Request log in any format the project reads.", metavar="LOG", parser=input_path),
    ],
    *,
    context: typer.Context,
    file: FileOptions,
    slots: Annotated[int, typer.Option(help="Largest batch.", min=1)] = 32,
    step_time: Annotated[
        str | None,
        typer.Option(help="base=..,per_max_token=.. in time units (default: base=1).", show_default=False),
    ] = None,
    grid: Annotated[
        str, typer.Option(help="Candidates: quantiles of the lengths, or cost for multiples of Q/O.")
    ] = "lengths",
    alpha: Annotated[
        list[int] | None,
        typer.Option(
            help="A candidate of your own; repeatable, replaces the grid.", min=0, show_default=False
        ),
    ] = None,
    step_cost: Annotated[float, typer.Option(help="Cost of a step, c, in money.")] = 0.0005,
    token_cost: Annotated[
        float, typer.Option(help="Cost of a request and token of the longest cache, tau.")
    ] = 1e-6,
    min_throughput: Annotated[
        float | None, typer.Option(help="Least tokens per time unit.", show_default=False)
    ] = None,
    max_latency: Annotated[
        str | None,
        typer.Option(help="Most end-to-end latency, as in p95:2000,p99:5000.", show_default=False),
    ] = None,
    smallest: Annotated[
        bool, typer.Option("--smallest", help="Take the smallest alpha within the limits, not the cheapest.")
    ] = False,
    delta: Annotated[float, typer.Option(help="Share of tau Q that alpha_cost keeps tau E within.")] = 0.1,
    confidence: Annotated[float, typer.Option(help="At which candidates must be told apart.")] = 0.95,
    jobs: Jobs = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for files.", metavar="DIR", parser=output_folder, show_default=False),
    ] = None,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the result alone.")] = False,
) -> None:
    """Replay a log under isjl for several alphas and choose the best within limits."""
    from analysis.economics import CostModel
    from analysis.experiments.calibrate import GRIDS, Goal
    from analysis.experiments.calibrate import calibrate as run
    from analysis.workers import processes

    _check(grid, delta)
    cost = CostModel(step_cost, token_cost)
    goal = Goal(cost, min_throughput, _limits(max_latency), smallest, confidence)
    options = WorkloadOptions(requests=log, **vars(file))
    duration = parse_step_time(step_time)
    arriving = traffic(options, slots=slots, step_time=duration)
    (workload,) = arriving.workloads
    alphas = alpha or GRIDS[grid](workload)
    say(
        lines(
            (f"isjl on {how_many(slots, 'slot')}, alpha in {', '.join(map(str, alphas))}", *arriving.facts)
        ),
        quiet=quiet,
    )
    with progress(len(set(alphas)), quiet=quiet) as done:
        done("")
        result = run(
            workload,
            alphas,
            goal,
            slots=slots,
            step_time=duration,
            share=delta,
            jobs=processes(jobs),
            done=done,
            one_log=arriving.one_log,
            span=arriving.span,
        )
    unit = time_unit(arriving, duration)
    table = _table(result, unit)
    if out is not None:
        command = shlex.join(["serving-sim", *context.obj])
        _write(result, table, out, _facts(command, arriving, slots, unit, cost), unit)
        say(f"files are in {out}", quiet=quiet)
    if json:
        show_json(asdict(result))
    else:
        show(table)
        typer.echo("\n".join(_findings(result, unit)))
    if result.alpha is None:
        complain("no candidate meets the limits")
        raise CheckFailedError


def _check(grid: str, delta: float) -> None:
    from analysis.experiments.calibrate import GRIDS

    if grid not in GRIDS:
        raise ValueError(f"--grid={grid!r}: must be one of {', '.join(GRIDS)}")
    if not 0 <= delta < math.inf:
        raise ValueError(f"--delta={delta!r}: must be a finite number >= 0")


def _facts(command: str, arriving: Traffic, slots: int, unit: TimeUnit, cost: CostModel) -> dict[str, str]:
    return {
        "Command": command,
        "Log": "; ".join(arriving.facts),
        "Slots": str(slots),
        "Time": unit.plural,
        "Cost of a step, c": f"{cost.c:g}",
        unit.in_service("Cost of a request and token, tau"): f"{cost.tau:g}",
    }


def _limits(text: str | None) -> dict[float, float]:
    limits = parse_objectives(text, "max-latency") or {}
    if not all(name.startswith("p") and name[1:].replace(".", "", 1).isdecimal() for name in limits):
        raise ValueError(f"--max-latency={text!r}: must read p95:NUMBER, percentiles joined by commas")
    percentiles = {float(name[1:]): limit for name, limit in limits.items()}
    for percentile in percentiles:
        if not 0 < percentile < 100:
            raise ValueError(f"--max-latency={text!r}: percentiles must lie strictly between 0 and 100")
    return percentiles


def _table(result: Calibration, unit: TimeUnit) -> Table:
    from analysis.tables import Table
    from analysis.text import number, with_interval

    names = list(result.candidates[0].latency)
    rows = [
        (
            f"{each.alpha} *" if each.alpha == result.alpha else str(each.alpha),
            number(each.throughput),
            *(with_interval(each.latency[name]) for name in names),
            number(each.time_cost),
            number(each.externality_cost),
            number(each.total),
            with_interval(each.difference),
            "; ".join(each.missed) or "yes",
        )
        for each in result.candidates
    ]
    header = (
        "alpha",
        "throughput",
        *(f"e2el {name}" for name in names),
        "c T",
        "tau E",
        "c T + tau E",
        "cost per request, less that of *",
        "within limits",
    )
    title = (
        f"candidates, * chosen; latency in {unit.plural}, throughput in {unit.in_service('tokens')} per "
        f"{unit.singular}, cost in money"
    )
    return Table(title, header, rows)


def _findings(result: Calibration, unit: TimeUnit) -> list[str]:
    from analysis.text import number

    tokens = unit.in_service("tokens")
    return [
        f"chosen: {_choice(result)}",
        f"natural scale Q / O: {number(result.scale)} {tokens}",
        (
            f"alpha_cost({result.share:g}): {number(result.alpha_cost)} {tokens} keep the externality of any "
            f"fair schedule within {result.share:.0%} of the intrinsic cost"
        ),
        *(f"warning: {text}" for text in result.warnings),
    ]


def _choice(result: Calibration) -> str:
    if result.alpha is None:
        return "none meets the limits"
    within = sum(not each.missed for each in result.candidates) - 1
    apart = within - len(result.rivals)
    return (
        f"alpha = {result.alpha}, told apart in cost from {apart} of {within} other candidates within the "
        f"limits at a confidence of {result.confidence:g}"
    )


def _write(result: Calibration, table: Table, folder: Path, facts: Mapping[str, str], unit: TimeUnit) -> None:
    from analysis.output import write_frame, write_text
    from analysis.plots.calibration import budget_frontier
    from analysis.report import Picture, Section, sections_page

    candidates = result.candidates
    figure = budget_frontier(
        [each.alpha for each in candidates],
        [each.throughput for each in candidates],
        [each.time_cost for each in candidates],
        [each.externality_cost for each in candidates],
        within=[not each.missed for each in candidates],
        chosen=result.alpha,
        time_unit=unit,
    )
    picture = Picture(
        "frontier",
        "Cost and throughput of each alpha",
        "Left the two parts of the cost that alpha changes, right their sum against throughput. Numbers at "
        "points are alphas, open points miss a limit, the ring and the upright line mark the choice.",
        figure,
    )
    measures = (
        (
            "ISJL keeps the progress of any two requests in a batch within alpha tokens of each other. The "
            "log is replayed under it for each candidate alpha. A larger alpha gives the scheduler more "
            "freedom, so the log may need fewer steps T at a cost of c each, and lets requests of more "
            "unequal progress share a batch: then the shorter caches pay for the longest, which is the "
            "externality E, in tokens and steps at a cost of tau each."
        ),
        (
            "Chosen is the alpha with the least c T + tau E, the part of the cost that depends on it, within "
            "the limits set for throughput and latency. All candidates face the same arrivals, so their "
            "costs are compared request by request; ± is half of an interval for all comparisons at once."
        ),
    )
    section = Section(
        "calibrate",
        "What each alpha gives",
        [unit.in_service(text) for text in measures],
        _findings(result, unit),
        [table],
        [picture],
    )
    picture.save(folder)
    write_frame(folder / "candidates.csv", result.frame())
    page = sections_page("Fairness budget from a log", [section], introduction=(), facts=facts)
    write_text(folder / "report.html", page)
