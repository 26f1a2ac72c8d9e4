"""Runs written by hand, whose every number can be checked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from serving_sim import Audit, Epoch, Policy, Run, StepTime, Totals, Workload
from serving_sim.policy import Admission


def small_run() -> Run:
    """Three requests on two slots, first come first served.

    Request 0 has steps 0.5-3.5, request 1 joins one step later, 1.5-3.5, request 2 is alone, 9-10.
    So four busy steps, two of them with a gap of 1.
    """
    return Run(
        policy="by-hand",
        slots=2,
        step_time=StepTime(),
        slotted=False,
        engine="simpy",
        requests=Workload([0.5, 1.25, 9.0], [3, 2, 1]),
        start=np.array([0.5, 1.5, 9.0]),
        first_token=np.array([1.5, 2.5, 10.0]),
        finish=np.array([3.5, 3.5, 10.0]),
        slot=np.array([0, 1, 0], dtype=np.int32),
        totals=Totals(
            requests=3,
            tokens=6,
            intrinsic=10,
            steps=4,
            externality=2,
            gap_steps=2,
            makespan=10.0,
            busy_time=4.0,
            residence=6.0,
            epochs=5,
            decisions=3,
            events=5,
        ),
        audit=Audit(alpha=None, max_gap=1, violations=0, violation_steps=0, first=None),
        batches=None,
    )


def queue_run(latency: Sequence[float], *, policy: str = "by-hand", gap: float = 1.0) -> Run:
    """Requests of length 1, released ``gap`` apart, with the given end-to-end latencies."""
    release = np.arange(len(latency)) * gap
    finish = release + np.asarray(latency)
    run = replace(
        small_run(), policy=policy, requests=Workload(release, np.ones(len(latency), dtype=np.int64))
    )
    return replace(
        run,
        start=finish - 1,
        first_token=finish,
        finish=finish,
        slot=np.zeros(len(latency), dtype=np.int32),
        totals=replace(run.totals, requests=len(latency), makespan=float(finish.max())),
    )


def with_requests(run: Run, requests: Workload) -> Run:
    """The same fates for other columns."""
    return replace(run, requests=requests)


class Idle(Policy):
    """Admits nobody, ever: the command must end with an error, not hang."""

    name = "idle"

    def begin(self, slots: int) -> None:
        pass

    def join(self, request: int, size: int, release: float) -> None:
        pass

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        return []
