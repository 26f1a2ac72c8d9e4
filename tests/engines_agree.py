"""A `Case` of the oracle, served by both engines: every bit must agree."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from engine_case import policy_of, workload_of
from oracle import Case

from serving_sim import Run, StepTime, simulate
from serving_sim.compiled.choice import Engine


def check_same(case: Case, **options: Any) -> None:  # noqa: ANN401
    simpy, compiled = (play(case, engine, **options) for engine in ("simpy", "compiled"))
    assert compiled.engine == "compiled"
    for name in ("start", "first_token", "finish", "slot"):
        ours, theirs = getattr(compiled, name), getattr(simpy, name)
        assert ours.dtype == theirs.dtype
        assert ours.tobytes() == theirs.tobytes(), name
    assert replace(compiled.totals, events=0) == replace(simpy.totals, events=0)
    assert compiled.audit == simpy.audit
    assert (compiled.batches is None) == (simpy.batches is None)
    if compiled.batches is not None and simpy.batches is not None:
        for field in fields(compiled.batches):
            ours, theirs = getattr(compiled.batches, field.name), getattr(simpy.batches, field.name)
            assert ours.tobytes() == theirs.tobytes(), field.name


def play(case: Case, engine: Engine, **options: Any) -> Run:  # noqa: ANN401
    return simulate(
        workload_of(case),
        policy_of(case),
        slots=case.slots,
        step_time=StepTime(*case.pace),
        slotted=case.slotted,
        alpha=case.alpha,
        engine=engine,
        **options,
    )
