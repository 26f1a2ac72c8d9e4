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
    SizeQueue,
    largest,
    largest_up_to,
    pop,
    second_largest,
)

HELD, PACKED, BEGAN, HOLD_END, DRIFTED = range(5)
"""Places in `Plan.state`."""


class Plan(NamedTuple):
    """What phase ONE holds back, by slot.

    Attributes
    ----------
    long, long_size : ndarray of int64, shape (slots,)
        The long request, `NONE` for none, and its size.
    head, tail : ndarray of int64, shape (slots,)
        First and last entry of the pack that is left, `NONE` for none.
    request, size, behind : ndarray of int64, shape (m,)
        By entry, a pack request, its size and the entry behind it, `NONE` at the end. Every plan
        starts anew with entry 0, so only as much of the space is ever touched as the largest takes.
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

    long: Words
    long_size: Words
    head: Words
    tail: Words
    request: Words
    size: Words
    behind: Words
    begun: Words
    due: Words
    order: Words
    room: Words
    state: Words


def no_plan(slots: int) -> Plan:
    """Nothing is held back, and there is no room for packs; `with_entries` makes it."""

    def nobody() -> Words:
        return np.full(slots, NONE, np.int64)

    def zeros() -> Words:
        return np.zeros(slots, np.int64)

    return Plan(
        long=nobody(),
        long_size=zeros(),
        head=nobody(),
        tail=nobody(),
        request=np.empty(0, np.int64),
        size=np.empty(0, np.int64),
        behind=np.empty(0, np.int64),
        begun=zeros(),
        due=zeros(),
        order=zeros(),
        room=zeros(),
        state=np.zeros(5, np.int64),
    )


def with_entries(plan: Plan, entries: int) -> Plan:
    """The plan with room to pack as many requests."""
    if entries <= len(plan.request):
        return plan

    def longer(column: Words) -> Words:
        return np.concatenate((column, np.empty(entries - len(column), np.int64)))

    return plan._replace(request=longer(plan.request), size=longer(plan.size), behind=longer(plan.behind))


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
    first_size = last_size = queue.sizes[largest(queue)]  # `wants_plan` has seen two longs
    while held < slots:
        rank = largest(queue)
        if rank == NONE or queue.sizes[rank] <= alpha:
            break
        last_size = queue.sizes[rank]
        plan.long[held] = pop(queue, rank)
        plan.long_size[held] = last_size
        plan.room[slots - 1 - held] = min(2 * alpha, first_size - last_size + beta)
        plan.order[slots - 1 - held] = held
        held += 1
    for place in range(slots - held):
        plan.room[place] = alpha
        plan.order[place] = held + place
    plan.state[HELD] = held
    plan.state[DRIFTED] = 0
    plan.state[BEGAN] = step
    _pack(plan, queue, min(2 * alpha, first_size - last_size + beta))
    plan.state[HOLD_END] = pack_stage_end(plan, alpha, step) - alpha


@inner
def _pack(plan: Plan, queue: SizeQueue, limit: int) -> None:
    """First-fit decreasing; requests of one size are placed in one pass over the slots."""
    offered = len(plan.order) - 1  # the largest long, which comes last, takes no pack
    entry = 0
    rank = largest_up_to(queue, limit)
    while rank != NONE:
        size = queue.sizes[rank]
        left = queue.waiting[rank]
        most = 0
        for place in range(offered):
            while left > 0 and plan.room[place] >= size:
                plan.room[place] -= size
                _append(plan, plan.order[place], entry)
                plan.request[entry] = pop(queue, rank)
                plan.size[entry] = size
                entry += 1
                left -= 1
            if left == 0:
                break
            most = max(most, plan.room[place])
        # where some of this size are left no room is as large, and larger ones than the most need no look
        rank = highest_up_to(queue.filled, rank - 1) if left == 0 else largest_up_to(queue, most)
    plan.state[PACKED] = entry


@inner
def _append(plan: Plan, slot: int, entry: int) -> None:
    plan.behind[entry] = NONE
    if plan.head[slot] == NONE:
        plan.head[slot] = entry
    else:
        plan.behind[plan.tail[slot]] = entry
    plan.tail[slot] = entry


@inner
def pack_stage_end(plan: Plan, alpha: int, step: int) -> int:
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
            window_end = max(window_end, step + plan.size[plan.head[slot]])
    last = step
    for slot in range(len(plan.head)):
        end = max(step, plan.due[slot])
        entry = plan.head[slot]
        while entry != NONE:
            if began + alpha < end < window_end:
                end = window_end
            end += plan.size[entry]
            entry = plan.behind[entry]
        last = max(last, end)
    return last


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
def next_of_plan(plan: Plan, queue: SizeQueue, slot: int, alpha: int, step: int) -> tuple[int, int]:
    """The request to admit into a free slot and its size; `NONE` and 0 to keep the slot idle."""
    over = step >= plan.state[HOLD_END]
    entry = plan.head[slot]
    if entry != NONE:
        size = plan.size[entry]
        plan.head[slot] = plan.behind[entry]
        plan.state[PACKED] -= 1
        plan.begun[slot] = step
        plan.due[slot] = step + size
        return plan.request[entry], size
    long = plan.long[slot]
    if long != NONE:
        if not over:
            return NONE, 0
        plan.long[slot] = NONE
        plan.state[HELD] -= 1
        return long, plan.long_size[slot]
    rank = largest(queue)
    if rank != NONE and (over or queue.sizes[rank] <= alpha):
        return pop(queue, rank), queue.sizes[rank]
    return NONE, 0
