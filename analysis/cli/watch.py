"""``serving-sim watch``: a small run, epoch by epoch."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from analysis.cli import completion
from analysis.cli.console import say, show_json
from analysis.cli.information import check_information, check_known, inform
from analysis.cli.instance import adversarial
from analysis.cli.options import Json, OnePolicy, WorkerOptions, WorkloadOptions
from analysis.cli.parsing import parse_step_time
from analysis.cli.preset import with_defaults
from analysis.cli.server import make_policies, make_server
from analysis.cli.traffic import lines, traffic
from serving_sim import Workload
from serving_sim.how_many import how_many

if TYPE_CHECKING:
    from analysis.watch import Recording
    from serving_sim import ReactiveSource

_Source = tuple["Workload | ReactiveSource", WorkerOptions, tuple[str, ...]]
"""What arrives, at which worker, and what there is to say of it."""

_SLOTS = 4
_REQUESTS = 20


def watch(
    *,
    policy: OnePolicy,
    workload: WorkloadOptions,
    worker: WorkerOptions,
    adversary: Annotated[
        str | None,
        typer.Option(
            help="In place of a workload, what 'serving-sim adversary' plays: NAME[:gamma=..,length=..] "
            "(default: gamma 0.5, length 20).",
            autocompletion=completion.instance,
            show_default=False,
        ),
    ] = None,
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
    slots = _SLOTS if worker.slots is None and workload.preset is None else worker.slots
    source, used, facts = (
        _from_options(workload, replace(worker, slots=slots))
        if adversary is None
        else _built(adversary, workload, worker)
    )
    recording = _record(policy, source, used)
    headline = f"{recording.run.policy} on {how_many(recording.run.slots, 'slot')}: {facts[0]}"
    if json:
        _print_json(recording)
        return
    from analysis.cli.screen import has_screen, step_through

    if not no_tty and has_screen():
        step_through(recording, headline)
        return
    say(lines((headline, *facts[1:])), quiet=quiet)
    _print(recording)


def _from_options(workload: WorkloadOptions, worker: WorkerOptions) -> _Source:
    if workload.replications > 1:
        raise ValueError(f"--replications={workload.replications}: must be 1, one run is watched")
    named = (workload.preset, workload.workload, workload.requests)
    if workload.num_prompts is None and all(each is None for each in named):
        workload = replace(workload, num_prompts=_REQUESTS)
    workload, worker = with_defaults(workload, worker)
    assert worker.slots is not None
    check_information(workload, worker)
    step_time = parse_step_time(worker.step_time)
    arriving = inform(traffic(workload, slots=worker.slots, step_time=step_time, reactive=True), worker)
    return arriving.source(0), worker, arriving.told


def _built(adversary: str, workload: WorkloadOptions, worker: WorkerOptions) -> _Source:
    if workload != WorkloadOptions():
        raise ValueError("--adversary: cannot go with options of a workload, it is one")
    against = adversarial(adversary, slots=worker.slots or _SLOTS, alpha=worker.alpha)
    if worker.slots not in (None, against.slots):
        raise ValueError(f"--slots={worker.slots}: must be {against.slots} for --adversary {adversary}")
    return against.source, replace(worker, slots=against.slots, alpha=against.alpha), (against.fact,)


def _record(policy: str, source: Workload | ReactiveSource, worker: WorkerOptions) -> Recording:
    from analysis.watch import Observer, record

    (built,) = make_policies([policy], worker)
    if isinstance(source, Workload):
        check_known([built], [source])
    observer = Observer(built)
    run = make_server(worker, parse_step_time(worker.step_time)).simulate(source, observer)
    return record(run, observer)


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
