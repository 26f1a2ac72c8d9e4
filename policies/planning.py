"""Phase ONE of ISJL as pure functions: which requests wait for which slot, and for how long.

Slots are numbered from 0 here, so the paper's worker j is slot j - 1.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from policies.queues import SizeQueue

Sized = tuple[int, int]
"""A request and its size in tokens."""


@dataclass
class Plan:
    """What Phase ONE holds back for the slots; dispatching takes it apart.

    Attributes
    ----------
    packs : list of deque of (request, size)
        Short requests of each slot, to be served in this order.
    longs : list of int or None
        Long request of each slot, which follows its pack.
    held : int
        Longs not dispatched yet.
    packed : int
        Pack requests not dispatched yet.
    pack_totals : tuple of int
        Tokens packed for each slot when the plan was made.
    planned_longs : tuple of int or None
        Long request of each slot when the plan was made.
    """

    packs: list[deque[Sized]]
    longs: list[int | None]
    held: int
    packed: int
    pack_totals: tuple[int, ...]
    planned_longs: tuple[int | None, ...]


def wants_plan(queue: SizeQueue, slots: int, alpha: int) -> bool:
    """Whether Phase ONE applies: two slots or more and two waiting sizes above alpha or more."""
    second = queue.second_largest()
    return slots >= 2 and second is not None and second > alpha


def make_plan(queue: SizeQueue, slots: int, alpha: int, beta: int) -> Plan:
    """Take the longs and their packs out of the queue (Yao and Zhou, algorithm 3, lines 3 to 16).

    The M <= ``slots`` largest requests above alpha become the longs, one a slot. The rest is packed
    largest first: into the first slot without a long that keeps its total within alpha, else into
    the last slot with a long, never that of the largest, that keeps its total within
    ``min(2 alpha, o_1 - o_j + beta)``. The printed scan can pick a long again; this one cannot,
    since longs leave the queue first.

    Complexity: O((longs + packed) log d + distinct packed sizes * slots), d distinct sizes waiting.
    """
    longs: list[int | None] = [None] * slots
    sizes: list[int] = []
    while len(sizes) < slots and queue and queue.largest() > alpha:
        size = queue.largest()
        longs[len(sizes)] = queue.pop(size)
        sizes.append(size)
    room = [alpha] * slots
    room[: len(sizes)] = [min(2 * alpha, sizes[0] - size + beta) for size in sizes]
    room[0] = 0
    order = (*range(len(sizes), slots), *range(len(sizes) - 1, 0, -1))
    limit = min(2 * alpha, sizes[0] - sizes[-1] + beta)
    packs, totals = _pack(queue, room, order, limit)
    return Plan(packs, longs, len(sizes), sum(map(len, packs)), totals, tuple(longs))


def _pack(
    queue: SizeQueue, room: list[int], order: Sequence[int], limit: int
) -> tuple[list[deque[Sized]], tuple[int, ...]]:
    """First-fit decreasing; requests of one size are placed in one pass over the slots."""
    packs: list[deque[Sized]] = [deque() for _ in room]
    given = tuple(room)
    size = queue.largest_up_to(min(limit, max(room)))
    while size is not None:
        left = queue.count(size)
        for slot in order:
            while left and room[slot] >= size:
                packs[slot].append((queue.pop(size), size))
                room[slot] -= size
                left -= 1
            if not left:
                break
        size = queue.largest_up_to(min(size - 1, max(room)))
    return packs, tuple(before - after for before, after in zip(given, room, strict=True))


def pack_stage_end(step: int, alpha: int, packs: Sequence[Sequence[Sized]], running: Sequence[Sized]) -> int:
    """Step at which the last pack request ends if the packs are played forward under the guard.

    A pack request starts once its slot is free and the largest progress among the active pack
    requests is at most alpha. Longs are ignored: they start late enough not to delay a pack.
    Whatever else runs is no larger than alpha and so never trips the guard.

    Parameters
    ----------
    step : int
        Steps served so far.
    alpha : int
        Fairness budget in tokens.
    packs : sequence of sequences of (request, size)
        Packs that are left, by slot.
    running : sequence of (start, end)
        By slot, first and last step of the active pack request; ``end <= step`` for none.

    Returns
    -------
    int
        ``step`` where nothing is left. Complexity: O(packed log packed).
    """
    ends = [(end, slot) for slot, (_, end) in enumerate(running) if end > step]
    starts = [(start, end) for start, end in running if end > step]
    heapify(ends)
    heapify(starts)  # the top whose end lies ahead is the furthest active request
    ready = [slot for slot, (_, end) in enumerate(running) if end <= step and packs[slot]]
    taken = [0] * len(packs)
    now = last = step
    while True:
        while starts and starts[0][1] <= now:
            heappop(starts)
        if not starts or now - starts[0][0] <= alpha:
            for slot in ready:
                end = now + packs[slot][taken[slot]][1]
                taken[slot] += 1
                heappush(ends, (end, slot))
                heappush(starts, (now, end))
            ready.clear()
        if not ends:
            return last
        now = last = ends[0][0]
        while ends and ends[0][0] == now:
            slot = heappop(ends)[1]
            if taken[slot] < len(packs[slot]):
                ready.append(slot)
