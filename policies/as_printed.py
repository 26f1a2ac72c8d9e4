"""Algorithm 3 of Yao and Zhou as printed: it exists to show what the printed text does."""

from __future__ import annotations

from collections.abc import Sequence

from policies.by_size import BySize
from policies.parameters import check_alpha
from policies.plan_words import of_entering, of_longs, of_packed
from policies.planning import Plan, make_plan, wants_plan
from serving_sim import Admission, Epoch, Explanation


class ISJLAsPrinted(BySize):
    """ISJL without the guard in phase ONE, as algorithm 3 is printed; it can break constraint (1).

    One thing is not as printed, since it could not be played: the printed scan can pack a request that
    it holds as a long already; here longs leave the queue first.

    Each pack runs back to back from the epoch of planning with no test, the slot's long follows at
    once, and the first long starts ``min(max(total_M - alpha, 0), alpha)`` steps after that epoch,
    with total_M the pack of the last long. Phase TWO keeps its test A_max <= alpha.

    Parameters
    ----------
    alpha : int
        Fairness budget in tokens, >= 0. It is not promised: the worker asks at every epoch.

    Raises
    ------
    ValueError
        If alpha is no whole number >= 0.
    """

    name = "isjl-as-printed"

    def __init__(self, alpha: int) -> None:
        self.budget = check_alpha(alpha)

    def describe(self) -> str:
        return f"{self.name}:alpha={self.budget}"

    def begin(self, slots: int) -> None:
        super().begin(slots)
        self._slots = slots
        self._plan: Plan | None = None
        self._first_long_at = 0

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        if self._plan is not None and not (self._plan.held or self._plan.packed):
            self._plan = None
        if self._plan is None and not epoch.active and wants_plan(self._queue, self._slots, self.budget):
            self._plan = make_plan(self._queue, self._slots, self.budget, self.budget)
            total = self._plan.pack_totals[self._plan.held - 1]
            self._first_long_at = epoch.step + min(max(total - self.budget, 0), self.budget)
        admissions = [] if self._plan is None else self._phase_one(epoch, self._plan)
        self._by_plan = len(admissions)
        if epoch.max_progress <= self.budget:
            taken = {slot for _, slot in admissions}
            reserved = taken if self._plan is None else taken | self._reserved(self._plan)
            open_slots = [slot for slot in epoch.free if slot not in reserved]
            admissions += [(self._queue.pop_largest(), slot) for slot in open_slots[: len(self._queue)]]
        return admissions

    def explain(self, epoch: Epoch, answer: Sequence[Admission]) -> Explanation:
        furthest = epoch.max_progress
        if furthest <= self.budget:
            phase_two = f"Phase TWO: the largest first, A_max = {furthest} <= alpha = {self.budget}"
        else:
            phase_two = f"Phase TWO: nobody enters, A_max = {furthest} > alpha = {self.budget}"
        plan = self._plan
        if plan is None:
            return Explanation(phase_two)
        entering = {
            request: of_entering(plan, request, slot, packed=place < self._by_plan)
            for place, (request, slot) in enumerate(answer)
        }
        holds = {0: f"held until step {self._first_long_at}"}
        return Explanation(
            "Phase ONE as printed: packs and longs start when their slot is free, the first long from step "
            f"{self._first_long_at} on; {phase_two}",
            {**entering, **of_packed(plan), **of_longs(plan, holds)},
        )

    def _phase_one(self, epoch: Epoch, plan: Plan) -> list[Admission]:
        admissions: list[Admission] = []
        for slot in epoch.free:
            long = plan.longs[slot]
            if plan.packs[slot]:
                plan.packed -= 1
                admissions.append((plan.packs[slot].popleft()[0], slot))
            elif long is not None and (slot > 0 or epoch.step >= self._first_long_at):
                plan.longs[slot] = None
                plan.held -= 1
                admissions.append((long, slot))
        if plan.longs[0] is not None:
            epoch.wake_in(self._first_long_at - epoch.step)
        return admissions

    def _reserved(self, plan: Plan) -> set[int]:
        return {slot for slot, long in enumerate(plan.longs) if long is not None or plan.packs[slot]}
