"""All checks of the conformance kit in one call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from serving_sim.testing.behaviour_checks import (
    check_begin_forgets,
    check_causality,
    check_determinism,
    check_explanations,
    check_non_clairvoyance,
)
from serving_sim.testing.instances import INSTANCES, Instance
from serving_sim.testing.observing import MakePolicy
from serving_sim.testing.rule_checks import (
    check_answers,
    check_capacity,
    check_claims,
    check_epoch_use,
    check_fairness,
    check_service,
    check_slots,
    check_waiting,
    check_wake_ups,
)
from serving_sim.testing.source_checks import (
    MOST,
    MakeSource,
    check_blocks,
    check_end,
    check_kind,
    check_repeatable,
    check_reusable,
)


def check_policy(
    make: MakePolicy, *, alpha: int | None = None, instances: Sequence[Instance] = INSTANCES
) -> None:
    """Hold a policy against every rule of the contract.

    Parameters
    ----------
    make : callable
        Gives a new policy object at every call, always with the same parameters: a class, or a
        function that calls one.
    alpha : int, optional
        Fairness budget in tokens that the policy keeps on its own. One that sets `Policy.alpha` is
        held against that in any case.
    instances : sequence of Instance
        What the policy is tried on, the simplest first.

    Raises
    ------
    AssertionError
        On the first instance on which a check fails; the message lists every check that fails
        there. Runs are compared once all keep the rules, and with changed ones once two runs of the
        same instance agree.

    Examples
    --------
    >>> from policies import FCFS
    >>> check_policy(FCFS)
    """
    rules = (
        check_answers,
        check_capacity,
        check_waiting,
        check_slots,
        check_epoch_use,
        check_wake_ups,
        check_service,
        partial(check_fairness, alpha=alpha),
    )
    comparisons = (check_begin_forgets, check_explanations, check_causality, check_non_clairvoyance)
    for checks in ((check_claims,), rules, (check_determinism,), comparisons):
        for instance in instances:
            _report([partial(check, make, instance) for check in checks])


def check_source(make: MakeSource, *, most: int = MOST) -> None:
    """Hold a source of requests against every rule of its contract.

    Parameters
    ----------
    make : callable
        Gives a new source object at every call, always with the same parameters and seed.
    most : int
        Requests after which the source counts as endless.

    Raises
    ------
    AssertionError
        With the first check that fails; each builds on those before it.

    Examples
    --------
    >>> from serving_sim import Workload
    >>> check_source(lambda: Workload(release=[0, 0.5], length=[3, 1]))
    """
    bounded = partial(check_blocks, most=most), partial(check_end, most=most)
    for check in (check_kind, *bounded, check_repeatable, check_reusable):
        _report([partial(check, make)])


def _report(checks: Sequence[partial[None]]) -> None:
    failures = []
    for check in checks:
        try:
            check()
        except AssertionError as failure:
            failures.append(f"{check.func.__name__}: {failure}")
    if failures:
        raise AssertionError("\n".join(failures))
