"""``serving-sim watch``: a small run, epoch by epoch."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.cli import completion
from analysis.cli.console import say, show_json
from analysis.cli.information import check_information, check_known, inform
from analysis.cli.options import Json, WorkerOptions, WorkloadOptions
from analysis.cli.parsing import parse_step_time
from analysis.cli.preset import with_defaults
from analysis.cli.server import make_policies, make_server
from analysis.cli.traffic import lines, traffic

if TYPE_CHECKING:
    from analysis.watch import Recording

_SLOTS = 4
_REQUESTS = 20


def watch(
    *,
    policy: Annotated[
        str,
        typer.Option(
            help="NAME[:key=value,..], see 'serving-sim policies'.", autocompletion=completion.policy
        ),
    ],
    workload: WorkloadOptions,
    worker: WorkerOptions,
    no_tty: Annotated[
        bool, typer.Option("--no-tty", help="Print all epochs as plain text, as where there is no terminal.")
    ] = False,
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the result alone.")] = False,
) -> None:
    """Watch a small run epoch by epoch: slots, queue, fairness, and the reasons of the policy.

    An epoch is an instant at which somebody finishes or the policy is asked; there may be 10,000 of them.
    By default 20 requests are served on 4 slots.
    """
    small = replace(workload, num_prompts=_few(workload))
    slots = _SLOTS if worker.slots is None and workload.preset is None else worker.slots
    recording, facts = _record(policy, small, replace(worker, slots=slots))
    headline = f"{recording.run.policy} on {recording.run.slots} slots: {facts[0]}"
    if json:
        _print_json(recording)
        return
    from analysis.cli.screen import has_screen, step_through

    if not no_tty and has_screen():
        step_through(recording, headline)
        return
    say(lines((headline, *facts[1:])), quiet=quiet)
    _print(recording)


def _few(workload: WorkloadOptions) -> int | None:
    """The number of requests, which a preset, a specification or a file may name instead."""
    named = (workload.preset, workload.workload, workload.requests)
    if workload.num_prompts is None and all(each is None for each in named):
        return _REQUESTS
    return workload.num_prompts


def _record(
    policy: str, workload: WorkloadOptions, worker: WorkerOptions
) -> tuple[Recording, tuple[str, ...]]:
    """Serve and record; also what there is to say about what arrives."""
    from analysis.watch import Observer, record

    if workload.replications > 1:
        raise ValueError(f"--replications={workload.replications}: must be 1, one run is watched")
    workload, worker = with_defaults(workload, worker)
    assert worker.slots is not None
    step_time = parse_step_time(worker.step_time)
    (built,) = make_policies([policy], worker)
    check_information(workload, worker)
    arriving = inform(traffic(workload, slots=worker.slots, step_time=step_time, reactive=True), worker)
    check_known([built], arriving.workloads)
    observer = Observer(built)
    run = make_server(worker, step_time).simulate(arriving.source(0), observer)
    return record(run, observer), arriving.facts


def _print(recording: Recording) -> None:
    from rich.text import Text

    from analysis.cli.frames import draw

    for place in range(len(recording)):
        lines = [Text(), *draw(recording.frame(place))] if place else draw(recording.frame(place))
        sys.stdout.writelines(f"{line.plain.rstrip()}\n" for line in lines)


def _print_json(recording: Recording) -> None:
    run = recording.run
    frames = [recording.frame(place).to_dict() for place in range(len(recording))]
    show_json({"policy": run.policy, "slots": run.slots, "alpha": run.audit.alpha, "epochs": frames})
