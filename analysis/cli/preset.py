"""A preset as a set of defaults."""

from __future__ import annotations

from dataclasses import replace

from analysis.cli.options import WorkerOptions, WorkloadOptions

_SLOTS = 32


def with_defaults(workload: WorkloadOptions, worker: WorkerOptions) -> tuple[WorkloadOptions, WorkerOptions]:
    """The options, completed from the preset where there is one.

    What the user gave stays: a preset at another load is a preset with ``--load``.

    Raises
    ------
    ValueError
        If there is no such preset or requests come from a file.
    """
    if workload.preset is None:
        return workload, replace(worker, slots=_SLOTS if worker.slots is None else worker.slots)
    from workloads import get_preset

    preset = get_preset(workload.preset)
    made = replace(
        workload,
        num_prompts=preset.n if workload.num_prompts is None else workload.num_prompts,
        lengths=workload.lengths or preset.lengths,
        arrivals=workload.arrivals or preset.arrivals,
        load=preset.load if workload.load is None and workload.request_rate is None else workload.load,
    )
    serving = replace(
        worker,
        slots=preset.slots if worker.slots is None else worker.slots,
        alpha=preset.alpha if worker.alpha is None else worker.alpha,
    )
    return made, serving
