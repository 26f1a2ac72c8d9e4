"""Plays a stream of requests with the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from serving_sim.arrivals import OpenStream
from serving_sim.compiled import kernel
from serving_sim.compiled.isjl_plan import no_plan, with_entries
from serving_sim.compiled.jit import read_only
from serving_sim.compiled.kernel import AT_ADMISSION, AT_OLDEST, GAPS, Requests, Terms, empty_slots
from serving_sim.compiled.log import Changes, Log, make_log, put
from serving_sim.compiled.pace import Coefficients
from serving_sim.compiled.queue import make_queue, with_room
from serving_sim.compiled.state import NEVER, State
from serving_sim.compiled.tally import audit_of, make_tally
from serving_sim.compiled.wide import exact
from serving_sim.ledger import Ledger
from serving_sim.outcome import Outcome
from serving_sim.policy import Policy
from serving_sim.rule import Order, rule_of
from serving_sim.steptime import StepTime

MOST_LOGGED = 16_384
"""Admissions after which the log is read: few enough for the cache, and a call costs next to nothing."""


def serve(
    ledger: Ledger,
    arrivals: OpenStream,
    policy: Policy,
    *,
    slots: int,
    step_time: StepTime,
    slotted: bool,
    alpha: int | None,
    record_batches: bool,
) -> Outcome:
    """Serve all requests of a stream under the rule of a policy; `choice.choose` has allowed it.

    Parameters
    ----------
    ledger : Ledger
        The fates of the requests are written into its columns.
    arrivals : OpenStream
        Fills the ledger.
    policy, slots, step_time, slotted, record_batches
        As for `serving_sim.simulate.simulate`.
    alpha : int or None
        Budget of the audit in tokens.
    """
    rule = rule_of(policy)
    assert rule is not None
    terms = Terms(
        int(slots), slotted, int(rule.order), _budget(policy.alpha), _budget(rule.allowance), _budget(alpha)
    )
    coefficients = _coefficients(step_time)
    worker, queue, plan = empty_slots(slots), make_queue(), no_plan(slots)
    log, changes = make_log(MOST_LOGGED, slots, batches=record_batches), Changes()
    sums, tally = np.zeros((3, 2), np.int64), make_tally()
    state = State()
    rank, ranked, more = np.empty(0, np.int64), 0, True
    while not state.over:
        if more and state.joined == ledger.known:
            more = arrivals.refill()
            if more and rule.order != Order.ARRIVAL:
                ranked = state.joined
                queue, rank = with_room(queue, _column(ledger, "size")[ranked - ledger.base :])
            if rule.order == Order.ISJL:
                plan = with_entries(plan, _most_packed(ledger.known - state.admitted, slots, policy))
        admitted = state.admitted
        state = kernel.serve(
            state._replace(firsts_logged=0, finishes_logged=0, changes_logged=0),
            Requests(
                base=ledger.base,
                known=ledger.known,
                more=more,
                release=read_only(_column(ledger, "release")),
                length=read_only(_column(ledger, "length")),
                first_token_step=read_only(_column(ledger, "first_token_step")),
                rank=rank,
                ranked=ranked,
                known_exactly=ledger.sizes_are_lengths,
            ),
            log,
            admitted + MOST_LOGGED,
            worker,
            queue,
            plan,
            terms,
            coefficients,
            sums,
            tally,
        )
        _read(log, ledger, state, state.admitted - admitted)
        if record_batches:
            changes.read(log, state.changes_logged)
    assert state.admitted == ledger.known, "a built-in rule leaves nobody waiting"
    return Outcome(
        steps=int(tally.steps),
        externality=exact(sums[AT_ADMISSION]) - exact(sums[AT_OLDEST]),
        gap_steps=exact(sums[GAPS]),
        makespan=float(tally.makespan),
        busy_time=float(tally.busy_time),
        epochs=int(tally.epochs),
        decisions=int(tally.decisions),
        events=0,
        audit=audit_of(tally, alpha),
        batches=changes.batches() if record_batches else None,
    )


def _read(log: Log, ledger: Ledger, state: State, admissions: int) -> None:
    for requests, values, count, name in (
        (log.admitted, log.start, admissions, "start"),
        (log.admitted, log.slot, admissions, "slot"),
        (log.made_first, log.first_token, state.firsts_logged, "first_token"),
        (log.finished, log.finish, state.finishes_logged, "finish"),
    ):
        if count:
            put(requests, values, count, _column(ledger, name), ledger.base)


def _column(ledger: Ledger, name: str) -> NDArray[Any]:
    return np.asarray(ledger.view(name))[: ledger.known - ledger.base]


def _most_packed(waiting: int, slots: int, policy: Policy) -> int:
    assert policy.alpha is not None
    return min(waiting, slots * 2 * policy.alpha)  # a pack holds at most 2 alpha tokens


def _budget(tokens: int | None) -> int:
    return NEVER if tokens is None else min(int(tokens), NEVER)  # no run can tell larger ones apart


def _coefficients(step_time: StepTime) -> Coefficients:
    return Coefficients(
        float(step_time.base),
        float(step_time.per_request),
        float(step_time.per_max_token),
        float(step_time.per_token),
        step_time.constant,
    )
