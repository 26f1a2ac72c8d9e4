"""Serves a ledger of requests with the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from serving_sim.audit import Audit, Violation
from serving_sim.compiled import kernel
from serving_sim.compiled.isjl_plan import no_plan
from serving_sim.compiled.jit import read_only
from serving_sim.compiled.kernel import (
    AT_ADMISSION,
    AT_OLDEST,
    GAPS,
    NEVER,
    Fates,
    Requests,
    Spans,
    Tally,
    Terms,
    empty_slots,
)
from serving_sim.compiled.pace import Coefficients
from serving_sim.compiled.queue import SizeQueue, make_queue, ranks
from serving_sim.compiled.wide import exact
from serving_sim.ledger import Ledger
from serving_sim.outcome import Outcome
from serving_sim.policy import Policy
from serving_sim.record import Batches
from serving_sim.request import IntArray
from serving_sim.rule import Order, rule_of
from serving_sim.steptime import StepTime


def serve(
    ledger: Ledger,
    policy: Policy,
    *,
    slots: int,
    step_time: StepTime,
    slotted: bool,
    alpha: int | None,
    record_batches: bool,
) -> Outcome:
    """Serve all requests of a ledger under the rule of a policy; `choice.choose` has allowed it.

    Parameters
    ----------
    ledger : Ledger
        The whole workload; the fates of its requests are written into its columns.
    policy, slots, step_time, slotted, record_batches
        As for `serving_sim.simulate.simulate`.
    alpha : int or None
        Budget of the audit in tokens.
    """
    rule = rule_of(policy)
    assert rule is not None
    spans = _spans(2 * ledger.known if record_batches else 0)
    sums = np.zeros((3, 2), np.int64)
    sized = rule.order != Order.ARRIVAL
    fates = _fates(ledger, sized=sized, constant=step_time.constant)
    tally = kernel.serve(
        _requests(ledger, constant=step_time.constant),
        fates,
        empty_slots(slots),
        _queue(ledger, sized=sized),
        no_plan(slots, _most_packed(ledger, slots, policy) if rule.order == Order.ISJL else 0),
        Terms(
            int(slots),
            slotted,
            int(rule.order),
            _budget(policy.alpha),
            _budget(rule.allowance),
            _budget(alpha),
        ),
        Coefficients(
            step_time.base,
            step_time.per_request,
            step_time.per_max_token,
            step_time.per_token,
            step_time.constant,
        ),
        spans,
        sums,
    )
    assert tally.served == ledger.known, "a built-in rule leaves nobody waiting"
    if sized:
        _bring_into_arrival_order(fates, ledger)
    return Outcome(
        steps=tally.steps,
        externality=exact(sums[AT_ADMISSION]) - exact(sums[AT_OLDEST]),
        gap_steps=exact(sums[GAPS]),
        makespan=tally.makespan,
        busy_time=tally.busy_time,
        epochs=tally.epochs,
        decisions=tally.decisions,
        events=0,
        audit=Audit(
            alpha=alpha,
            max_gap=tally.max_gap,
            violations=tally.violations,
            violation_steps=tally.violation_steps,
            first=_first_violation(tally),
        ),
        batches=_batches(spans, tally.spans) if record_batches else None,
    )


def _requests(ledger: Ledger, *, constant: bool) -> Requests:
    unread = np.empty(0, np.int64)
    return Requests(
        release=read_only(_column(ledger, "release")),
        length=read_only(_column(ledger, "length")),
        first_token_step=read_only(unread if constant else _column(ledger, "first_token_step")),
        known_exactly=ledger.sizes_are_lengths,
    )


def _fates(ledger: Ledger, *, sized: bool, constant: bool) -> Fates:
    unread = np.empty(0)

    def log(name: str) -> NDArray[Any]:
        column = _column(ledger, name)
        return np.empty_like(column) if sized else column  # in arrival order they need no second place

    return Fates(
        request=np.empty(ledger.known if sized else 0, np.int32),
        start=log("start"),
        first_token=unread if constant else log("first_token"),
        finish=log("finish"),
        slot=log("slot"),
    )


def _bring_into_arrival_order(fates: Fates, ledger: Ledger) -> None:
    for name in ("start", "first_token", "finish", "slot"):
        log = getattr(fates, name)
        if len(log):
            kernel.put(log, fates.request, _column(ledger, name))


def _most_packed(ledger: Ledger, slots: int, policy: Policy) -> int:
    assert policy.alpha is not None
    return min(ledger.known, slots * 2 * policy.alpha)  # a pack holds at most 2 alpha tokens


def _queue(ledger: Ledger, *, sized: bool) -> SizeQueue:
    nobody = np.empty(0, np.int64)  # arrival order needs no queue
    return make_queue(*ranks(_column(ledger, "size"))) if sized else make_queue(nobody, nobody)


def _column(ledger: Ledger, name: str) -> NDArray[Any]:
    return np.asarray(ledger.view(name))


def _budget(tokens: int | None) -> int:
    return NEVER if tokens is None else min(int(tokens), NEVER)  # no run can tell larger ones apart


def _spans(rows: int) -> Spans:
    # every change of the batch has an admission or a completion of its own; rows that stay unused
    # take no memory
    def empty() -> IntArray:
        return np.empty(rows, np.int64)

    return Spans(np.empty(rows), empty(), empty(), empty(), empty(), empty(), empty())


def _batches(spans: Spans, rows: int) -> Batches:
    return Batches(
        time=spans.time[:rows].copy(),
        steps=spans.end[:rows] - spans.step[:rows],
        active=spans.active[:rows].copy(),
        waiting=spans.waiting[:rows].copy(),
        max_progress=spans.max_progress[:rows].copy(),
        min_progress=spans.min_progress[:rows].copy(),
    )


def _first_violation(tally: Tally) -> Violation | None:
    if tally.violations == 0:
        return None
    return Violation(
        time=tally.first_time,
        step=tally.first_step,
        request=tally.first_request,
        slot=tally.first_slot,
        other=tally.first_other,
        other_slot=tally.first_other_slot,
        gap=tally.first_gap,
    )
