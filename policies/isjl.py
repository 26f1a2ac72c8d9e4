"""Insert Short Jobs with Limit, offline and online (Yao and Zhou, sections 3.2, 3.3 and 3.5)."""

from __future__ import annotations

from collections.abc import Sequence

from policies.by_size import BySize
from policies.parameters import Beta, beta_tokens, check_alpha
from policies.plan_words import of_entering, of_longs, of_packed
from policies.planning import Plan, make_plan, pack_stage_end, wants_plan
from serving_sim import Admission, Epoch, Explanation, Order, Rule


class ISJL(BySize):
    """ISJL with a guard that keeps every batch alpha-fair.

    Phase ONE: when the worker is empty and two waiting requests or more exceed alpha, the longest
    ones are held, one a slot, and short requests are packed in front of them. Phase TWO: a free
    slot takes the largest waiting request. Both admit only while the largest progress is at most
    alpha. With all releases at 0 this is algorithm 3, with releases Online-ISJL; for two slots
    and the optimal beta it is algorithm 2.

    The guard is ours: as printed, phase ONE can break constraint (1) with three slots or more.
    Longs may start once ``now >= E - alpha``, with E the projected end of the pack stage, so all
    of them start within alpha of each other.

    Parameters
    ----------
    alpha : int
        Fairness budget in tokens, >= 0.
    beta : float or "optimal", optional
        Packing allowance in [0, 2 alpha] tokens, of which whole ones count; alpha by default,
        ``"optimal"`` for ``(sqrt(17) - 1) / 4 * alpha``.

    Raises
    ------
    ValueError
        If alpha is no whole number >= 0 or beta is outside [0, 2 alpha].

    Notes
    -----
    Complexity of an epoch: O((admitted + packed) log d + slots * distinct packed sizes) with d
    distinct waiting sizes; the queue is never scanned. Where sizes are upper bounds and a packed request
    has ended early, O(p log p) more an epoch until the plan is used up, p packed requests left.
    """

    name = "isjl"

    def __init__(self, alpha: int, beta: Beta = None) -> None:
        self.alpha: int = check_alpha(alpha)
        self.beta = beta
        self._allowance = beta_tokens(beta, self.alpha)

    def describe(self) -> str:
        """One text for one rule: without a beta that is the default, in the whole tokens it counts as."""
        if self._allowance == self.alpha:
            return f"{self.name}:alpha={self.alpha}"
        beta = "optimal" if self.beta == "optimal" else self._allowance
        return f"{self.name}:alpha={self.alpha},beta={beta}"

    def begin(self, slots: int) -> None:
        super().begin(slots)
        self._slots = slots
        self._plan: Plan | None = None

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        plan = self._plan
        if plan is None or not (plan.held or plan.packed):
            self._plan = None  # not before: `explain` tells of the last decision of a plan, too
            if epoch.active or not wants_plan(self._queue, self._slots, self.alpha):
                return self._fill(epoch)
            plan = self._begin_plan(epoch.step)
        return self._dispatch(epoch, plan)

    def explain(self, epoch: Epoch, answer: Sequence[Admission]) -> Explanation:
        plan = self._plan
        if plan is None:
            return Explanation(self._why_no_plan(epoch))
        step = epoch.step
        entering = {
            request: of_entering(
                plan, request, slot, packed=self._running[slot][0] == step < self._running[slot][1]
            )
            for request, slot in answer
        }
        held = step < self._hold_end
        holds = dict.fromkeys(range(self._slots), f"held until step {self._hold_end}") if held else {}
        rule = self._hold_rule(plan, answer)
        barred = held and self._bars_the_largest(epoch, answer, plan)
        also = "; the largest waiting request exceeds alpha and waits as long" if barred else ""
        return Explanation(rule + also, {**entering, **of_packed(plan), **of_longs(plan, holds)})

    def _why_no_plan(self, epoch: Epoch) -> str:
        if epoch.active:
            return f"Phase TWO: the largest first, A_max = {epoch.max_progress} <= alpha = {self.alpha}"
        if self._slots == 1:
            return "no Phase ONE on a single slot: the largest first"
        return f"no Phase ONE, fewer than two waiting requests exceed alpha = {self.alpha}: the largest first"

    def _hold_rule(self, plan: Plan, answer: Sequence[Admission]) -> str:
        if not any(plan.pack_totals):
            return "Phase ONE: nothing is packed, the longs start at once"
        if not plan.held and all(plan.planned_longs[slot] != request for request, slot in answer):
            return "Phase ONE: all longs have started, the packs go on"
        end = self._hold_end + self.alpha
        if self._hold_end < self._began:
            near = f"within alpha = {self.alpha} of its begin"
            return f"Phase ONE: packs end at step {end}, {near}: no long is held"
        return (
            f"Phase ONE: packs end at step {end}, longs start from step {end} - alpha = {self._hold_end} on"
        )

    def _bars_the_largest(self, epoch: Epoch, answer: Sequence[Admission], plan: Plan) -> bool:
        taken = {slot for _, slot in answer}
        idle = any(plan.longs[slot] is None for slot in epoch.free if slot not in taken)
        return idle and bool(self._queue)

    def rule(self) -> Rule:
        return Rule(Order.ISJL, allowance=self._allowance)

    def _fill(self, epoch: Epoch) -> Sequence[Admission]:
        pop = self._queue.pop_largest
        return [(pop(), slot) for slot in epoch.lowest(len(self._queue))]

    def _begin_plan(self, step: int) -> Plan:
        plan = self._plan = make_plan(self._queue, self._slots, self.alpha, self._allowance)
        self._began = step
        self._running = [(step, step)] * self._slots  # start and projected end of pack requests
        self._drifted = False
        self._hold_end = pack_stage_end(step, self.alpha, plan.packs, self._running) - self.alpha
        return plan

    def _dispatch(self, epoch: Epoch, plan: Plan) -> Sequence[Admission]:
        step = epoch.step
        free = epoch.free
        self._follow(step, free, plan)
        over = step >= self._hold_end
        admissions: list[Admission] = []
        for slot in free:
            long = plan.longs[slot]
            if plan.packs[slot]:
                request, size = plan.packs[slot].popleft()
                plan.packed -= 1
                self._running[slot] = (step, step + size)
                admissions.append((request, slot))
            elif long is not None:
                if over:
                    plan.longs[slot] = None
                    plan.held -= 1
                    admissions.append((long, slot))
            elif self._queue and (over or self._queue.largest() <= self.alpha):
                admissions.append((self._queue.pop_largest(), slot))
        if not over and (plan.held or plan.packed):
            epoch.wake_in(self._hold_end - step)
        return admissions

    def _follow(self, step: int, free: Sequence[int], plan: Plan) -> None:
        # sizes can be upper predictions: once a pack request has ended before its projected end
        # the pack stage no longer runs as projected. Its end is projected anew at every epoch from
        # then on, since a long that has started meanwhile may keep a pack from starting
        for slot in free:
            if self._running[slot][1] > step:
                self._running[slot] = (step, step)
                self._drifted = True
        if self._drifted and plan.held:
            self._hold_end = pack_stage_end(step, self.alpha, plan.packs, self._running) - self.alpha
