"""Checks of a policy that compare runs: its answers may depend on what it was told, on nothing else.

Every check takes a function that makes the policy and an instance, and raises `AssertionError` with
what was expected, what was found and the likely cause.
"""

from __future__ import annotations

from collections.abc import Iterator

from serving_sim.testing.instances import Instance, Row, rows
from serving_sim.testing.messages import fail
from serving_sim.testing.observing import Inquirer, MakePolicy, break_off, observe, parting

_REHEARSAL = Instance("rehearsal", 3, rows((0, 29), (0, 17), (0, 8), (0, 5), (0, 3), (2, 11), (9, 23)))
"""A run to forget; broken off after a few decisions it leaves requests waiting and plans open."""

_STRANGERS = tuple(Row(later, length, 1, 40) for later, length in ((0.5, 40), (3.0, 1), (12.0, 6)))
"""Requests nobody could know of; ``release`` counts from the last known one."""


def check_determinism(make: MakePolicy, instance: Instance) -> None:
    """Two new objects give the same answers to the same questions."""
    difference = parting(observe(make(), instance), observe(make(), instance))
    if difference is not None:
        fail(
            instance.label,
            expected="the same answers from two new objects",
            found=difference,
            cause="state outside the object (a global, a class attribute) or random numbers without a seed",
        )


def check_begin_forgets(make: MakePolicy, instance: Instance) -> None:
    """An object that has served another run, to its end or not, answers like a new one."""
    new = observe(make(), instance)
    used, stopped = make(), make()
    observe(used, _REHEARSAL)
    break_off(stopped, _REHEARSAL, decisions=2)
    for policy, past in ((used, "served a run before"), (stopped, "was stopped in the middle of a run")):
        difference = parting(new, observe(policy, instance))
        if difference is not None:
            fail(
                instance.label,
                expected=f"the answers of a new object from one that {past}",
                found=difference,
                cause="begin leaves something of the run before in place",
            )


def check_explanations(make: MakePolicy, instance: Instance) -> None:
    """Reasons have the right form, where there are any, and asking for them changes no answer."""
    inquirer = Inquirer(make())
    asked, left_alone = observe(inquirer, instance), observe(make(), instance)
    if inquirer.misfit is not None:
        time, reason = inquirer.misfit
        fail(
            instance.label,
            expected="explain to return None, or an Explanation with texts about requests that wait or enter",
            found=f"{reason:.200} at time {time}",
            cause="a text is missing, or explain names requests that have entered before",
        )
    difference = parting(asked, left_alone)
    if difference is not None:
        fail(
            instance.label,
            expected="the same answers whether explain is asked or not",
            found=difference,
            cause="explain changes what decide looks at, or asks for a wake-up",
        )


def check_causality(make: MakePolicy, instance: Instance) -> None:
    """Answers up to an instant do not change when requests released after it change.

    For every release time, the run without any later request is compared with runs that have other
    later requests, up to the first of these.
    """
    for last in sorted({row.release for row in instance.rows}):
        known = tuple(row for row in instance.rows if row.release <= last)
        alone = observe(make(), instance.with_rows(known))
        for future in _futures(instance, last):
            other = observe(make(), instance.with_rows(known + future))
            comes = future[0].release
            difference = parting(alone, other, before=comes)
            if difference is not None:
                fail(
                    instance.label,
                    expected=f"the same answers before time {comes}, whatever is released from then on",
                    found=difference,
                    cause="the policy knows the workload, or more of it than join has told",
                )


def check_non_clairvoyance(make: MakePolicy, instance: Instance) -> None:
    """True lengths change nothing before a completion reveals them, if only intervals are known.

    Every request in turn gets the shortest and the longest length that its interval allows; the two
    runs are compared up to its first completion.
    """
    for request, row in enumerate(instance.rows):
        short, long = (
            observe(make(), _with_length(instance, request, length), information="interval")
            for length in (row.lower, row.upper)
        )
        ends = [seen.run.finish[request] for seen in (short, long) if seen.run is not None]
        difference = parting(short, long, before=min(ends)) if ends else None
        if difference is not None:
            fail(
                instance.label,
                expected=f"the same answers whether request {request} takes {row.lower} or {row.upper} "
                f"tokens, until one of the two ends at time {min(ends)}",
                found=difference,
                cause="the policy knows true lengths; the size that join tells is the upper bound",
            )


def _futures(instance: Instance, last: float) -> Iterator[tuple[Row, ...]]:
    own = tuple(row for row in instance.rows if row.release > last)
    if own:
        yield own
    for stranger in _STRANGERS:
        yield (stranger._replace(release=last + stranger.release),)


def _with_length(instance: Instance, request: int, length: int) -> Instance:
    changed = instance.rows[request]._replace(length=length)
    return instance.with_rows((*instance.rows[:request], changed, *instance.rows[request + 1 :]))
