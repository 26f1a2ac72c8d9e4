"""The one function that runs a policy on a stream of requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from serving_sim.arguments import check_kind, check_whole, is_whole
from serving_sim.arrivals import Desk, OpenStream
from serving_sim.audit import Audit, Violation
from serving_sim.clock import Clock
from serving_sim.compiled.choice import Engine, choose
from serving_sim.errors import PolicyError, SourceError
from serving_sim.ledger import Ledger
from serving_sim.outcome import Outcome
from serving_sim.policy import Policy
from serving_sim.record import Run, Served, Sink, Totals
from serving_sim.request import IntArray, Workload
from serving_sim.source import OpenSource, ReactiveSource
from serving_sim.spans import SpanLog
from serving_sim.steptime import StepTime, too_late
from serving_sim.worker import Worker

MOST_SLOTS = 1_000_000
"""Far beyond any worker; each takes memory, used or not."""

LONGEST_RUN = 1e150
"""Time units; variances hold the squares of times."""


def simulate(
    source: OpenSource | ReactiveSource,
    policy: Policy,
    *,
    slots: int,
    step_time: StepTime | None = None,
    slotted: bool = False,
    information: Literal["exact", "interval"] = "exact",
    alpha: int | None = None,
    record_batches: bool = False,
    sink: Sink | None = None,
    engine: Engine = "auto",
) -> Run:
    """Serve all requests of ``source`` on one worker and return what happened.

    Parameters
    ----------
    source : OpenSource or ReactiveSource
        What arrives; a `Workload` is an open source.
    policy : Policy
        Who is admitted, when. The object may serve one run after another.
    slots : int
        Most requests in a batch (the paper's B), >= 1.
    step_time : StepTime, optional
        Duration of a step; one time unit by default.
    slotted : bool
        One grid of whole multiples of the step, for an empty worker too; needs a constant step.
    information : {"exact", "interval"}
        What policies see as the size of a request: its length, or only the upper end of its
        prediction interval. A policy that plans with upper predictions always sees the latter.
    alpha : int, optional
        Budget in tokens that the fairness audit holds every gap against; by default the one the
        policy claims. It does not change the schedule.
    record_batches : bool
        Keep one row per span of constant batch in ``Run.batches``.
    sink : Sink, optional
        Takes finished blocks out of memory; the run then keeps totals only.
    engine : {"auto", "simpy", "compiled"}
        Who plays the run; the results are the same to the last bit. "compiled" needs numba, a
        source that does not react and a policy that tells its rule (`Policy.rule`). "auto" takes it
        for large runs where it can, see `serving_sim.compiled.choice`. ``Run.engine`` says who played.

    Returns
    -------
    Run
        Per-request arrays in input order and exact totals.

    Raises
    ------
    TypeError
        If an argument is of another kind.
    ValueError
        If an argument breaks a rule, the run reaches an instant too late to tell steps apart
        (`StepTime.latest`), or ``engine="compiled"`` cannot serve it; behind the first
        `serving_sim.compiled.choice.WORTH_COMPILING` requests of a stream also if "auto" took it.
    PolicyError
        If the policy breaks its contract or leaves requests waiting for ever.
    SourceError
        If the source breaks its contract.
    """
    step_time = StepTime() if step_time is None else step_time
    _check_kinds(source, policy, step_time, sink)
    slots = _check_slots(slots)
    audited = _check_alpha(alpha, policy)
    slotted, record_batches = _truth("slotted", slotted), _truth("record_batches", record_batches)
    _check_model(information, slotted=slotted, step_time=step_time)
    by_upper = policy.needs_upper or information == "interval"
    ledger = Ledger("upper" if by_upper else "length", step_time, sink)
    name = type(source).__name__
    arrivals: OpenStream | ReactiveSource
    if isinstance(source, ReactiveSource):
        arrivals = source
    elif isinstance(source, Workload):
        _check_horizon(source, slots, step_time)
        arrivals = OpenStream(source.blocks(), ledger, name)
    else:
        arrivals = OpenStream(_within_horizon(_blocks(source), slots, step_time), ledger, name)
    chosen = choose(engine, source, arrivals, policy, step_time=step_time)
    serve = _serve_compiled if chosen == "compiled" else _serve_simpy
    outcome = serve(
        ledger,
        arrivals,
        policy,
        slots=slots,
        step_time=step_time,
        slotted=slotted,
        alpha=audited,
        record_batches=record_batches,
    )
    served = _closed(ledger, source)
    order = source.arrival_order if isinstance(source, Workload) else None
    return Run(
        policy=policy.describe(),
        slots=slots,
        step_time=step_time,
        slotted=slotted,
        engine=chosen,
        requests=None if served is None else source if isinstance(source, Workload) else served.requests,
        **_fates(served, order),
        totals=_totals(ledger, outcome),
        audit=replace(outcome.audit, first=_in_input_rows(outcome.audit.first, order)),
        batches=outcome.batches,
    )


def _closed(ledger: Ledger, source: object) -> Served | None:
    """What the ledger still holds; None where it went to a sink."""
    if not ledger.known:
        raise SourceError(f"source {type(source).__name__}: at least one request is needed, found none")
    served = ledger.close()
    assert served is None or not np.isnan(served.finish).any(), "whoever was released has been served"
    return served


def _totals(ledger: Ledger, outcome: Outcome) -> Totals:
    return Totals(
        requests=ledger.known,
        tokens=ledger.tokens,
        intrinsic=ledger.intrinsic,
        steps=outcome.steps,
        externality=outcome.externality,
        gap_steps=outcome.gap_steps,
        makespan=outcome.makespan,
        busy_time=outcome.busy_time,
        residence=ledger.residence,
        epochs=outcome.epochs,
        decisions=outcome.decisions,
        events=outcome.events,
    )


def _serve_simpy(
    ledger: Ledger,
    source: OpenStream | ReactiveSource,
    policy: Policy,
    *,
    slots: int,
    step_time: StepTime,
    slotted: bool,
    alpha: int | None,
    record_batches: bool,
) -> Outcome:
    clock = Clock()
    arrivals: OpenStream | Desk
    if isinstance(source, ReactiveSource):
        arrivals = Desk(clock, ledger, source)
    else:
        arrivals = source
        arrivals.refill()
    spans = SpanLog() if record_batches else None
    worker = Worker(
        clock,
        ledger,
        arrivals,
        policy,
        slots=slots,
        step_time=step_time,
        slotted=slotted,
        alpha=alpha,
        spans=spans,
    )
    clock.process(worker.run())
    clock.run()
    _raise_failures(worker, arrivals, source)
    batch = worker.batch
    return Outcome(
        steps=worker.steps,
        externality=worker.externality,
        gap_steps=batch.gap_steps,
        makespan=worker.makespan,
        busy_time=worker.busy_time,
        epochs=worker.epochs,
        decisions=worker.decisions,
        events=worker.events,
        audit=Audit(
            alpha=alpha,
            max_gap=batch.max_gap,
            violations=worker.violations,
            violation_steps=batch.violation_steps,
            first=worker.first_violation,
        ),
        batches=None if spans is None else spans.batches(),
    )


def _serve_compiled(
    ledger: Ledger,
    source: OpenStream | ReactiveSource,
    policy: Policy,
    **terms: Any,  # noqa: ANN401
) -> Outcome:
    from serving_sim.compiled.run import serve  # imports numba

    assert isinstance(source, OpenStream), "`choose` leaves sources that react to SimPy"
    return serve(ledger, source, policy, **terms)


def _check_kinds(source: object, policy: object, step_time: object, sink: object) -> None:
    if not isinstance(source, ReactiveSource):
        check_kind("source", source, OpenSource, "a Workload, an OpenSource or a ReactiveSource")
    check_kind("policy", policy, Policy, "a Policy, as policies.make_policy gives it")
    check_kind("step_time", step_time, StepTime, "a StepTime")
    if sink is not None:
        check_kind("sink", sink, Sink, "a Sink, with a method write")


def _truth(name: str, value: object) -> bool:
    check_kind(name, value, (bool, np.bool_), "True or False")  # a text like "false" would count as true
    return bool(value)


def _check_slots(slots: int) -> int:
    slots = check_whole("slots", slots, 1, "must be a whole number >= 1")
    if slots > MOST_SLOTS:
        raise ValueError(f"slots={slots!r}: must be at most {MOST_SLOTS:,}")
    return slots


def _check_alpha(alpha: int | None, policy: Policy) -> int | None:
    """The budget of the audit; what the policy promises is checked even where it is not that."""
    promise = policy.alpha
    if promise is not None and not (is_whole(promise) and promise >= 0):
        raise PolicyError(
            f"policy {policy.describe()}: alpha={promise!r} must be None or a whole number of tokens >= 0"
        )
    if alpha is not None:
        return check_whole("alpha", alpha, 0, "must be a whole number of tokens >= 0")
    return None if promise is None else int(promise)


def _check_model(information: str, *, slotted: bool, step_time: StepTime) -> None:
    if information not in ("exact", "interval"):
        raise ValueError(f"information={information!r}: must be 'exact' or 'interval'")
    if slotted and not step_time.constant:
        raise ValueError("slotted=True: needs a constant step time (base alone)")


def _blocks(source: OpenSource) -> Iterator[Workload]:
    """What a source of one's own gives, as long as it is blocks."""
    name = type(source).__name__
    blocks: object = source.blocks()
    if not isinstance(blocks, Iterable):
        raise SourceError(f"source {name}: blocks must give Workloads one by one, found {blocks!r:.80}")
    for number, block in enumerate(blocks):
        if not isinstance(block, Workload):
            raise SourceError(f"source {name}: block {number} must be a Workload, found {block!r:.80}")
        yield block


def _within_horizon(blocks: Iterator[Workload], slots: int, step_time: StepTime) -> Iterator[Workload]:
    for block in blocks:
        _check_horizon(block, slots, step_time)
        yield block


def _check_horizon(workload: Workload, slots: int, step_time: StepTime) -> None:
    """Refuse what floats cannot date: instants beyond their range, releases too late to tell steps apart."""
    latest = float(workload.release.max())
    if latest > step_time.latest:
        refusal = too_late("release", latest, step_time.alone(1))
        raise ValueError(f"{refusal}; where releases are stamps, subtract the first")
    longest = int(workload.length.max())
    slowest = step_time.pace(slots, longest, slots * longest)
    if not latest + float(workload.total_length) * (slowest.linear + slowest.quadratic) <= LONGEST_RUN:
        raise ValueError(f"{step_time}: the run could last longer than a float can tell the square of")


def _raise_failures(worker: Worker, arrivals: OpenStream | Desk, source: object) -> None:
    if isinstance(arrivals, Desk) and arrivals.failure is not None:
        raise arrivals.failure
    if worker.failure is not None:
        raise worker.failure
    worker.check_all_served()
    if isinstance(arrivals, Desk) and arrivals.running:
        raise SourceError(
            f"source {type(source).__name__}: {arrivals.running} of its processes still wait for something "
            "that can no longer happen"
        )


def _fates(served: Served | None, order: IntArray | None) -> dict[str, NDArray[Any]]:
    """Columns of a run in input order, empty where they went to a sink."""
    if served is None:
        return {
            "start": np.empty(0),
            "first_token": np.empty(0),
            "finish": np.empty(0),
            "slot": np.empty(0, np.int32),
        }
    columns = {name: getattr(served, name) for name in ("start", "first_token", "finish", "slot")}
    return columns if order is None else {name: _placed(column, order) for name, column in columns.items()}


def _placed(column: NDArray[Any], order: IntArray) -> NDArray[Any]:
    placed = np.empty_like(column)
    placed[order] = column
    return placed


def _in_input_rows(violation: Violation | None, order: IntArray | None) -> Violation | None:
    if violation is None or order is None:
        return violation
    return replace(violation, request=int(order[violation.request]), other=int(order[violation.other]))
