"""How the printed phase ONE of ISJL came to break constraint (1) in a run.

Yao and Zhou's algorithm 3 starts packs, longs and the first long without a test, so that three
things can go wrong (``docs/explanation/why-the-guard.md``). Which one did is told by the roles that
the two requests too far apart have in the plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill

import numpy as np

from analysis.text import shown_id
from policies.planning import make_plan, wants_plan
from policies.queues import SizeQueue
from serving_sim import Run, Violation


@dataclass(frozen=True)
class _Planned:
    """Who stands where in the plan: rows by role, with their slot."""

    longs: dict[int, int]
    packed: dict[int, int]
    totals: tuple[int, ...]
    held: int


def explain(run: Run) -> str | None:
    """Why the first violation happened; None for other policies and beyond the first plan.

    Parameters
    ----------
    run : Run
        A run with exact lengths that kept its requests.
    """
    first, alpha = run.audit.first, run.audit.alpha
    if first is None or alpha is None or run.policy != f"isjl-as-printed:alpha={alpha}":
        return None
    plan = _first_plan(run, alpha)
    if plan is None or not {first.request, first.other} <= plan.longs.keys() | plan.packed.keys():
        return None
    return fill(_reason(run, first, plan, alpha), width=92)


def _reason(run: Run, first: Violation, plan: _Planned, alpha: int) -> str:
    late, early = request_name(run, first.request), request_name(run, first.other)
    slot, other = first.slot, first.other_slot
    if first.other in plan.packed:
        return (
            f"{early} is packed on slot {other}. Packs run back to back without a test, so {late} starts "
            f"when slot {slot} is free, whatever {early} has made by then."
        )
    if other == 0:
        judged = plan.totals[plan.held - 1]
        return (
            f"{early} is the longest. It starts at min(max({judged} - {alpha}, 0), {alpha}) after the "
            f"{judged} tokens packed on slot {plan.held - 1}, that of the last long. But slot {slot} "
            f"packs {plan.totals[slot]} tokens, and {late} starts without a test when it is free."
        )
    pack = plan.totals[other]
    began = f"after its pack of {pack} tokens" if pack else "at once, since it has no pack"
    return (
        f"{early} is the long of slot {other} and starts {began}. Slot {slot} packs {plan.totals[slot]} "
        f"tokens, and {late} starts without a test when it is free."
    )


def request_name(run: Run, row: int) -> str:
    """What a request is called: its id, or its row."""
    assert run.requests is not None
    ids = run.requests.request_id
    return f"request {row if ids is None else shown_id(ids[row])}"


def _first_plan(run: Run, alpha: int) -> _Planned | None:
    requests = run.requests
    assert requests is not None
    queue = SizeQueue()
    there = np.flatnonzero(requests.release <= run.start.min())
    for row in there[np.argsort(requests.release[there], kind="stable")].tolist():
        queue.push(row, int(requests.length[row]))
    if not wants_plan(queue, run.slots, alpha):
        return None
    plan = make_plan(queue, run.slots, alpha, alpha)
    return _Planned(
        longs={row: slot for slot, row in enumerate(plan.longs) if row is not None},
        packed={row: slot for slot, pack in enumerate(plan.packs) for row, _ in pack},
        totals=plan.pack_totals,
        held=plan.held,
    )
