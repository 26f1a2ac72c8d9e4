"""The event loop of `serving_sim.worker` as one compiled function."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from serving_sim.compiled.ages import Ages, add_newest, drop, make_ages, newest_slot, oldest_slot
from serving_sim.compiled.bits import NONE, Bits, bits_of, exclude, include, lowest_from
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
from serving_sim.compiled.log import Log
from serving_sim.compiled.pace import Coefficients, elapsed, pace_of, steps_to_reach
from serving_sim.compiled.queue import SizeQueue, pop, push
from serving_sim.compiled.queue import largest as largest_rank
from serving_sim.compiled.queue import smallest as smallest_rank
from serving_sim.compiled.state import NEVER, State
from serving_sim.compiled.tally import Tally
from serving_sim.compiled.wide import add_product
from serving_sim.request import FloatArray
from serving_sim.rule import Order

ARRIVAL, SMALLEST, LARGEST, ISJL = map(int, Order)
"""As plain numbers, which numba can fold."""

AT_ADMISSION, AT_OLDEST, GAPS = range(3)
"""Rows of the exact sums: length * admission step, tokens * oldest admission step, gap * steps."""


class Requests(NamedTuple):
    """The requests that are known, from the oldest one that is held in memory to the newest.

    Attributes
    ----------
    base, known : int
        Number of the first of them, and how many have been known so far.
    more : bool
        Whether others follow.
    release : ndarray of float, shape (known - base,)
        In time units, not decreasing.
    length, first_token_step : ndarray of int64, shape (known - base,)
        In steps; the latter is read only where steps are not constant.
    rank : ndarray of int64
        Rank in the queue of those from number ``ranked`` on; unused in arrival order.
    ranked : int
        The first request with a rank.
    known_exactly : bool
        Whether the queue orders requests by their lengths.
    """

    base: int
    known: int
    more: bool
    release: FloatArray
    length: Words
    first_token_step: Words
    rank: Words
    ranked: int
    known_exactly: bool


class Slots(NamedTuple):
    """The worker's slots: who is in them, in which order they were taken, when they become free.

    Attributes
    ----------
    free : Bits
        Free slots.
    occupant : ndarray of int64, shape (slots,)
        By slot, the request that took it.
    batch : Ages
        Occupied slots.
    ends, end_slots : ndarray of int64, shape (slots,)
        Heap of last steps and slots.
    firsts, first_requests : ndarray of int64, shape (slots,)
        Heap of steps that make a first token and requests; unused where steps are constant.
    """

    free: Bits
    occupant: Words
    batch: Ages
    ends: Words
    end_slots: Words
    firsts: Words
    first_requests: Words


class Terms(NamedTuple):
    """What is the same for the whole run; budgets are `NEVER` where there is none."""

    slots: int
    slotted: bool
    order: int
    budget: int
    allowance: int
    audited: int
    latest: float


def empty_slots(slots: int) -> Slots:
    """All slots are free."""

    def empty() -> Words:
        return np.empty(slots, np.int64)

    return Slots(bits_of(np.ones(slots, bool)), empty(), make_ages(slots), empty(), empty(), empty(), empty())


@entry
def serve(  # noqa: C901, PLR0912, PLR0915, PLR0917  (one loop over epochs, as `Worker.run` is)
    state: State,
    requests: Requests,
    log: Log,
    most_admitted: int,
    worker: Slots,
    queue: SizeQueue,
    plan: Plan,
    terms: Terms,
    step_time: Coefficients,
    sums: Words,
    tally: Tally,
    sources: int = sources_digest(),  # noqa: ARG001  (see below)
) -> State:
    """Serve until the requests that are known have joined, the log is full, it is too late, or all is over.

    It goes on from ``state`` and returns where it stands. It needs more requests where all that are known
    have joined and others follow; else the log has to be read once ``most_admitted`` requests, counted from
    the start of the run, were admitted. Three exact sums (`serving_sim.compiled.wide`) grow in ``sums``.
    ``sources`` is left alone: a default is a part of the key under which numba keeps what it compiled.

    Complexity: O(log slots) a request beside the queue, see `serving_sim.compiled.queue`.
    """
    slots, order, budget, audited, latest = (
        terms.slots,
        terms.order,
        terms.budget,
        terms.audited,
        terms.latest,
    )
    constant = step_time.constant
    base, known, release, length = requests.base, requests.known, requests.release, requests.length
    records = len(log.time) > 0
    lazy = constant and not records
    sized = order != ARRIVAL

    free, occupant, batch = worker.free, worker.occupant, worker.batch
    ends, end_slots = worker.ends, worker.end_slots
    firsts, first_requests = worker.firsts, worker.first_requests
    zero = int(np.int64(0))  # a literal is a type of its own, for which all it reaches would be compiled too

    (
        over, step, now, changed, anchor, anchor_step, wake_step,
        joined, admitted, waiting, active, dating, planned, early,
        firsts_logged, finishes_logged, changes_logged,
        produced, taken_at, last_end, oldest, newest, gap_mark, work_mark, busy_since,
    ) = state  # fmt: skip
    pace = pace_of(step_time, active, anchor_step - oldest, active * anchor_step - taken_at)
    linear = pace.linear
    logged = admitted  # those before are no longer in the log
    next_release = release[joined - base] if joined < known else math.inf

    while True:
        while dating > 0 and firsts[0] <= step:
            log.made_first[firsts_logged] = first_requests[0] - base
            log.first_token[firsts_logged] = anchor + elapsed(pace, firsts[0] - anchor_step)
            firsts_logged += 1
            heap_pop(firsts, first_requests, dating)
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
                log.finished[finishes_logged] = occupant[slot] - base
                log.finish[finishes_logged] = now
                finishes_logged += 1
            active -= 1
            produced += end
            taken_at -= since
            if since in (oldest, newest):
                if newest > oldest:
                    add_product(sums[GAPS], newest - oldest, end - gap_mark)
                    if newest - oldest > audited:
                        tally.violation_steps += end - gap_mark
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
                tally.busy_time += now - busy_since
                tally.steps, tally.makespan = step, now

        # 2. requests released by now join, in the order (release, input order)
        while next_release <= now:
            if sized:
                push(queue, requests.rank[joined - requests.ranked], joined)
            joined += 1
            waiting += 1
            next_release = release[joined - base] if joined < known else math.inf
        if (joined == known and requests.more) or admitted >= most_admitted:
            break  # what is done of this epoch finds nothing left to do when the loop goes on here

        # 3. the rule admits
        if waiting > 0 and active < slots and (active == 0 or step - oldest <= budget):
            tally.decisions += 1
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
                        tokens = length[request - base]
                    end = step + tokens
                    last_end = max(last_end, end)
                    add_product(sums[AT_ADMISSION], tokens, step)
                    if sized:
                        log.admitted[admitted - logged] = request - base
                    log.start[admitted - logged] = now
                    log.slot[admitted - logged] = slot
                    occupant[slot] = request
                    exclude(free, slot)
                    add_newest(batch, slot, step)
                    heap_push(ends, end_slots, active + count, end, slot)
                    if constant:
                        log.finish[admitted - logged] = anchor + (end - anchor_step) * linear
                    else:
                        made = step + requests.first_token_step[request - base]
                        heap_push(firsts, first_requests, dating, made, request)
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
                        tally.violation_steps += step - gap_mark
                gap_mark = newest = step
                if active == 0:
                    busy_since = now
                    oldest = step
                gap = step - oldest
                tally.max_gap = max(tally.max_gap, gap)
                waiting -= count
                active += count
                produced -= count * step
                taken_at += count * step
                if gap > audited:
                    if tally.violations == 0:
                        tally.first_time, tally.first_step = now, step
                        tally.first_request, tally.first_slot = first, first_taken
                        tally.first_other_slot = oldest_slot(batch)
                        tally.first_other, tally.first_gap = occupant[tally.first_other_slot], gap
                    tally.violations += count
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
                log.time[changes_logged] = now
                log.step[changes_logged] = step
                log.active[changes_logged] = active
                log.waiting[changes_logged] = waiting
                log.max_progress[changes_logged] = step - oldest
                log.min_progress[changes_logged] = step - newest
                changes_logged += 1
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
                over = True
                break
            if terms.slotted:
                ticks = steps_to_reach(pace, 0.0, reach)
                reach = elapsed(pace, ticks)
                anchor, anchor_step = 0.0, step - ticks
            else:
                anchor, anchor_step = reach, step
        step, now, changed = target, reach, False
        tally.epochs += 1
        if now > latest:
            break

    return State(
        over, step, now, changed, anchor, anchor_step, wake_step,
        joined, admitted, waiting, active, dating, planned, early,
        firsts_logged, finishes_logged, changes_logged,
        produced, taken_at, last_end, oldest, newest, gap_mark, work_mark, busy_since,
    )  # fmt: skip
