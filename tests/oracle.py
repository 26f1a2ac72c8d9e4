"""A second, slow simulator to hold the engine against: one token a loop turn, in exact fractions.

It shares no code and no idea with the engine. Time is a sum of step durations kept as `Fraction`, so
a release that ties with a step boundary ties exactly; every total is computed afterwards from the
list of what each step processed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from oracle_rules import Beta, Scene, rule_named

CLOSE = Fraction(1, 10**9)
"""Relative distance below which floating-point dates may order two instants either way."""


class Pace(NamedTuple):
    """Duration of a step: base + per_request |S| + per_max_token max r + per_token sum r."""

    base: float = 1.0
    per_request: float = 0.0
    per_max_token: float = 0.0
    per_token: float = 0.0


ONE_STEP = Pace()
"""Time counted in steps."""


@dataclass(frozen=True)
class Case:
    """One policy on one small workload; everything a run depends on."""

    policy: str
    slots: int
    release: tuple[float, ...]
    length: tuple[int, ...]
    alpha: int = 0
    beta: Beta = None
    upper: tuple[int, ...] | None = None
    interval: bool = False
    """Whether every policy sees upper predictions in the place of lengths; robust-isjl always does."""
    pace: Pace = ONE_STEP
    slotted: bool = False
    first_token_step: tuple[int, ...] | None = None
    """Step, counted from 1, whose end makes a request's first output token; None is 1 for all."""


@dataclass(frozen=True)
class Violation:
    """The first admission that broke the gap limit."""

    time: Fraction
    step: int
    request: int
    slot: int
    gap: int


@dataclass
class Outcome:
    """What happened. Per-request dates and slots are keyed by the request, its place in the input."""

    length: tuple[int, ...]
    start: dict[int, Fraction] = field(default_factory=dict)
    first_token: dict[int, Fraction] = field(default_factory=dict)
    finish: dict[int, Fraction] = field(default_factory=dict)
    slot: dict[int, int] = field(default_factory=dict)
    history: list[list[int]] = field(default_factory=list)
    """For every busy step, r = progress + 1 of each active request."""
    busy_time: Fraction = Fraction(0)
    violations: int = 0
    """Admissions at which the largest progress exceeded alpha."""
    first_violation: Violation | None = None
    close: bool = False
    """Whether a release and a boundary lie so close that rounding may swap them."""

    @property
    def steps(self) -> int:
        return len(self.history)

    @property
    def externality(self) -> int:
        return sum(max(batch) - r for batch in self.history for r in batch)

    @property
    def intrinsic(self) -> int:
        return sum(r for length in self.length for r in range(1, length + 1))

    @property
    def gaps(self) -> list[int]:
        return [max(batch) - min(batch) for batch in self.history]

    @property
    def makespan(self) -> Fraction:
        return max(self.finish.values())

    def dates(self, of: dict[int, Fraction]) -> list[float]:
        """One of the three columns of dates, in input order, as the floats next to them."""
        return [float(of[request]) for request in range(len(self.length))]

    @property
    def slots(self) -> list[int]:
        """The column of slots in input order."""
        return [self.slot[request] for request in range(len(self.length))]

    def violation_steps(self, alpha: int) -> int:
        return sum(gap > alpha for gap in self.gaps)

    def cost(self, per_step: int, per_token: int) -> int:
        """C = sum over steps of (c + tau |S| max r)."""
        return sum(per_step + per_token * len(batch) * max(batch) for batch in self.history)


def play(case: Case) -> Outcome:
    """Serve the case token by token."""
    worker = _Worker(case)
    while worker.coming or worker.scene.waiting or worker.scene.active:
        worker.wait_while_empty()
        worker.see_releases()
        worker.admit()
        worker.step()
    return worker.outcome


class _Worker:
    """The order of things at an epoch: completions (at the end of `step`), releases, admissions, step."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.rule = rule_named(case.policy, case.alpha, case.beta)
        self.now = Fraction(0)
        count = len(case.length)
        self.coming = set(range(count))
        self.first_token_step = case.first_token_step or (1,) * count
        size = case.upper if case.interval or case.policy == "robust-isjl" else case.length
        assert size is not None, "upper predictions are needed"
        self.scene = Scene(slots=case.slots, release=[Fraction(value) for value in case.release], size=size)
        self.outcome = Outcome(case.length)

    def wait_while_empty(self) -> None:
        """Go to the next release, or in slotted mode to the first whole multiple of the step from it."""
        if self.scene.active or self.scene.waiting:
            return
        self.now = max(self.now, min(self.scene.release[request] for request in self.coming))
        if self.case.slotted:
            multiples = self.now / Fraction(self.case.pace.base)
            self._note_if_close(multiples, Fraction(round(multiples)))
            self.now = math.ceil(multiples) * Fraction(self.case.pace.base)

    def see_releases(self) -> None:
        """A release in the middle of a step is later than this boundary and waits for the next one."""
        for request in sorted(self.coming, key=self.scene.oldest):
            self._note_if_close(self.scene.release[request], self.now)
            if self.scene.release[request] <= self.now:
                self.coming.remove(request)
                self.scene.waiting.append(request)

    def admit(self) -> None:
        if not (self.scene.waiting and self.scene.free()):
            return
        gap = self.scene.max_progress()
        for request, slot in self.rule(self.scene):
            assert request in self.scene.waiting
            assert slot in self.scene.free()
            self.scene.waiting.remove(request)
            self.scene.active[slot] = request
            self.scene.progress[request] = 0
            self.outcome.start[request] = self.now
            self.outcome.slot[request] = slot
            if gap > self.case.alpha:
                violation = Violation(self.now, self.scene.steps, request, slot, gap)
                self.outcome.violations += 1
                self.outcome.first_violation = self.outcome.first_violation or violation
        assert self.scene.active, "none of these policies keeps an empty worker idle while requests wait"

    def step(self) -> None:
        batch = [progress + 1 for progress in self.scene.progress.values()]
        duration = self._duration(batch)
        self.now += duration
        self.scene.steps += 1
        self.outcome.busy_time += duration
        self.outcome.history.append(batch)
        for slot, request in list(self.scene.active.items()):
            self.scene.progress[request] += 1
            if self.scene.progress[request] == self.first_token_step[request]:
                self.outcome.first_token[request] = self.now
            if self.scene.progress[request] == self.case.length[request]:
                self.outcome.finish[request] = self.now
                del self.scene.active[slot], self.scene.progress[request]

    def _duration(self, batch: list[int]) -> Fraction:
        base, per_request, per_max_token, per_token = map(Fraction, self.case.pace)
        longest = max(batch)
        return base + per_request * len(batch) + per_max_token * longest + per_token * sum(batch)

    def _note_if_close(self, left: Fraction, right: Fraction) -> None:
        if left != right and abs(left - right) <= CLOSE * max(Fraction(1), abs(left)):
            self.outcome.close = True
