"""The policies of the oracle: plain lists, looked through anew at every step boundary.

Where the definitions leave room, the reading taken is written beside the line that takes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

Beta = int | Literal["optimal"] | None
"""ISJL's threshold in tokens; None is the default, beta = alpha."""

Admission = tuple[int, int]
"""A request and its slot."""


@dataclass
class Scene:
    """What a policy may look at."""

    slots: int
    release: list[Fraction]
    size: tuple[int, ...]
    waiting: list[int] = field(default_factory=list)
    active: dict[int, int] = field(default_factory=dict)
    """Slot -> request."""
    progress: dict[int, int] = field(default_factory=dict)
    """Active request -> tokens produced."""
    steps: int = 0
    """Busy steps so far."""

    def free(self) -> list[int]:
        return [slot for slot in range(self.slots) if slot not in self.active]

    def max_progress(self) -> int:
        return max(self.progress.values(), default=0)

    def oldest(self, request: int) -> tuple[Fraction, int]:
        return self.release[request], request

    def smallest(self, request: int) -> tuple[int, Fraction, int]:
        return self.size[request], self.release[request], request

    def largest(self, request: int) -> tuple[int, Fraction, int]:
        return -self.size[request], self.release[request], request


Rule = Callable[[Scene], list[Admission]]


def rule_named(name: str, alpha: int, beta: Beta) -> Rule:
    """A fresh policy; alpha and beta mean something to those that have them."""
    if name.startswith("fair-"):
        return _fair(_ordered(name.removeprefix("fair-")), alpha)
    if name == "ljf":
        return _static_longest_first
    if name in ("isjl", "robust-isjl"):
        return _Isjl(alpha, beta).guarded
    if name == "isjl-as-printed":
        return _Isjl(alpha, beta).as_printed
    return _ordered(name)


def _ordered(name: str) -> Rule:
    """Continuous batching: whoever comes first in the order takes the lowest free slot."""

    def rule(scene: Scene) -> list[Admission]:
        order = {"fcfs": scene.oldest, "sjf": scene.smallest, "lpt": scene.largest}[name]
        return list(zip(sorted(scene.waiting, key=order), scene.free(), strict=False))

    return rule


def _fair(rule: Rule, alpha: int) -> Rule:
    return lambda scene: rule(scene) if scene.max_progress() <= alpha else []


def _static_longest_first(scene: Scene) -> list[Admission]:
    if scene.active:
        return []
    return list(zip(sorted(scene.waiting, key=scene.largest), scene.free(), strict=False))


@dataclass
class _Plan:
    """Phase ONE's plan. Slots count from 0 here: long j of the definition is longs[j - 1]."""

    packs: list[list[int]]
    longs: list[int]
    step: int
    """Busy steps before the planning epoch."""

    def requests(self) -> set[int]:
        return {request for pack in self.packs for request in pack} | set(self.longs)


class _Isjl:
    """Insert Short Jobs with Limit, with the guard and as printed.

    The plan is kept as it was made; what is left of it is whatever of it still waits.
    """

    def __init__(self, alpha: int, beta: Beta) -> None:
        self.alpha = alpha
        self.beta = beta
        self.plan = _Plan([], [], 0)

    def guarded(self, scene: Scene) -> list[Admission]:
        self._plan_if_due(scene)
        if scene.max_progress() > self.alpha:
            return []
        held = self._steps_left_of_packs(scene) > self.alpha
        return self._dispatch(scene, held_slots=set(range(scene.slots)) if held else set())

    def as_printed(self, scene: Scene) -> list[Admission]:
        self._plan_if_due(scene)
        longs = self.plan.longs
        # The printed delay of long 1 looks at the pack of the last long's slot only.
        total = sum(scene.size[request] for request in self.plan.packs[len(longs) - 1]) if longs else 0
        delay = min(max(total - self.alpha, 0), self.alpha)
        return self._dispatch(scene, held_slots={0} if scene.steps < self.plan.step + delay else set())

    def _dispatch(self, scene: Scene, held_slots: set[int]) -> list[Admission]:
        admissions: list[Admission] = []
        for slot in scene.free():
            taken = {request for request, _ in admissions}
            request = self._next(scene, slot, held_slots, taken)
            if request is not None:
                admissions.append((request, slot))
        return admissions

    def _next(self, scene: Scene, slot: int, held_slots: set[int], taken: set[int]) -> int | None:
        pack, long = self._left(scene, slot)
        if pack:
            return pack[0]
        if long is not None:
            return None if slot in held_slots else long
        if scene.max_progress() > self.alpha:
            return None
        unplanned = set(scene.waiting) - self.plan.requests() - taken
        largest = min(unplanned, key=scene.largest, default=None)
        # Phase TWO considers the largest waiting request and no other. Where that one exceeds alpha and
        # has to wait for the end of the hold, the slot stays idle: a smaller request would take the slot
        # it waits for. As printed there is no hold, only a delay of long 1, and nobody else waits for it.
        if largest is not None and scene.size[largest] > self.alpha and slot in held_slots:
            return None
        return largest

    def _left(self, scene: Scene, slot: int) -> tuple[list[int], int | None]:
        """What of the plan for a slot still waits: its pack and its long."""
        plan = self.plan
        pack = [request for request in plan.packs[slot] if request in scene.waiting] if plan.packs else []
        long = plan.longs[slot] if slot < len(plan.longs) and plan.longs[slot] in scene.waiting else None
        return pack, long

    def _steps_left_of_packs(self, scene: Scene) -> int:
        """Steps until the pack stage is over, E - now, by playing it forward.

        Only pack requests are played. A long never starts before E - alpha, so up to E it has made at
        most alpha tokens and stops nobody. A Phase TWO request admitted during the hold has a size of
        at most alpha and is gone before its progress could exceed alpha; those of the same size in a
        pack stop nobody for the same reason. At one instant completions come before the test, the test
        before the starts: a pack request may start at the very end of another, and at A_max = alpha.

        The answer falls by at least one a step, so that a hold never comes back: a pack is in descending
        order and totals at most 2 alpha, so only its first request can exceed alpha; the first ones all
        start at the planning epoch; the starts they block come earlier if they end earlier.
        """
        running: dict[int, tuple[int, int]] = {}  # slot -> (progress, size)
        queues: dict[int, list[int]] = {}
        for slot in range(scene.slots):
            queues[slot] = [scene.size[request] for request in self._left(scene, slot)[0]]
            active = scene.active.get(slot)
            if active is not None and self.plan.packs and active in self.plan.packs[slot]:
                running[slot] = (scene.progress[active], scene.size[active])
        steps = 0
        while running or any(queues.values()):
            if max((progress for progress, _ in running.values()), default=0) <= self.alpha:
                for slot, queue in queues.items():
                    if queue and slot not in running:
                        running[slot] = (0, queue.pop(0))
            running = {
                slot: (progress + 1, size)
                for slot, (progress, size) in running.items()
                if progress + 1 < size
            }
            steps += 1
        return steps

    def _plan_if_due(self, scene: Scene) -> None:
        planned_waits = any(request in scene.waiting for request in self.plan.requests())
        if scene.active or planned_waits or scene.slots < 2:
            return
        self.plan = _Plan([], [], scene.steps)
        queue = sorted(scene.waiting, key=scene.largest)
        if len(queue) < 2 or scene.size[queue[1]] <= self.alpha:
            return
        size = scene.size
        # At least two longs always: the second largest exceeds alpha and there are two slots.
        many = min(scene.slots, sum(size[request] > self.alpha for request in queue))
        longs, rest = queue[:many], queue[many:]
        packs: list[list[int]] = [[] for _ in range(scene.slots)]

        def within_cap(total: int, long: int) -> bool:
            """Whether total <= min(2 alpha, o_1 - o_long + beta)."""
            return total <= 2 * self.alpha and self._within_beta(total - (size[longs[0]] - size[long]))

        for request in rest:
            if not within_cap(size[request], longs[-1]):
                continue  # the limit binds on the slots without a long as well
            for slot in [*range(many, scene.slots), *range(many - 1, 0, -1)]:
                total = sum(size[packed] for packed in packs[slot]) + size[request]
                if total <= self.alpha if slot >= many else within_cap(total, longs[slot]):
                    packs[slot].append(request)
                    break
        self.plan = _Plan(packs, longs, scene.steps)

    def _within_beta(self, excess: int) -> bool:
        if self.beta == "optimal":  # excess <= (sqrt(17) - 1) / 4 * alpha in whole numbers
            left = 4 * excess + self.alpha
            return left <= 0 or left * left <= 17 * self.alpha * self.alpha
        return excess <= (self.alpha if self.beta is None else self.beta)
