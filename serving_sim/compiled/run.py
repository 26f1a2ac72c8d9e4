"""Plays a stream of requests with the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from serving_sim.arrivals import OpenStream
from serving_sim.compiled import kernel
from serving_sim.compiled.choice import refuse_large
from serving_sim.compiled.isjl_plan import no_plan, with_entries
from serving_sim.compiled.jit import read_only
from serving_sim.compiled.kernel import AT_ADMISSION, AT_OLDEST, GAPS, Requests, Terms, empty_slots
from serving_sim.compiled.log import Changes, Log, Rows, make_log, put
from serving_sim.compiled.pace import Coefficients
from serving_sim.compiled.queue import make_queue, with_room
from serving_sim.compiled.state import NEVER, State
from serving_sim.compiled.tally import audit_of, make_tally
from serving_sim.compiled.wide import exact
from serving_sim.ledger import Ledger
from serving_sim.outcome import Outcome
from serving_sim.policy import Policy
from serving_sim.rule import Order, rule_of
from serving_sim.steptime import StepTime, too_late

FEWEST_READ = 4_096
"""Least requests to read of a stream at once, where it has as many: a short block is not worth a call."""

MOST_LOGGED = 2**18
"""Admissions after which the log is read, at 24 to 136 bytes each."""


def serve(
    ledger: Ledger,
    arrivals: OpenStream,
    policy: Policy,
    *,
    slots: int,
    step_time: StepTime,
    slotted: bool,
    alpha: int | None,
    record_batches: bool,
) -> Outcome:
    """Serve all requests of a stream under the rule of a policy; `choice.choose` has allowed it.

    Parameters
    ----------
    ledger : Ledger
        The fates of the requests are written into its columns.
    arrivals : OpenStream
        Fills the ledger.
    policy, slots, step_time, slotted, record_batches
        As for `serving_sim.simulate.simulate`.
    alpha : int or None
        Budget of the audit in tokens.

    Raises
    ------
    ValueError
        If a block has numbers that are too large for the kernel, or the run becomes too late to tell
        steps apart.
    """
    play = _Play(ledger, arrivals, policy, slots, step_time, slotted=slotted, alpha=alpha)
    changes = Changes() if record_batches else None
    play.read_ahead()
    play.make_log(batches=record_batches)
    while not play.state.over:
        play.go_on()
        if changes is not None:
            changes.read(play.log, play.state.changes_logged)
        if play.needs_requests:
            play.read_ahead()
    assert play.state.admitted == ledger.known, "a built-in rule leaves nobody waiting"
    tally, sums = play.tally, play.sums
    return Outcome(
        steps=int(tally.steps),
        externality=exact(sums[AT_ADMISSION]) - exact(sums[AT_OLDEST]),
        gap_steps=exact(sums[GAPS]),
        makespan=float(tally.makespan),
        busy_time=float(tally.busy_time),
        epochs=int(tally.epochs),
        decisions=int(tally.decisions),
        events=0,
        audit=audit_of(tally, alpha),
        batches=None if changes is None else changes.batches(),
    )


class _Play:
    """A run at a pause of the kernel, which needs an empty log or more requests to go on.

    Attributes
    ----------
    state, log, sums, tally
        As of the kernel.
    """

    def __init__(
        self,
        ledger: Ledger,
        arrivals: OpenStream,
        policy: Policy,
        slots: int,
        step_time: StepTime,
        *,
        slotted: bool,
        alpha: int | None,
    ) -> None:
        rule = rule_of(policy)
        assert rule is not None
        self._ledger, self._arrivals, self._step_time = ledger, arrivals, step_time
        self._terms = Terms(
            int(slots),
            slotted,
            int(rule.order),
            _budget(policy.alpha),
            _budget(rule.allowance),
            _budget(alpha),
            step_time.latest,
        )
        self._sized = rule.order != Order.ARRIVAL
        self._constant = step_time.constant
        self._coefficients = _coefficients(step_time)
        self._worker, self._queue, self._plan = empty_slots(slots), make_queue(), no_plan(slots)
        self._rank = read_only(np.empty(0, np.int64))
        self._more = True
        self.sums, self.tally = np.zeros((3, 2), np.int64), make_tally()
        self.state = State()

    @property
    def needs_requests(self) -> bool:
        """Whether all known requests have joined and others follow."""
        return self._more and self.state.joined == self._ledger.known

    def read_ahead(self) -> None:
        """Let the ledger know the next requests, and make room for them."""
        ledger, terms = self._ledger, self._terms
        self._ranked = ledger.known
        # room is made anew for every size that waits, so as many requests again pay for it
        wanted = max(FEWEST_READ, int(np.count_nonzero(self._queue.waiting)))
        while self._more and ledger.known < self._ranked + wanted:
            block = self._arrivals.refill()
            self._more = block is not None
            if block is not None:
                refuse_large(block, ledger.tokens, self._step_time)
        if ledger.known > self._ranked and self._sized:
            self._queue, self._rank = with_room(
                self._queue, self._column("size")[self._ranked - ledger.base :]
            )
        if terms.order == Order.ISJL:  # a pack holds at most 2 alpha tokens
            packed = min(ledger.known - self.state.admitted, 2 * terms.budget * terms.slots)
            self._plan = with_entries(self._plan, packed)

    def make_log(self, *, batches: bool) -> None:
        """Make a log for as many requests as are known, which may be the whole run."""
        self._room = min(max(1, self._ledger.known), MOST_LOGGED)  # nobody may come, which ends a run too
        self.log = make_log(self._room, self._terms.slots, constant=self._constant, batches=batches)

    def go_on(self) -> None:
        """Let the kernel serve until it pauses or all is over, and read its log."""
        ledger, admitted = self._ledger, self.state.admitted
        length = read_only(self._column("length"))
        requests = Requests(
            base=ledger.base,
            known=ledger.known,
            more=self._more,
            release=read_only(self._column("release")),
            length=length,
            first_token_step=length if self._constant else read_only(self._column("first_token_step")),
            rank=self._rank,
            ranked=self._ranked,
            known_exactly=ledger.sizes_are_lengths,
        )
        self.state = kernel.serve(
            self.state._replace(firsts_logged=0, finishes_logged=0, changes_logged=0),
            requests,
            self.log if self._sized else self._in_arrival_order(),
            admitted + self._room,
            self._worker,
            self._queue,
            self._plan,
            self._terms,
            self._coefficients,
            self.sums,
            self.tally,
        )
        if self.state.now > self._terms.latest:
            raise ValueError(too_late("instant", self.state.now, self._step_time.alone(1)))
        self._read_log(self.state.admitted - admitted)

    def _in_arrival_order(self) -> Log:
        """The log with what is known at an admission in the rows where it belongs."""
        names = ("start", "slot", "finish") if self._constant else ("start", "slot")
        next_row = self.state.admitted - self._ledger.base
        return self.log._replace(**{name: self._column(name)[next_row:] for name in names})

    def _read_log(self, admissions: int) -> None:
        log, state = self.log, self.state
        if self._sized:
            self._put(log.admitted, log.start, admissions, "start")
            self._put(log.admitted, log.slot, admissions, "slot")
            if self._constant:
                self._put(log.admitted, log.finish, admissions, "finish")
        if not self._constant:
            self._put(log.made_first, log.first_token, state.firsts_logged, "first_token")
            self._put(log.finished, log.finish, state.finishes_logged, "finish")

    def _put(self, rows: Rows, values: NDArray[Any], count: int, name: str) -> None:
        put(rows, values, count, self._column(name))

    def _column(self, name: str) -> NDArray[Any]:
        return np.asarray(self._ledger.view(name))[: self._ledger.known - self._ledger.base]


def _budget(tokens: int | None) -> int:
    return NEVER if tokens is None else min(int(tokens), NEVER)  # no run can tell larger ones apart


def _coefficients(step_time: StepTime) -> Coefficients:
    return Coefficients(
        float(step_time.base),
        float(step_time.per_request),
        float(step_time.per_max_token),
        float(step_time.per_token),
        step_time.constant,
    )
