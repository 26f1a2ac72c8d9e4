"""Checks of a policy that look at one run: every answer keeps the rules, and everybody is served.

Every check takes a function that makes the policy and an instance, and raises `AssertionError` with
what was expected, what was found and the likely cause.
"""

from __future__ import annotations

from functools import partial

from serving_sim.arguments import is_whole
from serving_sim.policy import Policy
from serving_sim.testing import messages
from serving_sim.testing.breaches import (
    AnswerError,
    BreachError,
    CapacityError,
    EpochError,
    FairnessError,
    SlotError,
    WaitingError,
    WakeUpError,
)
from serving_sim.testing.instances import Instance
from serving_sim.testing.observing import MakePolicy, observe


def check_claims(make: MakePolicy, instance: Instance) -> None:
    """Every call of ``make`` gives a new `Policy` with a name, and an alpha that does not change."""
    fail = partial(messages.fail, instance.label)
    policy: object = make()
    if not isinstance(policy, Policy):
        found = f"an object of type {type(policy).__name__}"
        fail(expected="a serving_sim.Policy", found=found, cause="its class does not inherit from Policy")
    if policy is make():
        fail(
            expected="a new object from every call of make",
            found="the same one twice",
            cause="make hands out an object that was made before",
        )
    name = getattr(policy, "name", None)
    if not (isinstance(name, str) and name):
        fail(
            expected="a name",
            found=f"name = {name!r}",
            cause="the class sets it to no text, or to an empty one",
        )
    if not (isinstance(policy.describe(), str) and policy.describe()):
        fail(
            expected="describe() to give the name and the parameters",
            found=f"{policy.describe()!r}",
            cause="a path of describe without a text",
        )
    claim = policy.alpha
    if not _is_budget(claim):
        fail(
            expected="alpha to be None or a whole number of tokens >= 0",
            found=f"alpha = {claim!r}",
            cause="the constructor does not check what it gets",
        )
    observe(policy, instance)
    if policy.alpha != claim:
        fail(
            expected="the same alpha before and after a run",
            found=f"alpha = {claim} before and {policy.alpha} after",
            cause="alpha is set in begin or decide instead of in the constructor",
        )


def check_answers(make: MakePolicy, instance: Instance) -> None:
    """Every answer is a sequence of (request, slot) pairs of whole numbers."""
    _forbid(AnswerError, make, instance)


def check_capacity(make: MakePolicy, instance: Instance) -> None:
    """No answer has more admissions than there are free slots."""
    _forbid(CapacityError, make, instance)


def check_waiting(make: MakePolicy, instance: Instance) -> None:
    """Only waiting requests are admitted: released, joined, and not admitted before."""
    _forbid(WaitingError, make, instance)


def check_slots(make: MakePolicy, instance: Instance) -> None:
    """Only free slots are taken, each by one request."""
    _forbid(SlotError, make, instance)


def check_epoch_use(make: MakePolicy, instance: Instance) -> None:
    """The epoch is not changed, not looked behind and not used after the answer."""
    _forbid(EpochError, make, instance)


def check_wake_ups(make: MakePolicy, instance: Instance) -> None:
    """Every wake-up lies ahead, and counts steps only while the batch is busy."""
    _forbid(WakeUpError, make, instance)


def check_service(make: MakePolicy, instance: Instance) -> None:
    """Once arrivals stop, everybody is served."""
    failure = observe(make(), instance).failure
    if failure is not None and not isinstance(failure, BreachError):
        messages.fail(
            instance.label,
            expected="every request to be served once arrivals stop",
            found=f"'{failure}'",
            cause="decide keeps slots idle and asks for no wake-up, or for wake-ups without end",
        )


def check_fairness(make: MakePolicy, instance: Instance, alpha: int | None = None) -> None:
    """No gap in a batch exceeds ``alpha``, nor the alpha that the policy promises by itself.

    ``alpha`` is the budget in tokens of a policy that looks at `Epoch.max_progress` on its own. One
    that sets `Policy.alpha` is held back by the worker, so it breaks its promise only by changing it.
    """
    _forbid(FairnessError, make, instance)
    run = observe(make(), instance, alpha=alpha).run if alpha is not None else None
    first = None if run is None else run.audit.first
    if first is not None:
        messages.fail(
            instance.label,
            expected=f"gaps of at most {alpha} tokens",
            found=f"{first.gap} at time {first.time}: request {first.request} joins request {first.other}",
            cause="decide admits while epoch.max_progress exceeds alpha",
        )


def _forbid(rule: type[BreachError], make: MakePolicy, instance: Instance) -> None:
    failure = observe(make(), instance).failure
    if failure is not None and isinstance(failure, rule):
        raise AssertionError(f"{instance.label}: {failure}") from failure


def _is_budget(alpha: object) -> bool:
    return alpha is None or (is_whole(alpha) and alpha >= 0)
