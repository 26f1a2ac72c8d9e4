"""What policies know of lengths: ``--information``, ``--predictions`` and ``--context-limit``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from analysis.cli.options import Information, WorkerOptions, WorkloadOptions
from analysis.cli.traffic import Traffic
from serving_sim import Policy, Workload


def check_information(workload: WorkloadOptions, worker: WorkerOptions) -> None:
    """Refuse options that exclude each other, before anything is read or made.

    Raises
    ------
    ValueError
        If they do.
    """
    nothing_known = worker.information is Information.NONE
    if nothing_known and workload.predictions is not None:
        raise ValueError("--predictions: cannot go with --information=none, which predicts nothing")
    if not nothing_known and worker.context_limit is not None:
        raise ValueError("--context-limit: needs --information=none, others know more than that")


def check_sequential(worker: WorkerOptions) -> None:
    """Refuse to replicate what cannot be replicated one by one.

    Raises
    ------
    ValueError
        If what policies know depends on all replications.
    """
    if worker.information is Information.NONE and worker.context_limit is None:
        raise ValueError(
            "--until: needs --context-limit with --information=none, more requests could raise it"
        )


def inform(traffic: Traffic, worker: WorkerOptions) -> Traffic:
    """The traffic with the intervals that the information model calls for, and what policies know then.

    Raises
    ------
    ValueError
        If intervals are missing or the context limit is too small.
    """
    if worker.information is Information.NONE:
        return _limited(traffic, worker.context_limit)
    if worker.information is Information.INTERVAL:
        if not _have_intervals(traffic.workloads):
            raise ValueError(
                "--information=interval: needs --predictions, or a file with columns lower and upper"
            )
        return replace(traffic, known="the upper predictions, not the lengths")
    return traffic


def seen_by_policies(information: Information) -> Literal["exact", "interval"]:
    """What `serving_sim.simulate` calls an information model; knowing nothing is an interval too."""
    return "exact" if information is Information.EXACT else "interval"


def check_known(policies: Sequence[Policy], workloads: Iterable[Workload]) -> None:
    """Refuse a policy that plans with predictions where there are none.

    Raises
    ------
    ValueError
        If there is one; the message names it.
    """
    if not _have_intervals(workloads):
        for policy in policies:
            if policy.needs_upper:
                raise ValueError(
                    f"policy {policy.describe()}: plans with upper predictions; needs --predictions, "
                    "--information=none, or a file with columns lower and upper"
                )


def _limited(traffic: Traffic, given: int | None) -> Traffic:
    from workloads import context_limit, parse_predictions, predict

    longest = max(int(workload.length.max()) for workload in traffic.workloads)
    if given is not None and given < longest:
        raise ValueError(f"--context-limit={given}: must not be below the longest request, {longest} tokens")
    limit = context_limit(traffic.workloads) if given is None else given
    chosen = "the smallest power of two that no request exceeds" if given is None else "as given"
    model = parse_predictions(f"limit:tokens={limit}")
    return replace(
        traffic,
        workloads=tuple(predict(workload, model, seed=0) for workload in traffic.workloads),
        known=f"the context limit alone: {limit:,} tokens, {chosen}",
    )


def _have_intervals(workloads: Iterable[Workload]) -> bool:
    return all(workload.upper is not None for workload in workloads)
