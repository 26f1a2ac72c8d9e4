"""A `Case` of the oracle, served by both engines: every bit must agree."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from engine_case import policy_of, workload_of
from numpy.typing import NDArray
from oracle import Case
from streams import Blocks, Kept, cut

from serving_sim import OpenSource, Run, StepTime, simulate
from serving_sim.compiled.choice import Engine

ENGINES: tuple[Engine, ...] = ("simpy", "compiled")
FATES = ("start", "first_token", "finish", "slot")


def check_same(case: Case, **options: Any) -> None:  # noqa: ANN401
    simpy, compiled = (play(case, workload_of(case), engine, **options) for engine in ENGINES)
    for name in FATES:
        _check_bytes(name, getattr(compiled, name), getattr(simpy, name))
    _check_accounts(compiled, simpy)


def check_same_streamed(case: Case, size: int, **options: Any) -> None:  # noqa: ANN401
    """The same of a stream in blocks of some size, and of what goes to a sink."""
    (whole,) = workload_of(case).blocks()
    stream = Blocks(cut(whole, size))
    sinks = {engine: Kept(stream) for engine in ENGINES}
    simpy, compiled = (play(case, stream, engine, sink=sinks[engine], **options) for engine in ENGINES)
    for name in FATES:
        _check_bytes(name, sinks["compiled"].column(name), sinks["simpy"].column(name))
    ours, theirs = ([served.requests for served in sinks[engine].served] for engine in ENGINES)
    assert ours == theirs == stream.parts
    _check_accounts(compiled, simpy)


def _check_bytes(name: str, ours: NDArray[Any], theirs: NDArray[Any]) -> None:
    assert ours.dtype == theirs.dtype
    assert ours.tobytes() == theirs.tobytes(), name


def _check_accounts(compiled: Run, simpy: Run) -> None:
    assert compiled.engine == "compiled"
    assert replace(compiled.totals, events=0) == replace(simpy.totals, events=0)
    assert compiled.audit == simpy.audit
    assert (compiled.batches is None) == (simpy.batches is None)
    if compiled.batches is not None and simpy.batches is not None:
        for field in fields(compiled.batches):
            _check_bytes(
                field.name, getattr(compiled.batches, field.name), getattr(simpy.batches, field.name)
            )


def play(case: Case, source: OpenSource, engine: Engine, **options: Any) -> Run:  # noqa: ANN401
    return simulate(
        source,
        policy_of(case),
        slots=case.slots,
        step_time=StepTime(*case.pace),
        slotted=case.slotted,
        alpha=case.alpha,
        engine=engine,
        **options,
    )
