"""Worker, policy and reactive source in random interleavings, every invariant after every event.

The machine does not replay: it holds one run of the engine, made of the very parts that `simulate` puts
together, and processes its events one at a time. Between two events its rules spawn processes of the
source, which act at instants chosen with the next event in view: at it, just before, just after. So a
rule of the machine stands at any point between what the worker, the policy and other processes of the
source do, also at one and the same instant. A policy of the machine draws each answer as it is asked;
the others are the project's own. A replay of the whole history after each rule would only ever test
runs whose future is known when they start, which no reactive source has.

What must hold is told from outside: from the releases, from what the policy is shown and answers, and
from the dates in the ledger. At the end the run is drained, its totals are counted anew from admission
steps and lengths, and where sizes allow and instants are exact the token-by-token oracle serves the
same requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, isnan, nextafter
from typing import Any, Literal

import numpy as np
import pytest
from drawn_policy import TICK, Drawn
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from oracle import Case, Pace, play
from span_totals import Spans

from policies import parse_policy
from serving_sim import Admission, Epoch, Policy, PolicyError, ReactiveSource, SourceError, StepTime
from serving_sim.arrivals import Desk
from serving_sim.batch import FREE
from serving_sim.clock import Clock
from serving_sim.ledger import Ledger
from serving_sim.source import Process
from serving_sim.testing import Checked, PassThrough
from serving_sim.worker import Worker

DRAWN = Drawn.name
NAMED = ("fcfs", "sjf", "lpt", "ljf", "fair-fcfs", "fair-sjf", "isjl", "robust-isjl")
EXACT = (Pace(1.0), Pace(0.5), Pace(2.0, 0.25, 0.5), Pace(0.5, 0.0, 0.125, 0.0625))
"""Their sums are exact in floating point, as long as numbers are small."""

ROUNDED = (Pace(0.1), Pace(0.03), Pace(0.03, 0.0, 0.007))

# Just before and just after are a tick away where sums are exact, elsewhere the next float, which
# rounding can swallow.
LATE = TICK / 2
"""How much later than its instant the oracle must take a release that the decision there missed."""

lengths = st.lists(st.integers(1, 12) | st.sampled_from([1, 1, 80]), min_size=1, max_size=3)
huge = st.just([10**9])


@dataclass
class Sent:
    """A request as the source knows it."""

    release: float
    length: int
    upper: int
    late: bool
    """Whether the decision at its instant had been made."""


@dataclass
class Seen:
    """What the run has shown of itself."""

    joined: list[int] = field(default_factory=list)
    start_step: dict[int, int] = field(default_factory=dict)
    slot: dict[int, int] = field(default_factory=dict)
    step: int = 0
    gap: int = 0
    """Largest between two requests of a batch."""


class Silent(ReactiveSource):
    """Leaves it to others to spawn its processes."""

    def process(self, desk: Desk) -> Process:
        yield desk.at(0.0)


class Watched(PassThrough):
    """Tells the machine of every call."""

    def __init__(self, inner: Policy, machine: Interleavings) -> None:
        super().__init__(inner)
        self._machine = machine

    def join(self, request: int, size: int, release: float) -> None:
        self._machine.hears_join(request, size, release)
        super().join(request, size, release)

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        self._machine.hears_question(epoch)
        try:
            answer = super().decide(epoch)
        except BaseException as end:  # hypothesis may have nothing left to draw; SimPy would rebuild its word
            self._machine.broken = end
            raise
        self._machine.hears_answer(epoch, answer)
        return answer


class Interleavings(RuleBasedStateMachine):
    """One run of the engine, one event at a time."""

    @initialize(
        name=st.just(DRAWN) | st.sampled_from(NAMED),
        slots=st.sampled_from([1, 2, 3, 5, 10_000]),
        alpha=st.sampled_from([0, 1, 4, 10**12]),
        claims=st.booleans(),
        pace=st.sampled_from((*EXACT, *ROUNDED)),
        slotted=st.booleans(),
        exact=st.booleans(),
        interval=st.booleans(),
        first=lengths,
    )
    def begin(
        self,
        name: str,
        slots: int,
        alpha: int,
        pace: Pace,
        first: list[int],
        *,
        claims: bool,
        slotted: bool,
        exact: bool,
        interval: bool,
    ) -> None:
        self.name, self.slots, self.alpha, self.pace = name, slots, alpha, pace
        self.exact = exact and pace in EXACT
        self.step_time = StepTime(*pace)
        self.slotted = slotted and self.step_time.constant
        self.interval = interval or name == "robust-isjl"
        self.drawn = Drawn(alpha if claims else None)
        text = f"{name}:alpha={alpha}" if name.startswith(("fair", "isjl", "robust")) else name
        inner = self.drawn if name == DRAWN else parse_policy(text)
        self.sent: list[Sent] = []
        self.seen = Seen()
        self.in_system = self.busy = self.residence = 0.0
        self.due = self.due_step = inf
        self.broken: BaseException | None = None
        self._last_decision = -1.0
        self.clock = Clock()
        self.ledger = Ledger("upper" if self.interval else "length", self.step_time, None)
        self.desk = Desk(self.clock, self.ledger, Silent())
        self.policy = Watched(Checked(inner), self)
        self.worker = Worker(
            self.clock,
            self.ledger,
            self.desk,
            self.policy,
            slots=slots,
            step_time=self.step_time,
            slotted=self.slotted,
            alpha=alpha,
            spans=None,
        )
        self.clock.process(self.worker.run())
        self.send(first, "now", 1)

    # What the source does

    @rule(
        length=lengths | huge,
        when=st.sampled_from(["now", "next", "before", "after", "steps", "later"]),
        far=st.integers(1, 40),
    )
    def send(self, length: list[int], when: str, far: int) -> None:
        """Release requests at an instant that has to do with the next event."""
        instant = self._instant(when, far)
        late = instant == self.clock.now and self._has_decided()
        self.desk.spawn(self._sender(length, instant, late=late))

    @precondition(lambda self: self.sent)
    @rule(
        data=st.data(),
        length=lengths,
        fate=st.sampled_from(["started", "finished"]),
        turns=st.integers(1, 3),
        sources=st.integers(1, 2),
    )
    def answer_to(
        self,
        data: st.DataObject,
        length: list[int],
        fate: Literal["started", "finished"],
        turns: int,
        sources: int,
    ) -> None:
        """Release more once a request starts or ends, perhaps while the worker still decides, and again."""
        request = data.draw(st.integers(0, len(self.sent) - 1))
        for _ in range(sources):
            self.desk.spawn(self._reactor(request, length, fate, turns, late=self._has_decided()))

    @rule()
    def wait_for_the_past(self) -> None:
        """A refusal must leave no trace."""

        def process() -> Process:
            with pytest.raises(SourceError, match="cannot wait for"):
                self.desk.at(nextafter(self.clock.now, -inf))
            yield self.desk.at(self.clock.now)

        self.desk.spawn(process())

    def _instant(self, when: str, far: int) -> float:
        now, event = self.clock.now, self.clock.peek()
        if event == inf:
            return now if when == "now" else now + far / 4
        just = TICK if self.exact else 0.0
        return max(
            now,
            {
                "now": now,
                "next": event,
                "before": event - just if just else nextafter(event, -inf),
                "after": event + just if just else nextafter(event, inf),
                "steps": event + far * self.step_time.alone(1),
                "later": now + far / 4,
            }[when],
        )

    def _sender(self, length: list[int], instant: float, *, late: bool) -> Process:
        yield self.desk.at(instant)
        self._release(length, late=late)

    def _reactor(
        self, request: int, length: list[int], fate: Literal["started", "finished"], turns: int, *, late: bool
    ) -> Process:
        for _ in range(turns):
            news = getattr(self.ledger, f"{fate}_at")(request) is None
            told = yield getattr(self.desk, fate)(request)
            assert told == getattr(self.ledger, f"{fate}_at")(request)
            assert not news or told == self.clock.now
            # an end is told before the decision at its instant, a start after it
            request = self._release(length, late=fate == "started" if news else late)

    def _has_decided(self) -> bool:
        """Whether the worker steps on at this instant, so that what comes now waits for the next epoch."""
        return self._last_decision == self.clock.now and bool(self.worker.batch.admitted)

    def _release(self, length: list[int], *, late: bool) -> int:
        request = -1
        assert self._has_decided() == late
        longest = 10**9 if self.step_time.constant else 10**5  # later, floats could not tell steps apart
        for wanted in length:
            tokens = min(wanted, longest)
            upper = tokens + tokens % 3
            request = self.desk.release(tokens, lower=1, upper=upper)
            assert request == len(self.sent)
            self.sent.append(Sent(self.clock.now, tokens, upper, late))
        return request

    # What time does

    @rule(data=st.data(), events=st.integers(1, 6))
    def go_on(self, data: st.DataObject, events: int) -> None:
        """Process some events."""
        self.drawn.data = data
        for _ in range(events):
            self._event()

    @rule(data=st.data())
    def come_to_rest(self, data: st.DataObject) -> None:
        """Process events until none is left, or too many were."""
        self.drawn.data = data
        for _ in range(60):
            self._event()

    def _event(self) -> None:
        if self.clock.peek() == inf:
            self._check_at_rest()
            return
        span = self.clock.peek() - self.clock.now
        active = len(self.worker.batch.admitted)
        finished = sum(not isnan(each) for each in self.ledger.view("finish")[: len(self.sent)])
        self.in_system += (len(self.sent) - finished) * span
        self.residence += active * span
        self.busy += bool(active) * span
        before = self.clock.now
        try:
            self.clock.step()
        except BaseException:
            self.broken = self.broken or self.desk.failure or self.worker.failure
            if self.broken is None:
                raise
            raise self.broken from None
        assert self.clock.now >= before
        self._check_fates()
        self._check_prompt()

    # What must hold

    def hears_join(self, request: int, size: int, release: float) -> None:
        """Requests join in order, once, with what may be known of them, and none before its release."""
        sent = self.sent[request]
        assert request == len(self.seen.joined)
        assert release == sent.release <= self.clock.now
        assert size == (sent.upper if self.interval else sent.length)
        self.seen.joined.append(request)

    def hears_question(self, epoch: Epoch) -> None:
        """The policy is asked when it could act and by when it wished, and is shown the worker as it is."""
        seen = self.seen
        assert epoch.step <= self.due_step
        assert epoch.now <= self.due
        assert epoch.now == self.clock.now
        assert epoch.step >= seen.step
        assert epoch.joined == len(seen.joined) == len(self.sent), "who was released has not joined"
        seen.step = epoch.step
        active = {slot: request for slot, request in enumerate(self.worker.batch.occupant) if request != FREE}
        assert len(active) < self.slots
        assert epoch.active == len(active)
        assert len(seen.joined) > len(seen.start_step), "nobody waits"
        progress = {slot: epoch.step - seen.start_step[request] for slot, request in active.items()}
        assert all(0 < made < self.sent[active[slot]].length for slot, made in progress.items())
        assert {slot: epoch.progress(slot) for slot in active} == progress
        assert epoch.max_progress == max(progress.values(), default=0)
        assert self.policy.alpha is None or epoch.max_progress <= self.policy.alpha
        # work is conserved: what was made is what requests that ended needed, and what others have
        ended = [row for row in seen.start_step if self.ledger.finished_at(row) is not None]
        assert set(active.values()) == set(seen.start_step) - set(ended)
        assert all(seen.start_step[row] + self.sent[row].length <= epoch.step for row in ended)

    def hears_answer(self, epoch: Epoch, answer: Sequence[Admission]) -> None:
        """Nobody is served twice; gaps stay within what is claimed."""
        self._last_decision = epoch.now
        for request, slot in answer:
            assert request not in self.seen.start_step
            self.seen.start_step[request] = epoch.step
            self.seen.slot[request] = slot
        if answer:
            self.seen.gap = max(self.seen.gap, epoch.max_progress)
        self._note_due(epoch, len(answer))

    def _note_due(self, epoch: Epoch, admitted: int) -> None:
        """When the policy must be asked again at the latest, if it could then act."""
        self.due = self.due_step = inf
        acts = self.policy.alpha is None and len(self.seen.joined) > len(self.seen.start_step)
        if self.name == DRAWN and acts and epoch.active + admitted < self.slots:
            self.due_step = self.drawn.due_step
            # a busy worker, and a slotted one, comes to it at the end of a step
            steps = self.slotted or epoch.active + admitted > 0
            if self.step_time.constant or not steps:
                self.due = self._a_step_after(self.drawn.due) if steps else self.drawn.due

    def _check_fates(self) -> None:
        """Dates and slots of all requests, and the batch."""
        batch, seen = self.worker.batch, self.seen
        steps = list(batch.admitted.values())
        assert len(steps) <= self.slots
        assert steps == sorted(steps)
        assert self.policy.alpha is None or not steps or steps[-1] - steps[0] <= self.policy.alpha
        held = [batch.occupant[slot] for slot in batch.admitted]
        assert len(set(held)) == len(held)
        for request, sent in enumerate(self.sent):
            start, finish = self.ledger.started_at(request), self.ledger.finished_at(request)
            assert (start is not None) == (request in seen.start_step)
            assert (request in held) == (start is not None and finish is None)
            if start is None:
                assert finish is None
                continue
            assert sent.release <= start <= self.clock.now
            if finish is not None:
                assert start < finish + np.spacing(finish)  # a step can be too short to date
                assert finish <= self.clock.now
                if self.step_time.constant:
                    assert finish == pytest.approx(start + sent.length * self.step_time.base, rel=1e-12)

    def _check_prompt(self) -> None:
        """A release that finds a free slot is seen at the end of its step at the latest."""
        free = len(self.worker.batch.admitted) < self.slots and self.policy.alpha is None
        unseen = self.sent[len(self.seen.joined) :]
        if free and unseen and self.step_time.constant and self.clock.peek() > self.clock.now:
            assert self.clock.peek() <= self._a_step_after(unseen[0].release)

    def _a_step_after(self, instant: float) -> float:
        """Where steps are constant; up to what floats of that size can tell."""
        return instant if instant == inf else instant + self.step_time.base + 4 * float(np.spacing(instant))

    def _check_at_rest(self) -> None:
        """Nothing can happen by itself: nobody is served, and whoever waits is told of."""
        assert self.due == self.due_step == inf
        assert not self.worker.batch.admitted
        assert len(self.seen.joined) == len(self.sent)
        left = len(self.sent) - len(self.seen.start_step)
        if left:
            with pytest.raises(PolicyError, match=rf"{left} requests? still wait"):
                self.worker.check_all_served()
        else:
            self.worker.check_all_served()

    def teardown(self) -> None:
        """Serve everybody and hold all totals against what they are made of."""
        if not hasattr(self, "worker") or self.broken is not None:
            return
        self.drawn.data = None
        self.send([1], "now", 1)  # whatever the policy waits for, it is asked once more
        while self.clock.peek() < inf:
            self._event()
        self._check_at_rest()
        assert len(self.seen.start_step) == len(self.sent)
        assert self.desk.running == 0
        self._check_totals()
        self._check_with_oracle()

    def _check_totals(self) -> None:
        """Integers exactly, times up to rounding."""
        spans = Spans.of([(self.seen.start_step[row], sent.length) for row, sent in enumerate(self.sent)])
        worker, batch = self.worker, self.worker.batch
        assert spans.most <= self.slots
        assert worker.steps == spans.steps
        assert worker.externality == spans.externality
        assert batch.gap_steps == spans.gap_steps
        assert batch.max_gap == spans.max_gap == self.seen.gap
        assert batch.violation_steps == spans.steps_beyond(self.alpha)
        work = sum(sent.length * (sent.length + 1) // 2 for sent in self.sent)
        assert self.ledger.intrinsic == work
        assert self.ledger.tokens == spans.tokens == sum(sent.length for sent in self.sent)
        # C = tau Q + c T + tau E (Yao and Zhou, section 5), with c = 3 and tau = 2
        assert spans.cost(3, 2) == 2 * work + 3 * worker.steps + 2 * worker.externality
        if self.policy.alpha is not None:
            assert worker.externality <= self.policy.alpha * spans.tokens
        served = self.ledger.close()
        assert served is not None
        # Little's law: the integral of how many are there is the sum of how long each is
        stays = float((served.finish - served.requests.release).sum())
        assert self.in_system == pytest.approx(stays, rel=1e-9)
        assert self.residence == pytest.approx(self.ledger.residence, rel=1e-9)
        assert self.busy == pytest.approx(worker.busy_time, rel=1e-9)
        assert served.slot.tolist() == [self.seen.slot[row] for row in range(len(self.sent))]

    def _check_with_oracle(self) -> None:
        small = sum(sent.length for sent in self.sent) <= 1500 and self.slots <= 5
        if self.name == DRAWN or not self.exact or not small:
            return
        outcome = play(
            Case(
                self.name,
                self.slots,
                tuple(sent.release + LATE * sent.late for sent in self.sent),
                tuple(sent.length for sent in self.sent),
                alpha=self.alpha,
                upper=tuple(sent.upper for sent in self.sent),
                interval=self.interval,
                pace=self.pace,
                slotted=self.slotted,
            )
        )
        served = self.ledger.close()
        assert served is not None
        assert served.start.tolist() == outcome.dates(outcome.start)
        assert served.finish.tolist() == outcome.dates(outcome.finish)
        assert served.slot.tolist() == outcome.slots
        assert self.worker.steps == outcome.steps
        assert self.worker.externality == outcome.externality
        assert self.worker.violations == outcome.violations


TestInterleavings: Any = Interleavings.TestCase
TestInterleavings.settings = settings(
    max_examples=max(30, settings().max_examples // 3), stateful_step_count=25
)
