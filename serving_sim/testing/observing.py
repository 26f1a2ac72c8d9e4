"""What a policy is seen to do on an instance, and where two such observations part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import zip_longest
from math import inf
from typing import Literal, NamedTuple

from serving_sim.epoch import Epoch
from serving_sim.errors import PolicyError
from serving_sim.explanation import fits
from serving_sim.policy import Admission, Policy
from serving_sim.record import Run
from serving_sim.simulate import simulate
from serving_sim.testing.checked import Checked
from serving_sim.testing.instances import Instance
from serving_sim.testing.passthrough import PassThrough

MakePolicy = Callable[[], Policy]
"""Gives a new policy object at every call, always with the same parameters."""


class Decision(NamedTuple):
    """An epoch at which the policy was asked, and its answer in text."""

    time: float
    answer: str


@dataclass(frozen=True)
class Observation:
    """One run of a policy: its answers, then either a run or the error that ended it."""

    decisions: tuple[Decision, ...]
    run: Run | None = None
    failure: PolicyError | None = None


_PATIENCE = 200
"""Questions a request after which nobody believes that the run will end."""


class BrokenOffError(Exception):
    """The observer has seen enough of a run."""


class Recorder(PassThrough):
    """Keeps the answers of ``inner``, and breaks the run off instead of asking more than ``most`` times."""

    def __init__(self, inner: Policy, most: int) -> None:
        super().__init__(inner)
        self.decisions: list[Decision] = []
        self._most = most

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        """Note the answer and pass it on."""
        if len(self.decisions) >= self._most:
            raise BrokenOffError
        time = epoch.now
        answer = self.inner.decide(epoch)
        # a list and a tuple say the same; all else is left to the check of its form
        said = str(list(answer)) if isinstance(answer, list | tuple) else type(answer).__name__
        self.decisions.append(Decision(time, said))
        return answer


class Inquirer(PassThrough):
    """Asks ``inner`` for its reason after every decision, and keeps the first that breaks a rule.

    Attributes
    ----------
    misfit : Decision or None
        When it was given, and the reason itself in text.
    """

    def __init__(self, inner: Policy) -> None:
        super().__init__(inner)
        self.misfit: Decision | None = None

    def begin(self, slots: int) -> None:
        """Nobody waits; pass the call on."""
        super().begin(slots)
        self._waiting: set[int] = set()

    def join(self, request: int, size: int, release: float) -> None:
        """One more waits; pass the call on."""
        self._waiting.add(request)
        self.inner.join(request, size, release)

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        """Pass the answer on once the reason is known."""
        answer = self.inner.decide(epoch)
        reason: object = self.inner.explain(epoch, answer)
        if self.misfit is None and not fits(reason, self._waiting):
            self.misfit = Decision(epoch.now, repr(reason))
        self._waiting.difference_update(request for request, _ in answer)
        return answer


def observe(
    policy: Policy,
    instance: Instance,
    *,
    information: Literal["exact", "interval"] = "exact",
    alpha: int | None = None,
) -> Observation:
    """Run a policy on an instance, with every call checked and gaps held against ``alpha``."""
    patience = _PATIENCE * len(instance.rows)
    recorder = Recorder(policy, patience)
    run = failure = None
    try:
        run = simulate(
            instance.workload,
            Checked(recorder),
            slots=instance.slots,
            step_time=instance.step_time,
            slotted=instance.slotted,
            information=information,
            alpha=alpha,
        )
    except PolicyError as error:
        failure = error
    except BrokenOffError:
        failure = PolicyError(f"policy {policy.describe()}: not all are served after {patience} questions")
    except Exception as error:
        error.add_note(f"The run was that of {instance.label}.")
        raise
    return Observation(tuple(recorder.decisions), run, failure)


def break_off(policy: Policy, instance: Instance, decisions: int) -> None:
    """Run a policy and stop in the middle, after so many decisions."""
    with suppress(BrokenOffError, PolicyError):  # what it answered is for other checks to judge
        simulate(instance.workload, Recorder(policy, decisions), slots=instance.slots)


def parting(one: Observation, other: Observation, *, before: float = inf) -> str | None:
    """Where the answers first differ at an epoch earlier than ``before``, in words; None for nowhere."""
    ours, theirs = ([d for d in seen.decisions if d.time < before] for seen in (one, other))
    for our, their in zip_longest(ours, theirs):
        if our != their:
            return f"{_said(our)} against {_said(their)}"
    return None


def _said(decision: Decision | None) -> str:
    return "no answer" if decision is None else f"{decision.answer} at time {decision.time}"
