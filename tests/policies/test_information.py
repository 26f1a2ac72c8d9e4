"""In interval mode no policy knows a true length before its completion shows it."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Literal

import numpy as np
import pytest
from effort import instances
from hypothesis import given, settings
from hypothesis import strategies as st

from policies import FCFS, catalogue, parse_policy
from serving_sim import Admission, Epoch, Policy, Run, Workload, simulate
from serving_sim.testing.passthrough import PassThrough

ALPHA = 6
POLICIES = (
    "fcfs",
    "sjf",
    "lpt",
    "ljf",
    "isjl",
    "isjl:beta=optimal",
    "robust-isjl",
    "isjl-as-printed",
    "bucketed:k=3",
    "fair:inner=sjf",
    "delayed:x=0.5,inner=robust-isjl",
    "windowed:w=4,inner=isjl",
    "fair-fcfs",
    "fair-sjf",
    "fair-lpt",
    "delayed:x=0.618,inner=(windowed:w=3,inner=fair-sjf)",
    "fair:inner=(delayed:x=1,inner=(bucketed:k=2))",
)

intervals = st.tuples(st.integers(1, 20), st.integers(0, 12)).map(lambda pair: (pair[0], sum(pair)))


class Witness(PassThrough):
    """Writes down every call that a policy gets and every answer it gives, with the time."""

    def __init__(self, inner: Policy) -> None:
        super().__init__(inner)
        self.told: list[tuple[float, object]] = []
        self._joined: list[object] = []
        self._waiting: set[int] = set()

    def join(self, request: int, size: int, release: float) -> None:
        self._joined.append((request, size, release))
        self._waiting.add(request)
        self.inner.join(request, size, release)

    def decide(self, epoch: Epoch) -> list[Admission]:
        seen = (epoch.step, epoch.free, epoch.max_progress, tuple(self._joined))
        served = {epoch.request(slot) for slot in range(epoch.slots)} - {None}
        bounds = [
            epoch.interval(request) for request in range(epoch.joined) if request in self._waiting | served
        ]
        answer = list(self.inner.decide(epoch))
        self._waiting.difference_update(request for request, _ in answer)
        self.told.append((epoch.now, (seen, bounds, answer, epoch.wakes)))
        return answer


def served(text: str, workload: Workload, slots: int) -> tuple[Run, Witness]:
    witness = Witness(parse_policy(text, defaults={"alpha": ALPHA}))
    run = simulate(workload, witness, slots=slots, information="interval")
    return run, witness


def first_difference(one: Run, other: Run) -> float:
    """The first instant at which one run has shown a completion that the other has not."""
    differ = one.finish != other.finish
    return float(np.minimum(one.finish, other.finish)[differ].min(initial=inf))


def test_every_built_in_policy_is_tested() -> None:
    tested = {text.partition(":")[0] for text in POLICIES}
    assert tested == {entry.name for entry in catalogue() if entry.origin == "built in"}


@pytest.mark.parametrize("text", POLICIES)
@settings(max_examples=instances(25))  # for each of many policies
@given(data=st.data(), slots=st.integers(1, 5))
def test_true_lengths_change_no_decision_before_a_completion_shows_them(
    text: str, data: st.DataObject, slots: int
) -> None:
    rows = data.draw(st.lists(intervals, min_size=1, max_size=14))
    lower, upper = zip(*rows, strict=True)
    release = data.draw(
        st.one_of(
            st.just([0.0] * len(rows)),
            st.lists(st.integers(0, 60).map(lambda half: half / 2), min_size=len(rows), max_size=len(rows)),
        )
    )
    lengths = st.tuples(*(st.integers(low, high) for low, high in rows))
    runs, witnesses = zip(
        *(
            served(text, Workload(release, data.draw(lengths), lower=lower, upper=upper), slots)
            for _ in range(2)
        ),
        strict=True,
    )
    shown = first_difference(*runs)
    one, other = ([call for call in witness.told if call[0] < shown] for witness in witnesses)
    assert one == other
    for row in range(len(rows)):
        if min(run.start[row] for run in runs) < shown:
            assert runs[0].start[row] == runs[1].start[row]
            assert runs[0].slot[row] == runs[1].slot[row]


@pytest.mark.parametrize(("information", "bounds"), [("exact", (5, 5)), ("interval", (4, 9))])
def test_bounds_are_as_close_as_the_information_allows(
    information: Literal["exact", "interval"], bounds: tuple[int, int]
) -> None:
    asked: list[tuple[int, int]] = []

    class Asks(FCFS):
        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            asked.append(epoch.interval(0))
            return super().decide(epoch)

    simulate(Workload([0], [5], lower=[4], upper=[9]), Asks(), slots=1, information=information)
    assert asked == [bounds]


def test_the_test_sees_a_policy_that_knows() -> None:
    workloads = [Workload([0, 0], length, lower=[1, 1], upper=[9, 9]) for length in ([3, 5], [5, 3])]
    runs = [simulate(workload, parse_policy("sjf"), slots=1) for workload in workloads]  # exact
    assert runs[0].start.tolist() != runs[1].start.tolist()
    assert first_difference(*runs) == 3
