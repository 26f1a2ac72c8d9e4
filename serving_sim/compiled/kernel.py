"""The event loop of `serving_sim.worker` as one compiled function."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from serving_sim.compiled.ages import Ages, add_newest, drop, make_ages, newest_slot, oldest_slot
from serving_sim.compiled.bits import NONE, Bits, all_bits, exclude, include, lowest_from
from serving_sim.compiled.heap import heap_pop, heap_push
from serving_sim.compiled.isjl_plan import (
    DRIFTED,
    HELD,
    HOLD_END,
    PACKED,
    Plan,
    make_plan,
    next_of_plan,
    note_early_ends,
    pack_stage_end,
    wants_plan,
)
from serving_sim.compiled.jit import Words, entry, sources_digest
from serving_sim.compiled.pace import Coefficients, elapsed, pace_of, steps_to_reach
from serving_sim.compiled.queue import SizeQueue, pop, push
from serving_sim.compiled.queue import largest as largest_rank
from serving_sim.compiled.queue import smallest as smallest_rank
from serving_sim.compiled.wide import add_product
from serving_sim.record import SlotArray
from serving_sim.request import FloatArray

NEVER = 2**62
"""A step no run reaches, and a budget no progress exceeds."""

ARRIVAL, SMALLEST, LARGEST, ISJL = range(4)
"""The values of `serving_sim.rule.Order`, as constants numba can fold."""

AT_ADMISSION, AT_OLDEST, GAPS = range(3)
"""Rows of the exact sums: length * admission step, tokens * oldest admission step, gap * steps."""


class Requests(NamedTuple):
    """Columns of the requests in arrival order, and whether the queue orders them by their lengths.

    ``first_token_step`` is read only where steps are not constant.
    """

    release: FloatArray
    length: Words
    first_token_step: Words
    known_exactly: bool


class Fates(NamedTuple):
    """What became of the requests, in the order of their admission; all is written.

    A request that has waited lies anywhere in a long stream. Written in its own row, each fate would
    cost cache misses that hold up the loop; one after the other they cost next to nothing, and
    are brought into arrival order all at once.

    Attributes
    ----------
    request : ndarray of int32, shape (n,)
        Who was admitted; of length 0 where that is the order of arrival.
    start, first_token, finish : ndarray of float, shape (n,)
        Instants in time units; first tokens are dated only where steps are not constant.
    slot : ndarray of int32, shape (n,)
        Slots.
    """

    request: SlotArray
    start: FloatArray
    first_token: FloatArray
    finish: FloatArray
    slot: SlotArray


class Slots(NamedTuple):
    """The worker's slots: who is in them, in which order they were taken, when they become free.

    Attributes
    ----------
    free : Bits
        Free slots.
    occupant : ndarray of int64, shape (slots,)
        By slot, the number of the admission that took it.
    batch : Ages
        Occupied slots.
    ends, end_slots : ndarray of int64, shape (slots,)
        Heap of last steps and slots.
    firsts, first_admissions : ndarray of int64, shape (slots,)
        Heap of steps that make a first token and admissions; unused where steps are constant.
    """

    free: Bits
    occupant: Words
    batch: Ages
    ends: Words
    end_slots: Words
    firsts: Words
    first_admissions: Words


class Terms(NamedTuple):
    """What is the same for the whole run; budgets are `NEVER` where there is none."""

    slots: int
    slotted: bool
    order: int
    budget: int
    allowance: int
    audited: int


class Spans(NamedTuple):
    """Rows of the batch record; of length 0 where none is kept."""

    time: FloatArray
    step: Words
    end: Words
    active: Words
    waiting: Words
    max_progress: Words
    min_progress: Words


class Tally(NamedTuple):
    """Counters of a run, with the first violation field by field."""

    steps: int
    makespan: float
    busy_time: float
    epochs: int
    decisions: int
    served: int
    spans: int
    max_gap: int
    violations: int
    violation_steps: int
    first_time: float
    first_step: int
    first_request: int
    first_slot: int
    first_other: int
    first_other_slot: int
    first_gap: int


def empty_slots(slots: int) -> Slots:
    """All slots are free."""

    def empty() -> Words:
        return np.empty(slots, np.int64)

    return Slots(all_bits(slots), empty(), make_ages(slots), empty(), empty(), empty(), empty())


@entry
def serve(  # noqa: C901, PLR0912, PLR0915, PLR0917  (one loop over epochs, as `Worker.run` is)
    requests: Requests,
    fates: Fates,
    worker: Slots,
    queue: SizeQueue,
    plan: Plan,
    terms: Terms,
    step_time: Coefficients,
    spans: Spans,
    sums: Words,
    sources: int = sources_digest(),  # noqa: ARG001  (see below)
) -> Tally:
    """Serve all requests.

    It writes ``fates``, the batch record into ``spans`` and three exact sums
    (`serving_sim.compiled.wide`) into ``sums``; these hold zeros before, and the slots, the queue and
    the plan are empty. ``sources`` is left alone: a default is a part of the key under which numba
    keeps what it compiled.

    Complexity: O(log slots) a request beside the queue, see `serving_sim.compiled.queue`.
    """
    slots, order, budget, audited = terms.slots, terms.order, terms.budget, terms.audited
    constant = step_time.constant
    release, length = requests.release, requests.length
    known = len(length)
    records = len(spans.time) > 0
    lazy = constant and not records
    sized = order != ARRIVAL

    free, occupant, batch = worker.free, worker.occupant, worker.batch
    ends, end_slots = worker.ends, worker.end_slots
    firsts, first_admissions = worker.firsts, worker.first_admissions
    zero = int(np.int64(0))  # a literal is a type of its own, for which all it reaches would be compiled too
    planned = False
    early = False  # whether a pack request may have ended before its projected end

    step = joined = admitted = waiting = active = zero
    dating = zero  # requests whose first token is not dated yet
    produced = zero  # wraps around, but what is read of it, tokens so far, does not
    taken_at = zero  # sum of the admission steps of the batch; wraps around, like `produced`
    last_end = oldest = newest = gap_mark = work_mark = zero
    epochs = decisions = served = rows = open_row = zero
    max_gap = violations = violation_steps = zero
    first_time = 0.0
    first_step = first_request = first_slot = first_other = first_other_slot = first_gap = NONE
    steps = zero
    makespan = busy_time = busy_since = now = 0.0
    anchor, anchor_step = 0.0, zero
    pace = pace_of(step_time, zero, zero, zero)
    linear = pace.linear
    wake_step = NEVER
    next_release = release[0]

    while True:
        epochs += 1
        changed = False
        while dating > 0 and firsts[0] <= step:
            fates.first_token[first_admissions[0]] = anchor + elapsed(pace, firsts[0] - anchor_step)
            heap_pop(firsts, first_admissions, dating)
            dating -= 1

        # 1. requests that have done their last step complete
        while active > 0 and ends[0] <= step:
            changed = True
            end, slot = ends[0], end_slots[0]
            heap_pop(ends, end_slots, active)
            since = batch.since[slot]
            early = early or (planned and plan.due[slot] > end)
            drop(batch, slot)
            include(free, slot)
            if not constant:  # constant steps have dated it at the admission
                fates.finish[occupant[slot]] = now
            active -= 1
            served += 1
            produced += end
            taken_at -= since
            if since in (oldest, newest):
                if newest > oldest:
                    add_product(sums[GAPS], newest - oldest, end - gap_mark)
                    if newest - oldest > audited:
                        violation_steps += end - gap_mark
                gap_mark = end
                work = produced + active * end
                add_product(sums[AT_OLDEST], oldest, work - work_mark)
                work_mark = work
                if active > 0:
                    oldest = batch.since[oldest_slot(batch)]
                    newest = batch.since[newest_slot(batch)]
                else:
                    newest = oldest
            if active == 0:
                busy_time += now - busy_since
                steps, makespan = step, now

        # 2. requests released by now join, in the order (release, input order)
        while next_release <= now:
            if sized:
                push(queue, joined)
            joined += 1
            waiting += 1
            next_release = release[joined] if joined < known else math.inf

        # 3. the rule admits
        if waiting > 0 and active < slots and (active == 0 or step - oldest <= budget):
            decisions += 1
            if order == ISJL and not planned and active == 0 and wants_plan(queue, slots, budget):
                make_plan(plan, queue, budget, terms.allowance, step)
                planned = True
                early = False
            if early:
                note_early_ends(plan, free, step)
                early = False
            if planned and plan.state[DRIFTED] != 0 and plan.state[HELD] > 0:
                plan.state[HOLD_END] = pack_stage_end(plan, budget, step) - budget
            count = zero
            first = first_taken = NONE
            slot = lowest_from(free, zero)
            while slot != NONE:
                request, tokens = NONE, zero
                if planned:
                    request, tokens = next_of_plan(plan, queue, slot, budget, step)
                elif not sized:
                    if admitted < joined:
                        request = admitted
                else:
                    rank = smallest_rank(queue) if order == SMALLEST else largest_rank(queue)
                    if rank != NONE:
                        request, tokens = pop(queue, rank), queue.sizes[rank]
                if request != NONE:
                    if not (sized and requests.known_exactly):
                        tokens = length[request]
                    end = step + tokens
                    last_end = max(last_end, end)
                    add_product(sums[AT_ADMISSION], tokens, step)
                    if sized:
                        fates.request[admitted] = request
                    fates.start[admitted] = now
                    fates.slot[admitted] = slot
                    occupant[slot] = admitted
                    exclude(free, slot)
                    add_newest(batch, slot, step)
                    heap_push(ends, end_slots, active + count, end, slot)
                    if constant:
                        fates.finish[admitted] = anchor + (end - anchor_step) * linear
                    else:
                        made = step + requests.first_token_step[request]
                        heap_push(firsts, first_admissions, dating, made, admitted)
                        dating += 1
                    if count == 0:
                        first, first_taken = request, slot
                    admitted += 1
                    count += 1
                elif not planned:
                    break
                slot = lowest_from(free, slot + 1)
            if count > 0:
                changed = True
                if newest > oldest:
                    add_product(sums[GAPS], newest - oldest, step - gap_mark)
                    if newest - oldest > audited:
                        violation_steps += step - gap_mark
                gap_mark = newest = step
                if active == 0:
                    busy_since = now
                    oldest = step
                gap = step - oldest
                max_gap = max(max_gap, gap)
                waiting -= count
                active += count
                produced -= count * step
                taken_at += count * step
                if gap > audited:
                    if violations == 0:
                        first_time, first_step, first_request, first_slot = now, step, first, first_taken
                        first_other_slot = oldest_slot(batch)
                        first_other, first_gap = occupant[first_other_slot], gap
                        if sized:
                            first_other = fates.request[first_other]
                    violations += count
            wake_step = NEVER
            if planned:
                if plan.state[HELD] == 0 and plan.state[PACKED] == 0:
                    planned = False
                elif step < plan.state[HOLD_END]:
                    wake_step = plan.state[HOLD_END]
        elif wake_step <= step:
            wake_step = NEVER

        # 4. if the batch is not empty the next step begins at once
        if changed:
            if records:
                if open_row < rows:
                    spans.end[open_row] = step
                    open_row = rows
                if active > 0:
                    spans.time[rows] = now
                    spans.step[rows] = step
                    spans.active[rows] = active
                    spans.waiting[rows] = waiting
                    spans.max_progress[rows] = step - oldest
                    spans.min_progress[rows] = step - newest
                    rows += 1
            if active > 0 and not constant:
                anchor, anchor_step = now, step
                pace = pace_of(step_time, active, step - oldest, active * step - taken_at)

        # jump to the next epoch
        if active > 0:
            skips = lazy and active < slots and waiting == 0
            target = min(last_end if skips else ends[0], wake_step)
            reach = anchor + elapsed(pace, target - anchor_step)
            if active < slots and next_release < reach:
                seen = anchor_step + steps_to_reach(pace, anchor, next_release)
                if seen < target and (skips or seen - oldest <= budget):
                    target = seen
                    reach = anchor + elapsed(pace, target - anchor_step)
        else:
            target = step
            reach = max(next_release, now)
            if reach == math.inf:
                break
            if terms.slotted:
                ticks = steps_to_reach(pace, 0.0, reach)
                reach = elapsed(pace, ticks)
                anchor, anchor_step = 0.0, step - ticks
            else:
                anchor, anchor_step = reach, step
        step, now = target, reach

    return Tally(
        steps, makespan, busy_time, epochs, decisions, served, rows, max_gap, violations, violation_steps,
        first_time, first_step, first_request, first_slot, first_other, first_other_slot,
        first_gap,
    )  # fmt: skip


@entry
def put(log: Words, request: SlotArray, column: Words) -> None:
    """Bring a column of `Fates` into arrival order.

    A loop over one column at a time: numpy's own indexing takes several times as long, and a loop that
    fills all columns waits for more of memory at once.
    """
    for admission in range(len(request)):
        column[request[admission]] = log[admission]
