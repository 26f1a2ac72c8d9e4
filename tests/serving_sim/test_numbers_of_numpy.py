"""Whole numbers of numpy, which wrap around and which JSON does not know, where Python's are meant."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, cast

import numpy as np
import pytest
from plain_policy import Plain

from policies import FCFS, ISJL
from serving_sim import Admission, Epoch, Policy, Run, Workload, simulate
from serving_sim.compiled.choice import Engine

KINDS = [np.uint8, np.int16, np.int32, np.uint64]


def long_queue(count: int) -> Workload:
    rng = np.random.default_rng(5)
    return Workload(np.zeros(count), rng.integers(1, 2_000, count))


def totals(run: Run) -> str:
    """All exact numbers of a run as JSON, which takes Python's numbers alone."""
    return json.dumps([asdict(run.totals), asdict(run.audit), run.slots, run.max_gap])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_slots_and_alpha_count_as_far_as_python_does(kind: Callable[[int], Any], engine: Engine) -> None:
    if engine == "compiled":
        pytest.importorskip("numba", reason="the compiled engine is an optional extra")
    queue = long_queue(3_000)
    expected = simulate(queue, FCFS(), slots=8, alpha=100)
    run = simulate(queue, FCFS(), slots=kind(8), alpha=kind(100), engine=engine)
    assert run.externality == expected.externality > 2**31
    assert run.audit == expected.audit
    assert (type(run.slots), type(run.audit.alpha)) == (int, int)


class NumbersOfNumpy(Plain):
    """First come, first served, with a promise that the worker keeps, all in numbers of one type."""

    name = "numpy"

    def __init__(self, kind: Callable[[int], Any], alpha: int) -> None:
        self.kind = kind
        self.alpha = kind(alpha)

    def describe(self) -> str:
        return "numpy"

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        return [(self.kind(request), self.kind(slot)) for request, slot in self.admit(epoch)]


def test_answers_and_promises_leave_no_number_of_numpy_behind() -> None:
    queue = long_queue(100)
    run = simulate(queue, NumbersOfNumpy(np.uint8, 100), slots=3, alpha=0)
    expected = simulate(queue, FairlyPlain(), slots=3, alpha=0)
    assert run.audit.first is not None
    assert totals(run) == totals(expected)


class FairlyPlain(Plain):
    alpha = 100


@pytest.mark.parametrize("policy", [ISJL(alpha=cast("int", np.int16(5))), NumbersOfNumpy(np.int16, 5)])
def test_a_promise_of_numpy_is_the_audit_s_default(policy: Policy) -> None:
    audit = simulate(Workload([0, 0], [9, 3]), policy, slots=2).audit
    assert (audit.alpha, type(audit.alpha)) == (5, int)
