"""A preset or a specification as a set of defaults."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from analysis.cli.options import WorkerOptions, WorkloadOptions

_SLOTS = 32


def with_defaults(workload: WorkloadOptions, worker: WorkerOptions) -> tuple[WorkloadOptions, WorkerOptions]:
    """The options, completed from the preset or the specification where there is one.

    What the user gave stays: a preset at another load is a preset with ``--load``.

    Raises
    ------
    ValueError
        If there is no such preset, the specification is refused, or both are given.
    """
    if workload.preset is not None:
        if workload.workload is not None:
            raise ValueError("--workload: cannot go with --preset, each says what arrives")
        return _with_preset(workload, worker, workload.preset)
    made = workload if workload.workload is None else _specified(workload, workload.workload)
    return made, replace(worker, slots=_SLOTS if worker.slots is None else worker.slots)


def _specified(workload: WorkloadOptions, path: Path) -> WorkloadOptions:
    from workloads import read_specification
    from workloads.arrivals import takes_rate

    given = read_specification(path)
    arrivals = workload.arrivals or given.arrivals
    paced = _paced(workload) or not takes_rate(arrivals)
    return replace(
        workload,
        num_prompts=given.num_prompts if workload.num_prompts is None else workload.num_prompts,
        lengths=workload.lengths or given.lengths,
        arrivals=arrivals,
        request_rate=workload.request_rate if paced else given.request_rate,
        time_unit=given.time_unit if workload.time_unit is None else workload.time_unit,
    )


def _with_preset(
    workload: WorkloadOptions, worker: WorkerOptions, name: str
) -> tuple[WorkloadOptions, WorkerOptions]:
    from workloads import get_preset
    from workloads.arrivals import takes_rate

    preset = get_preset(name)
    arrivals = workload.arrivals or preset.arrivals
    paced = _paced(workload) or not takes_rate(arrivals)
    made = replace(
        workload,
        num_prompts=preset.n if workload.num_prompts is None else workload.num_prompts,
        lengths=workload.lengths or preset.lengths,
        arrivals=arrivals,
        load=workload.load if paced else preset.load,
    )
    serving = replace(
        worker,
        slots=preset.slots if worker.slots is None else worker.slots,
        alpha=preset.alpha if worker.alpha is None else worker.alpha,
    )
    return made, serving


def _paced(workload: WorkloadOptions) -> bool:
    """Whether the user said how fast requests come."""
    return workload.load is not None or workload.request_rate is not None
