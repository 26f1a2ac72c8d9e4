"""A run cut into epochs, each of which can be looked at on its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analysis.watch.frame import Active, Frame, Queue, Waiting
from analysis.watch.observer import MOST_EPOCHS, Decision, Observer, too_many
from serving_sim import Run
from serving_sim.record import SlotArray
from serving_sim.request import FloatArray, IntArray


@dataclass(frozen=True)
class Moment:
    """An epoch: an instant at which somebody finished, or the policy was asked.

    Attributes
    ----------
    time : float
        In time units.
    step : int
        Busy steps before.
    decision : Decision or None
        None where the worker had no reason to ask.
    """

    time: float
    step: int
    decision: Decision | None


@dataclass(frozen=True, eq=False)
class Recording:
    """A run and what its policy said; requests stand in arrival order, as policies number them.

    Attributes
    ----------
    run : Run
        With its requests kept.
    moments : tuple of Moment
        The epochs.
    names : tuple of str
        What each request is called: its id, or its row in the input.
    release : ndarray of float, shape (n,)
        In time units.
    length, size : ndarray of int, shape (n,)
        True lengths and what policies saw of them, in tokens.
    slot, start_step : ndarray of int, shape (n,)
        Where each request ran, and the busy steps before its admission.
    joins, starts, ends : ndarray of int, shape (n,)
        Epochs, by place from 0, at which each joined the queue, was admitted and finished.
    budget : int or None
        Alpha that the policy promises, in tokens.
    """

    run: Run
    moments: tuple[Moment, ...]
    names: tuple[str, ...]
    release: FloatArray
    length: IntArray
    size: IntArray
    slot: SlotArray
    start_step: IntArray
    joins: IntArray
    starts: IntArray
    ends: IntArray
    budget: int | None

    def __len__(self) -> int:
        return len(self.moments)

    @cached_property
    def violations(self) -> tuple[int, ...]:
        """Places, from 0, of the epochs at which somebody entered while A_max exceeded alpha."""
        alpha = self.run.audit.alpha
        if alpha is None:
            return ()
        entries = np.unique(self.starts).tolist()
        return tuple(place for place in entries if self._max_progress(place) > alpha)

    def frame(self, place: int) -> Frame:
        """The epoch at ``place``, from 0. O(n + slots)."""
        moment = self.moments[place]
        active = np.flatnonzero((self.starts <= place) & (self.ends > place))
        waiting = np.flatnonzero((self.joins <= place) & (self.starts > place))
        progress = moment.step - self.start_step[active]
        alpha, furthest = self.run.audit.alpha, self._max_progress(place)
        slots: list[Active | None] = [None] * self.run.slots
        for request, made in zip(active.tolist(), progress.tolist(), strict=True):
            slots[self.slot[request]] = Active(
                self.names[request],
                int(self.length[request]),
                made,
                enters=bool(self.starts[request] == place),
            )
        return Frame(
            epoch=place + 1,
            epochs=len(self),
            time=moment.time,
            step=moment.step,
            finished=self._named(self.ends == place),
            released=self._named(self.joins == place),
            slots=tuple(slots),
            waiting=Queue(waiting, self._numbers, self._waiting),
            max_progress=furthest,
            gap=int(np.ptp(progress)) if len(progress) else 0,
            alpha=alpha,
            violates=alpha is not None and furthest > alpha and bool(np.any(self.starts == place)),
            rule=self._rule(place, len(waiting), len(active)),
            reasons=self._reasons(moment),
        )

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: request for request, name in enumerate(self.names)}

    def _max_progress(self, place: int) -> int:
        """A_max of those who were there before the decision."""
        before = self.start_step[(self.starts < place) & (self.ends > place)]
        return self.moments[place].step - int(before.min()) if len(before) else 0

    def _named(self, chosen: np.ndarray) -> tuple[str, ...]:
        return tuple(self.names[request] for request in np.flatnonzero(chosen).tolist())

    def _waiting(self, request: int) -> Waiting:
        return Waiting(
            self.names[request],
            int(self.length[request]),
            int(self.size[request]),
            float(self.release[request]),
        )

    def _rule(self, place: int, waiting: int, active: int) -> str:
        decision = self.moments[place].decision
        if decision is not None:
            return "the policy does not tell" if decision.reason is None else decision.reason.rule
        if not waiting:
            return "nobody waits"
        if active == self.run.slots:
            return "no slot is free"
        furthest = self._max_progress(place)
        return f"A_max = {furthest} > alpha = {self.budget}: nobody may enter, the policy is not asked"

    def _reasons(self, moment: Moment) -> tuple[tuple[str, str], ...]:
        if moment.decision is None or moment.decision.reason is None:
            return ()
        entering = {request for request, _ in moment.decision.answer}
        said = sorted(moment.decision.reason.requests.items(), key=lambda item: item[0] not in entering)
        return tuple((self.names[request], text) for request, text in said)


def record(run: Run, observer: Observer) -> Recording:
    """What can be watched of a run.

    Parameters
    ----------
    run : Run
        With its requests kept, in which ``observer`` was the policy.
    observer : Observer
        As the run left it.

    Raises
    ------
    ValueError
        If there are more than `MOST_EPOCHS` epochs.
    """
    requests = run.requests
    assert requests is not None
    order = requests.arrival_order
    rows = np.arange(len(requests)) if order is None else order
    ids = requests.request_id
    names = tuple(str(row if ids is None else ids[row]) for row in rows.tolist())
    release, length = requests.release[rows], requests.length[rows]
    start_step = np.empty(len(rows), np.int64)
    for decision in observer.decisions:
        start_step[[request for request, _ in decision.answer]] = decision.step
    moments, starts, ends = _moments(observer.decisions, start_step + length, run.finish[rows])
    return Recording(
        run=run,
        moments=moments,
        names=names,
        release=release,
        length=length,
        size=np.array(observer.sizes, np.int64),
        slot=run.slot[rows],
        start_step=start_step,
        joins=_joins(moments, release),
        starts=starts,
        ends=ends,
        budget=observer.alpha,
    )


def _moments(
    decisions: Sequence[Decision], last_step: IntArray, finish: FloatArray
) -> tuple[tuple[Moment, ...], IntArray, IntArray]:
    """Epochs in order, with the places at which requests start and end.

    Whoever finishes at an epoch does so before its decision. Completions after which the worker had no
    reason to ask are epochs of their own.
    """
    moments: list[Moment] = []
    starts, ends = np.empty(len(finish), np.int64), np.empty(len(finish), np.int64)
    completions = [
        (step, time, False, request)
        for request, (step, time) in enumerate(zip(last_step.tolist(), finish.tolist(), strict=True))
    ]
    questions = [(each.step, each.time, True, place) for place, each in enumerate(decisions)]
    for step, time, asked, number in sorted(completions + questions):
        latest = moments[-1] if moments else None
        if latest is None or latest.decision is not None or (latest.step, latest.time) != (step, time):
            if len(moments) == MOST_EPOCHS:
                raise too_many(time)
            moments.append(Moment(time, step, None))
        place = len(moments) - 1
        if asked:
            moments[place] = Moment(time, step, decisions[number])
            starts[[request for request, _ in decisions[number].answer]] = place
        else:
            ends[number] = place
    return tuple(moments), starts, ends


def _joins(moments: Sequence[Moment], release: FloatArray) -> IntArray:
    """Places at which requests are first seen: by a decision, which tells, else by their release."""
    seen = [
        int(np.searchsorted(release, each.time, "right")) if each.decision is None else each.decision.joined
        for each in moments
    ]
    return np.searchsorted(np.maximum.accumulate(seen), np.arange(len(release)), "right")
