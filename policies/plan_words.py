"""What can be said of a request in the plan of Phase ONE."""

from __future__ import annotations

from policies.planning import Plan


def of_entering(plan: Plan, request: int, slot: int, *, packed: bool) -> str:
    """Why a request takes a slot while there is a plan; ``packed`` says whether a pack held it."""
    if request == plan.planned_longs[slot]:
        return f"long of slot {slot}"
    if packed:
        return f"packed on slot {slot}"
    return f"largest waiting request, slot {slot} has neither pack nor long left"


def of_packed(plan: Plan) -> dict[int, str]:
    """Where the requests stand that are still in their packs."""
    return {
        request: f"packed on slot {slot}, place {place}"
        for slot, pack in enumerate(plan.packs)
        for place, (request, _) in enumerate(pack, 1)
    }


def of_longs(plan: Plan, holds: dict[int, str]) -> dict[int, str]:
    """What the longs wait for that have not started: ``holds`` by slot, else their slot or its pack."""
    waits = {
        slot: "after its pack" if plan.packs[slot] else "when the slot is free"
        for slot in range(len(plan.longs))
    } | holds
    return {
        request: f"long of slot {slot}, {waits[slot]}"
        for slot, request in enumerate(plan.longs)
        if request is not None
    }
