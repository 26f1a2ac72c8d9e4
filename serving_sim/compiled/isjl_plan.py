"""Phase ONE of ISJL on arrays; what each step means stands in ``policies/planning.py``.

The rule stands twice because the forms that are fast differ: objects that Python shares there,
linked arrays here. A property test holds the two engines together on many thousand small runs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from serving_sim.compiled.ages import Ages, add_newest, drop, forget_ages, make_ages, oldest_slot
from serving_sim.compiled.bits import NONE, highest_up_to
from serving_sim.compiled.heap import heap_pop, heap_push
from serving_sim.compiled.jit import Words, inner
from serving_sim.compiled.queue import (
    Links,
    SizeQueue,
    largest,
    largest_up_to,
    pop,
    second_largest,
)

HELD, PACKED, HOLD_END, DRIFTED = range(4)
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
    room : ndarray of int64, shape (slots,)
        Tokens that still fit into the pack while it is made.
    order : ndarray of int64, shape (slots,)
        Slots in the order in which they are offered to a request.
    state : ndarray of int64, shape (4,)
        Longs held, pack requests left, step at which the hold ends, whether ends have drifted.
    cursor, ready, due_heap, slot_heap, ages
        Space for `project`.
    """

    head: Links
    tail: Links
    long: Links
    begun: Words
    due: Words
    room: Words
    order: Words
    state: Words
    cursor: Links
    ready: Words
    due_heap: Words
    slot_heap: Words
    ages: Ages


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
        room=zeros(),
        order=zeros(),
        state=np.zeros(4, np.int64),
        cursor=nobody(),
        ready=zeros(),
        due_heap=zeros(),
        slot_heap=zeros(),
        ages=make_ages(slots),
    )


@inner
def wants_plan(queue: SizeQueue, slots: int, alpha: int) -> bool:
    """Whether phase ONE applies: two slots or more and two waiting sizes above alpha or more."""
    if slots < 2:
        return False
    second = second_largest(queue)
    return second != NONE and queue.sizes[second] > alpha


@inner
def make_plan(  # noqa: PLR0917  (numba knows no keyword-only arguments)
    plan: Plan, queue: SizeQueue, batch: Ages, alpha: int, beta: int, step: int
) -> None:
    """Take the longs and their packs out of the queue, and project the end of the hold."""
    slots = len(plan.room)
    for slot in range(slots):
        plan.due[slot] = step
        plan.room[slot] = alpha
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
        plan.room[held] = min(2 * alpha, first_size - last_size + beta)
        held += 1
    plan.room[0] = 0
    for place in range(slots - held):
        plan.order[place] = held + place
    for place in range(held - 1):
        plan.order[slots - held + place] = held - 1 - place
    plan.state[HELD] = held
    plan.state[PACKED] = plan.state[DRIFTED] = 0
    _pack(plan, queue, min(2 * alpha, first_size - last_size + beta))
    plan.state[HOLD_END] = project(plan, queue, batch, alpha, step) - alpha


@inner
def _pack(plan: Plan, queue: SizeQueue, limit: int) -> None:
    """First-fit decreasing; requests of one size are placed in one pass over the slots."""
    offered = len(plan.order) - 1  # the largest long takes no pack
    most = 0  # the room left in the roomiest slot
    for place in range(offered):
        most = max(most, plan.room[plan.order[place]])
    rank = largest_up_to(queue, min(limit, most))
    while rank != NONE:
        size = queue.sizes[rank]
        most = 0
        for place in range(offered):
            slot = plan.order[place]
            while plan.room[slot] >= size and queue.first[rank] != NONE:
                _append(plan, queue, slot, pop(queue, rank))
                plan.room[slot] -= size
            most = max(most, plan.room[slot])
        rank = highest_up_to(queue.filled, rank - 1) if most >= size - 1 else largest_up_to(queue, most)


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
def project(plan: Plan, queue: SizeQueue, batch: Ages, alpha: int, step: int) -> int:
    """Step at which the last pack request ends if the packs are played forward under the guard.

    ``batch`` holds the real batch: its active pack requests are those due after ``step``.
    """
    ages, due_heap, slot_heap = plan.ages, plan.due_heap, plan.slot_heap
    playing = _resume(plan, batch, step)
    waits = 0
    for slot in range(len(plan.room)):
        plan.cursor[slot] = plan.head[slot]
        if plan.due[slot] <= step and plan.head[slot] != NONE:
            plan.ready[waits] = slot
            waits += 1
    now = step
    while True:
        if playing == 0 or now - ages.since[oldest_slot(ages)] <= alpha:
            for place in range(waits):
                slot = plan.ready[place]
                request = plan.cursor[slot]
                plan.cursor[slot] = queue.behind[request]
                heap_push(due_heap, slot_heap, playing, now + queue.sizes[queue.rank[request]], slot)
                add_newest(ages, slot, now)
                playing += 1
            waits = 0
        if playing == 0:
            return now
        now = due_heap[0]
        while playing > 0 and due_heap[0] == now:
            slot = slot_heap[0]
            heap_pop(due_heap, slot_heap, playing)
            playing -= 1
            drop(ages, slot)
            if plan.cursor[slot] != NONE:
                plan.ready[waits] = slot
                waits += 1


@inner
def _resume(plan: Plan, batch: Ages, step: int) -> int:
    """Start to play with the active pack requests, and count them."""
    forget_ages(plan.ages)
    playing = 0
    slot = oldest_slot(batch)
    while slot < len(plan.room):
        if plan.due[slot] > step:
            heap_push(plan.due_heap, plan.slot_heap, playing, plan.due[slot], slot)
            add_newest(plan.ages, slot, plan.begun[slot])
            playing += 1
        slot = batch.newer[slot]
    return playing


@inner
def note_early_end(plan: Plan, slot: int, step: int) -> None:
    """A free slot: if its pack request was due later, the pack stage does not run as projected."""
    if plan.due[slot] > step:
        plan.due[slot] = step
        plan.state[DRIFTED] = 1


@inner
def next_of_plan(plan: Plan, queue: SizeQueue, slot: int, alpha: int, step: int) -> int:
    """The request to admit into a free slot, `NONE` to keep it idle."""
    over = step >= plan.state[HOLD_END]
    request: int = plan.head[slot]
    if request != NONE:
        plan.head[slot] = queue.behind[request]
        plan.state[PACKED] -= 1
        plan.begun[slot] = step
        plan.due[slot] = step + queue.sizes[queue.rank[request]]
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
