"""The least a compiled queue can cost: an event list of first come, first served, compiled with numba."""

from __future__ import annotations

import math

import numpy as np

from serving_sim.compiled.heap import heap_pop, heap_push
from serving_sim.compiled.jit import Words, inner
from serving_sim.request import FloatArray, IntArray


def event_list(release: FloatArray, length: IntArray, slots: int) -> tuple[FloatArray, FloatArray, IntArray]:
    """Starts, finishes and slots, those of the engines to the bit; no accounts are kept."""
    count = len(length)
    start, finish, slot = np.empty(count), np.empty(count), np.empty(count, np.int64)
    ends, end_slots = np.empty(slots, np.int64), np.empty(slots, np.int64)
    _serve(release, length, start, finish, slot, np.arange(slots), ends, end_slots)
    return start, finish, slot


@inner
def _serve(  # noqa: PLR0917  (numba knows no keyword-only arguments)
    release: FloatArray,
    length: IntArray,
    start: FloatArray,
    finish: FloatArray,
    slot_of: IntArray,
    free: Words,
    ends: Words,
    end_slots: Words,
) -> None:
    """First come, first served: heaps of last steps and of free slots, nothing else."""
    count = len(length)
    idle, active = len(free), 0
    step = joined = head = anchor_step = 0
    now = anchor = 0.0
    while head < count or active > 0:
        coming = release[joined] if joined < count else math.inf
        if active == 0 and coming > now:
            now = anchor = coming
            anchor_step = step
        elif active > 0:
            target = ends[0]
            if idle > 0 and coming < anchor + (target - anchor_step):
                ahead = math.ceil(coming - anchor)
                while anchor + (ahead - 1) >= coming:
                    ahead -= 1
                while anchor + ahead < coming:
                    ahead += 1
                target = min(target, anchor_step + ahead)
            step = target
            now = anchor + (step - anchor_step)
            while active > 0 and ends[0] <= step:
                heap_push(free, free, idle, end_slots[0], end_slots[0])
                idle += 1
                heap_pop(ends, end_slots, active)
                active -= 1
        while joined < count and release[joined] <= now:
            joined += 1
        while head < joined and idle > 0:
            slot = free[0]
            heap_pop(free, free, idle)
            idle -= 1
            end = step + length[head]
            start[head], slot_of[head] = now, slot
            finish[head] = anchor + (end - anchor_step)
            heap_push(ends, end_slots, active, end, slot)
            active += 1
            head += 1
