"""Checks of a source of requests, open or reactive.

Every check takes a function that makes the source, and raises `AssertionError` with what was
expected, what was found and the likely cause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from serving_sim.errors import SourceError
from serving_sim.record import Run, Served, Sink
from serving_sim.request import Workload
from serving_sim.simulate import simulate
from serving_sim.source import OpenSource, ReactiveSource
from serving_sim.testing.arrival_order import ArrivalOrder, TooManyRequestsError
from serving_sim.testing.messages import fail

Source = OpenSource | ReactiveSource
MakeSource = Callable[[], Source]
"""Gives a new source object at every call, always with the same parameters."""

MOST = 100_000
"""Requests after which a source counts as endless."""

_SLOTS = (1, 3)
"""Workers that a reactive source meets: on one, waiting requests queue up; on the other, some never wait."""


class _Drain:
    """A sink that keeps nothing: what has finished can no longer be asked for."""

    def write(self, served: Served) -> None:
        """Let it go."""


def check_kind(make: MakeSource) -> None:
    """Every call of ``make`` gives a new `OpenSource` or `ReactiveSource`."""
    source = make()
    if not isinstance(source, OpenSource | ReactiveSource):
        fail(
            "source",
            expected="an OpenSource or a ReactiveSource",
            found=f"an object of type {type(source).__name__}",
            cause="it has no method blocks and does not inherit from ReactiveSource",
        )
    if source is make():
        fail(
            _label(source),
            expected="a new object from every call of make",
            found="the same one twice",
            cause="make hands out an object that was made before",
        )


def check_blocks(make: MakeSource, most: int = MOST) -> None:
    """The blocks of an open source are workloads, sorted by release, with the same columns."""
    source = make()
    if isinstance(source, ReactiveSource):
        return
    before: Workload | None = None
    count = 0
    blocks: object = source.blocks()
    if not isinstance(blocks, Iterable):
        fail(
            _label(source),
            expected="blocks to give Workloads one by one",
            found=f"an object of type {type(blocks).__name__}",
            cause="blocks neither yields nor returns what can be iterated over",
        )
    for number, block in enumerate(blocks):
        _check_block(f"{_label(source)}, block {number}", block, before)
        before = block
        count += len(block)
        if count > most:  # that it never ends is for `check_end` to say
            return


def check_end(make: MakeSource, most: int = MOST) -> None:
    """The source ends, and waits only for what lies ahead and can happen."""
    runs = [(slots, None) for slots in _SLOTS]
    for slots, sink in (*runs, (_SLOTS[0], _Drain())):
        source = make()
        outcome = _run(source, slots, most, sink)
        if isinstance(outcome, str):
            fail(
                _label(source),
                expected=f"a run with slots={slots}{'' if sink is None else ' and a sink'} to end within "
                f"{most} requests",
                found=outcome,
                cause="a loop without a bound, or a wait for an instant or a fate that will not come",
            )


def check_repeatable(make: MakeSource) -> None:
    """Two new objects release the same requests."""
    for slots in _SLOTS:
        source = make()
        difference = _parting(_outcome(source, slots), _outcome(make(), slots))
        if difference is not None:
            fail(
                _label(source),
                expected="the same requests from two new objects",
                found=difference,
                cause="random numbers without a seed, or state outside the object",
            )


def check_reusable(make: MakeSource) -> None:
    """An object that has served another run, to its end or not, releases what a new one does."""
    for slots in _SLOTS:
        new = _outcome(make(), slots)
        used, stopped = make(), make()
        _outcome(used, slots)
        _outcome(stopped, slots, most=len(new) // 2)
        for source, past in ((used, "served a run before"), (stopped, "was stopped in the middle of a run")):
            difference = _parting(new, _outcome(source, slots))
            if difference is not None:
                fail(
                    _label(source),
                    expected=f"the requests of a new object from one that {past}",
                    found=difference,
                    cause="a generator or a counter lives in the object; blocks or process must make it anew",
                )


def _check_block(where: str, block: object, before: Workload | None) -> None:
    if not isinstance(block, Workload):
        found = f"an object of type {type(block).__name__}"
        fail(where, expected="a Workload", found=found, cause="blocks yields rows or arrays")
    drops = np.flatnonzero(np.diff(block.release) < 0)
    if drops.size:
        fail(
            where,
            expected="rows in order of release",
            found=f"{block.release[drops[0] + 1]} after {block.release[drops[0]]}",
            cause="releases are drawn and not sorted",
        )
    if before is None:
        return
    if block.release[0] < before.release[-1]:
        fail(
            where,
            expected=f"releases from {before.release[-1]} on, where the block before ended",
            found=f"{block.release[0]}",
            cause="every block starts its clock anew",
        )
    if block.columns != before.columns:
        fail(
            where,
            expected=f"the columns of the block before, {', '.join(before.columns)}",
            found=", ".join(block.columns),
            cause="a column is left out where nothing is known of it",
        )


def _outcome(source: Source, slots: int, most: int = MOST) -> Workload | str:
    """What the source released, or what went wrong in words."""
    outcome = _run(source, slots, most)
    if isinstance(outcome, str):
        return outcome
    assert outcome.requests is not None  # they went to no sink
    return outcome.requests


def _run(source: Source, slots: int, most: int, sink: Sink | None = None) -> Run | str:
    try:
        return simulate(source, ArrivalOrder(most), slots=slots, sink=sink)
    except TooManyRequestsError:
        return f"more than {most} requests"
    except SourceError as error:
        return f"'{error}'"


def _parting(one: Workload | str, other: Workload | str) -> str | None:
    if isinstance(one, str) or isinstance(other, str) or len(one) != len(other):
        ours, theirs = (each if isinstance(each, str) else f"{len(each)} in all" for each in (one, other))
        return None if ours == theirs else f"{ours} against {theirs}"
    if one.columns != other.columns:
        return f"columns {', '.join(one.columns)} against {', '.join(other.columns)}"
    for name in one.columns:
        pairs = zip(getattr(one, name).tolist(), getattr(other, name).tolist(), strict=True)
        for row, (our, their) in enumerate(pairs):
            if our != their:
                return f"request {row} with {name} {our} against {their}"
    return None


def _label(source: Source) -> str:
    return f"source {type(source).__name__}"
