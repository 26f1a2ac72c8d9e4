"""Phase ONE of ISJL on arrays; what each step means stands in ``policies/planning.py``.

The rule stands twice because the forms that are fast differ: objects that Python shares there,
linked arrays here. A property test holds the two engines together on many thousand small runs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from serving_sim.compiled.bits import NONE, Bits, highest_up_to, lowest_from
from serving_sim.compiled.jit import Words, inner
from serving_sim.compiled.queue import (
    Links,
    SizeQueue,
    largest,
    largest_up_to,
    pop,
    second_largest,
)

HELD, PACKED, BEGAN, HOLD_END, DRIFTED = range(5)
"""Places in `Plan.state`."""


class Plan(NamedTuple):
    """What phase ONE holds back, by slot; the packs are linked through ``SizeQueue.behind``.

    Attributes
    ----------
    head, tail : ndarray of int32, shape (slots,)
        First and last request of the pack that is left, `NONE` for none.
    long : ndarray of int32, shape (slots,)
        The long request, `NONE` for none.
    begun, due : ndarray of int64, shape (slots,)
        First step and projected last step of the last pack request admitted.
    order : ndarray of int64, shape (slots,)
        Slots in the order in which they are offered to a request while the packs are made.
    room : ndarray of int64, shape (slots,)
        Tokens that still fit into the pack of each slot, in that order.
    state : ndarray of int64, shape (5,)
        Longs held, pack requests left, step of the planning, step at which the hold ends, and
        whether pack requests have ended earlier than projected.
    """

    head: Links
    tail: Links
    long: Links
    begun: Words
    due: Words
    order: Words
    room: Words
    state: Words


def no_plan(slots: int) -> Plan:
    """Nothing is held back."""

    def nobody() -> Links:
        return np.full(slots, NONE, np.int32)

    def zeros() -> Words:
        return np.zeros(slots, np.int64)

    return Plan(
        head=nobody(),
        tail=nobody(),
        long=nobody(),
        begun=zeros(),
        due=zeros(),
        order=zeros(),
        room=zeros(),
        state=np.zeros(5, np.int64),
    )


@inner
def wants_plan(queue: SizeQueue, slots: int, alpha: int) -> bool:
    """Whether phase ONE applies: two slots or more and two waiting sizes above alpha or more."""
    if slots < 2:
        return False
    second = second_largest(queue)
    return second != NONE and queue.sizes[second] > alpha


@inner
def make_plan(plan: Plan, queue: SizeQueue, alpha: int, beta: int, step: int) -> None:
    """Take the longs and their packs out of the queue, and project the end of the hold."""
    slots = len(plan.order)
    for slot in range(slots):
        plan.begun[slot] = plan.due[slot] = step
    held = 0
    first_size = last_size = 0
    while held < slots:
        rank = largest(queue)
        if rank == NONE or queue.sizes[rank] <= alpha:
            break
        last_size = queue.sizes[rank]
        if held == 0:
            first_size = last_size
        plan.long[held] = pop(queue, rank)
        plan.room[slots - 1 - held] = min(2 * alpha, first_size - last_size + beta)
        plan.order[slots - 1 - held] = held
        held += 1
    for place in range(slots - held):
        plan.room[place] = alpha
        plan.order[place] = held + place
    plan.state[HELD] = held
    plan.state[PACKED] = plan.state[DRIFTED] = 0
    plan.state[BEGAN] = step
    _pack(plan, queue, min(2 * alpha, first_size - last_size + beta))
    plan.state[HOLD_END] = pack_stage_end(plan, queue, alpha, step) - alpha


@inner
def _pack(plan: Plan, queue: SizeQueue, limit: int) -> None:
    """First-fit decreasing; requests of one size are placed in one pass over the slots."""
    offered = len(plan.order) - 1  # the largest long, which comes last, takes no pack
    rank = largest_up_to(queue, limit)
    while rank != NONE:
        size = queue.sizes[rank]
        most = 0
        for place in range(offered):
            while plan.room[place] >= size:
                plan.room[place] -= size
                _append(plan, queue, plan.order[place], pop(queue, rank))
                if queue.first[rank] == NONE:
                    break
            if queue.first[rank] == NONE:
                most = size
                break
            most = max(most, plan.room[place])
        # where requests of this size are left no room is as large: larger ones than the most need no look
        rank = highest_up_to(queue.filled, rank - 1) if most >= size else largest_up_to(queue, most)


@inner
def _append(plan: Plan, queue: SizeQueue, slot: int, request: int) -> None:
    queue.behind[request] = NONE
    if plan.head[slot] == NONE:
        plan.head[slot] = request
    else:
        queue.behind[plan.tail[slot]] = request
    plan.tail[slot] = request
    plan.state[PACKED] += 1


@inner
def pack_stage_end(plan: Plan, queue: SizeQueue, alpha: int, step: int) -> int:
    """Step at which the last pack request ends if the packs are played forward under the guard.

    A pack is in descending order and holds at most 2 alpha, so only its first request can exceed
    alpha, and the first ones all start with the plan. Hence the guard stops pack requests in one
    window only: from alpha steps after that until the largest first request has ended.
    """
    began = plan.state[BEGAN]
    window_end = step
    for slot in range(len(plan.head)):
        if plan.begun[slot] == began:
            window_end = max(window_end, plan.due[slot])
        if step == began and plan.head[slot] != NONE:
            window_end = max(window_end, step + _size(queue, plan.head[slot]))
    last = step
    for slot in range(len(plan.head)):
        end = max(step, plan.due[slot])
        request = plan.head[slot]
        while request != NONE:
            if began + alpha < end < window_end:
                end = window_end
            end += _size(queue, request)
            request = queue.behind[request]
        last = max(last, end)
    return last


@inner
def _size(queue: SizeQueue, request: int) -> int:
    size: int = queue.sizes[queue.rank[request]]
    return size


@inner
def note_early_ends(plan: Plan, free: Bits, step: int) -> None:
    """Free slots whose pack request was due later: the pack stage does not run as projected."""
    slot = lowest_from(free, 0)
    while slot != NONE:
        if plan.due[slot] > step:
            plan.due[slot] = step
            plan.state[DRIFTED] = 1
        slot = lowest_from(free, slot + 1)


@inner
def next_of_plan(plan: Plan, queue: SizeQueue, slot: int, alpha: int, step: int) -> int:
    """The request to admit into a free slot, `NONE` to keep it idle."""
    over = step >= plan.state[HOLD_END]
    request: int = plan.head[slot]
    if request != NONE:
        plan.head[slot] = queue.behind[request]
        plan.state[PACKED] -= 1
        plan.begun[slot] = step
        plan.due[slot] = step + _size(queue, request)
        return request
    request = plan.long[slot]
    if request != NONE:
        if not over:
            return NONE
        plan.long[slot] = NONE
        plan.state[HELD] -= 1
        return request
    rank = largest(queue)
    if rank != NONE and (over or queue.sizes[rank] <= alpha):
        return pop(queue, rank)
    return NONE
