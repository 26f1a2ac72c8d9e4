"""The SimPy process of the GPU worker."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from heapq import heappop, heappush
from math import inf
from operator import index
from typing import Any, NoReturn

import simpy

from serving_sim.arrivals import Desk, OpenStream
from serving_sim.audit import Violation
from serving_sim.batch import FREE, Batch
from serving_sim.clock import Alarm, Clock
from serving_sim.epoch import NO_WAKE_UP, Epoch
from serving_sim.errors import PolicyError
from serving_sim.how_many import how_many
from serving_sim.ledger import UNSERVED, Ledger
from serving_sim.policy import Admission, Policy
from serving_sim.source import Process
from serving_sim.spans import SpanLog
from serving_sim.steptime import StepTime, too_late

_FRUITLESS = 100_000
"""Wake-ups of an empty worker in a row, without an admission or a release, that count as a hang."""


class Worker:
    """One GPU worker with ``slots`` slots, stepping its batch in lockstep.

    An epoch is an instant at which the batch may change. The worker jumps from epoch to epoch: the
    next completion is the top of a heap of whole steps, the next release of an open stream is
    looked up, and both are dated by the pace of the batch. It sleeps on one SimPy event an epoch;
    an epoch that neither a source nor the policy can act on (a completion while nothing waits)
    needs none.

    Complexity: O(log slots) an epoch and request, beside what the policy does and the shifts of a
    sorted list of free slots, which memory moves as one piece.
    """

    def __init__(
        self,
        clock: Clock,
        ledger: Ledger,
        arrivals: OpenStream | Desk,
        policy: Policy,
        *,
        slots: int,
        step_time: StepTime,
        slotted: bool,
        alpha: int | None,
        spans: SpanLog | None,
    ) -> None:
        self._clock = clock
        self._ledger = ledger
        self._arrivals = arrivals
        self._policy = policy
        self._slots = slots
        self._step_time = step_time
        self._slotted = slotted
        self._alpha = inf if alpha is None else alpha
        self._spans = spans
        self._label = policy.describe()
        self._left = 0
        self.batch = Batch(slots, alpha)
        self.steps = 0
        self.makespan = 0.0
        self.busy_time = 0.0
        self.epochs = 0
        self.decisions = 0
        self.events = 0
        self._admission_externality = 0
        self.violations = 0
        self.first_violation: Violation | None = None
        self.failure: BaseException | None = None

    def run(self) -> Process:  # noqa: C901, PLR0912, PLR0915  (the docstring says why)
        """The process, as one long body with local names on purpose.

        It runs once an epoch, and there calls and attribute look-ups cost more than the SimPy event.
        What is rare is in the methods. A failure is kept for the caller, since SimPy would rebuild
        it from its arguments.
        """
        policy, batch, arrivals, clock = self._policy, self.batch, self._arrivals, self._clock
        step_time, spans, slots, slotted = self._step_time, self._spans, self._slots, self._slotted
        join, decide, set_alarm = policy.join, policy.decide, clock.set_alarm
        occupant, admitted = batch.occupant, batch.admitted
        desk = arrivals if isinstance(arrivals, Desk) else None
        if desk is not None:
            desk.decider = clock.active_process
        constant, audited = step_time.constant, self._alpha
        latest = step_time.latest
        lazy = constant and desk is None and spans is None
        budget: float = inf if policy.alpha is None else int(policy.alpha)
        free = list(range(slots))
        epoch = Epoch(batch, free, self._ledger.knowledge, self._label)
        alarm = Alarm(clock)
        ends: list[int] = []  # heap of finish step * slots + slot: one whole number orders both
        firsts: list[tuple[int, int]] = []  # heap of (step of the first token, request)
        step = joined = waiting = active = fruitless = 0
        since_sum = 0  # sum of admission steps over the batch
        produced = 0  # sum of finish steps less sum of admission steps: tokens so far - active * step
        oldest = newest = 0  # as in the batch, whose attributes take longer to look up
        last_end = 0  # the step at which the batch empties if nobody is admitted
        externality = 0  # sum of length * admission step, the part of E that grows at admissions
        epochs = decisions = events = 0
        now = busy_since = 0.0
        anchor, anchor_step = 0.0, 0  # step `anchor_step` ended at `anchor`; `pace` dates later ones
        pace = step_time.pace(0, 0, 0)
        linear = pace.linear
        wake_step = wake_time = inf  # the policy's wake-up: the one while busy, the other while empty

        try:
            policy.begin(slots)
            (base, known, release, length, size, start, finish, slot_of, first_at, first_step) = self._views()
            next_release = release[0] if known else inf
            while True:
                epochs += 1
                changed = False
                while firsts and firsts[0][0] <= step:
                    made, request = heappop(firsts)
                    first_at[request - base] = anchor + pace.elapsed(made - anchor_step)

                # 1. requests that have done their last step complete
                due = (step + 1) * slots
                if active and ends[0] < due:
                    changed = True
                    while active and ends[0] < due:
                        end = heappop(ends)
                        slot = end % slots
                        end //= slots
                        request = occupant[slot]
                        occupant[slot] = FREE
                        since = admitted.pop(slot)
                        insort(free, slot)
                        ended = now if end == step else anchor + (end - anchor_step) * linear
                        finish[request - base] = ended
                        active -= 1
                        produced += end
                        since_sum -= since
                        # nothing changes at the ends while all that are left were admitted together
                        if not active or (oldest != newest and since in (oldest, newest)):
                            batch.end_retired(end, produced + active * end)
                            oldest, newest = batch.oldest, batch.newest
                        if desk is not None:
                            desk.tell_finished(request)
                    if not active:
                        self.busy_time += now - busy_since
                        self.steps, self.makespan = step, now
                        epoch.idle_since = now
                    if desk is not None:  # the source reacts before its releases join
                        events += 1
                        yield set_alarm(alarm, now)

                # 2. requests released by now join, in the order (release, input order)
                if desk is not None:
                    (base, known, release, length, size, start, finish, slot_of, first_at, first_step) = (
                        self._views()
                    )
                    next_release = release[joined - base] if joined < known else inf
                while next_release <= now:
                    join(joined, size[joined - base], next_release)
                    joined += 1
                    waiting += 1
                    fruitless = 0
                    if joined < known:
                        next_release = release[joined - base]
                    elif arrivals.refill() is not None:
                        base, known, release, length, size, start, finish, slot_of, first_at, first_step = (
                            self._views()
                        )
                        next_release = release[joined - base]
                    else:
                        next_release = inf

                # 3. the policy admits
                if waiting and free and (not active or step - oldest <= budget):
                    decisions += 1
                    epoch.now = now
                    epoch.step = step
                    epoch.joined = joined
                    answer = decide(epoch)
                    try:
                        count = len(answer)
                    except TypeError as cause:
                        self._refuse_answer(answer, now, cause)
                    if count:
                        fruitless = 0
                        changed = True
                        try:
                            for request, wanted in answer:
                                if type(request) is not int:  # numpy's wrap, and JSON has no word for them
                                    request = index(request)  # noqa: PLW2901
                                row = request - base
                                if row < 0 or request >= joined or slot_of[row] != UNSERVED:
                                    self._refuse_request(request, joined, now)
                                if free and free[0] == wanted:
                                    slot = free.pop(0)  # our own int, whatever the policy sent
                                else:
                                    slot = self._take(free, wanted, request, now)
                                tokens = length[row]
                                end = step + tokens
                                if end > last_end:  # noqa: PLR1730  (max() costs a call a request)
                                    last_end = end
                                externality += tokens * step
                                start[row] = now
                                slot_of[row] = slot
                                occupant[slot] = request
                                admitted[slot] = step
                                heappush(ends, end * slots + slot)
                                if not constant:
                                    heappush(firsts, (step + first_step[row], request))
                                if desk is not None:
                                    desk.tell_started(request)
                        except (TypeError, ValueError) as cause:
                            self._refuse_answer(answer, now, cause)
                        newest = step
                        if not active:
                            busy_since = now
                            oldest = step
                        gap = batch.newest_admitted(step, oldest)
                        waiting -= count
                        active += count
                        produced -= count * step
                        since_sum += count * step
                        if gap > audited:
                            self._note_violation(answer, step, now)
                    wake_step, wake_time = epoch.take_wake_up() if epoch.wakes else NO_WAKE_UP
                elif wake_step <= step:  # it rang while nothing could be decided
                    wake_step = inf

                # 4. if the batch is not empty the next step begins at once
                if changed:
                    if spans is not None:
                        spans.open(now, step, waiting, batch)
                    if active and not constant:
                        anchor, anchor_step = now, step
                        progress = active * step - since_sum
                        pace = step_time.pace(active, step - oldest, progress)
                if wake_time < inf and active:
                    wake_step = min(wake_step, anchor_step + pace.steps_to_reach(anchor, wake_time))
                    wake_time = inf

                # sleep until the next epoch; a reactive source may release and shorten the sleep
                while True:
                    if active:
                        # while nothing waits nobody can act on a completion: those before the next
                        # release is seen are retired together then, each at its own date
                        skips = lazy and free and not waiting
                        target = last_end if skips else ends[0] // slots
                        if wake_step < target:
                            target = int(wake_step)
                        ahead = target - anchor_step
                        reach = anchor + (ahead * linear if constant else pace.elapsed(ahead))
                        if free and next_release < reach:
                            seen = anchor_step + pace.steps_to_reach(anchor, next_release)
                            if seen <= step:  # released at this epoch, after the decision
                                seen = step + 1
                            if seen < target and (skips or seen - oldest <= budget):
                                target = seen
                                ahead = target - anchor_step
                                reach = anchor + (ahead * linear if constant else pace.elapsed(ahead))
                        if not waiting and next_release > reach and desk is None:
                            break  # a completion that nobody can act on needs no event
                    else:
                        target = step
                        reach = max(min(next_release, wake_time), now)
                        if wake_time < next_release:
                            fruitless += 1
                        if fruitless > _FRUITLESS:
                            self._refuse_to_wait(waiting, now)
                        if reach == inf and desk is None:
                            self._left = waiting
                            self._keep(epochs, decisions, events, externality)
                            return
                        if slotted and reach < inf:  # an empty worker too starts on the grid
                            ticks = pace.steps_to_reach(0.0, reach)
                            reach = pace.elapsed(ticks)
                            anchor, anchor_step = 0.0, step - ticks
                        else:
                            anchor, anchor_step = reach, step
                    events += 1
                    if desk is None:
                        yield set_alarm(alarm, reach)
                        break
                    self._left = waiting
                    self._keep(epochs, decisions, events, externality)
                    desk.worker = clock.active_process
                    try:
                        yield set_alarm(alarm, reach) if reach < inf else clock.event()
                        break
                    except simpy.Interrupt:  # a release: the alarm stays pending, so take a new one
                        alarm = Alarm(clock)
                        base, known, release, length, size, start, finish, slot_of, first_at, first_step = (
                            self._views()
                        )
                        next_release = release[joined - base]
                    finally:
                        desk.worker = None
                if reach > latest:
                    self._refuse_instant(reach)
                step, now = target, reach
        except GeneratorExit:  # this process is collected, or a policy has raised it: SimPy passes it on
            raise
        except BaseException as failure:  # noqa: BLE001  (`simulate` raises it)
            self.failure = failure
            raise simpy.core.StopSimulation(None) from None

    def _views(self) -> tuple[Any, ...]:
        ledger = self._ledger
        columns = ("release", "length", "size", "start", "finish", "slot", "first_token", "first_token_step")
        return (ledger.base, ledger.known, *map(ledger.view, columns))

    def _keep(self, epochs: int, decisions: int, events: int, externality: int) -> None:
        self.epochs, self.decisions, self.events = epochs, decisions, events
        self._admission_externality = externality

    @property
    def externality(self) -> int:
        """E, exact once all requests have been served."""
        return self._admission_externality + self.batch.externality

    def check_all_served(self) -> None:
        """Raise `PolicyError` if requests still wait although nothing can wake the policy."""
        if self._left:
            raise PolicyError(
                f"policy {self._label} at time {self._clock.now}: "
                f"{how_many(self._left, 'request')} still wait, the worker is empty and nothing "
                "is left that could wake the policy"
            )

    def _refuse_instant(self, instant: float) -> NoReturn:
        raise ValueError(too_late("instant", instant, self._step_time.alone(1)))

    def _refuse_to_wait(self, waiting: int, now: float) -> NoReturn:
        raise PolicyError(
            f"policy {self._label} at time {now}: {how_many(waiting, 'request')} still wait, and "
            f"the policy has asked to be woken {_FRUITLESS:,} times in a row without admitting one"
        )

    def _take(self, free: list[int], slot: int, request: int, now: float) -> int:
        at = bisect_left(free, slot)
        if at == len(free) or free[at] != slot:
            what = "not free" if 0 <= slot < self._slots else f"not one of 0..{self._slots - 1}"
            raise PolicyError(
                f"policy {self._label} at time {now}: request {request} cannot take slot {slot}, it is {what}"
            )
        return free.pop(at)

    def _refuse_request(self, request: int, joined: int, now: float) -> NoReturn:
        if not 0 <= request < joined:
            why = "it was not released yet" if request >= joined else "there is no such request"
        else:
            why = "it was admitted before"
        raise PolicyError(f"policy {self._label} at time {now}: request {request} cannot be admitted, {why}")

    def _refuse_answer(self, answer: object, now: float, cause: Exception | None = None) -> NoReturn:
        raise PolicyError(
            f"policy {self._label} at time {now}: the answer must be a sequence of "
            f"(request, slot) pairs of whole numbers, found {answer!r:.80}"
        ) from cause

    def _note_violation(self, answer: Sequence[Admission], step: int, now: float) -> None:
        self.violations += len(answer)
        if self.first_violation is None:
            request, slot = map(index, next(iter(answer)))
            other_slot, since = next(iter(self.batch.admitted.items()))
            other = self.batch.occupant[other_slot]
            self.first_violation = Violation(now, step, request, slot, other, other_slot, step - since)
