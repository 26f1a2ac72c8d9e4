"""The fairness audit and the log of batches: by hand, and one against the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies import FCFS, ISJL, SJF
from serving_sim import Admission, Epoch, ReactiveSource, StepTime, Violation, Workload, simulate
from serving_sim.arrivals import Desk
from serving_sim.source import Process


def test_the_first_violation_names_both_requests() -> None:
    # input order differs from arrival order: rows 1, 0, 2 join as 0, 1, 2
    workload = Workload([3.0, 0.0, 5.0], [4, 10, 3])
    run = simulate(workload, FCFS(), slots=2, alpha=2)
    # row 0 joins row 1 at 3, row 2 waits for row 0 to end at 7
    assert run.start.tolist() == [3.0, 0.0, 7.0]
    assert run.audit.first == Violation(time=3.0, step=3, request=0, slot=1, other=1, other_slot=0, gap=3)
    assert run.audit.violations == 2
    # gap 3 over steps 4..7, gap 7 over steps 8..10
    assert run.audit.violation_steps == 7
    assert run.audit.max_gap == 7
    assert run.totals.gap_steps == 3 * 4 + 7 * 3
    assert run.extent_mean == pytest.approx(33 / 10)
    assert run.occupancy == pytest.approx(17 / 10)
    assert run.audit.fair is False


def test_without_a_budget_there_is_no_verdict() -> None:
    run = simulate(Workload([0], [1]), FCFS(), slots=1)
    assert run.audit.fair is None


def test_a_claimed_alpha_is_the_audit_s_default() -> None:
    run = simulate(Workload([0], [1]), ISJL(alpha=7), slots=1)
    assert run.audit.alpha == 7
    assert simulate(Workload([0], [1]), ISJL(alpha=7), slots=1, alpha=3).audit.alpha == 3


def test_spans_of_constant_batch_by_hand() -> None:
    workload = Workload([0.0, 0.5, 0.5, 9.0], [4, 2, 5, 1])
    run = simulate(workload, FCFS(), slots=2, record_batches=True)
    batches = run.batches
    assert batches is not None
    # 0 alone; 1 joins at 1; 2 takes the slot of 1 at 3; 0 ends at 4; the worker is empty from 8 to 9
    assert batches.time.tolist() == [0.0, 1.0, 3.0, 4.0, 9.0]
    assert batches.steps.tolist() == [1, 2, 1, 4, 1]
    assert batches.active.tolist() == [1, 2, 2, 1, 1]
    assert batches.waiting.tolist() == [0, 1, 0, 0, 0]
    assert batches.max_progress.tolist() == [0, 1, 3, 1, 0]
    assert batches.min_progress.tolist() == [0, 0, 0, 1, 0]


def test_an_epoch_that_changes_nothing_begins_no_span() -> None:
    class Alone(FCFS):
        """One batch after the other."""

        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            return () if epoch.active else super().decide(epoch)

    # the second request comes one step before the first, in slot 0, ends
    run = simulate(Workload([0.0, 4.0], [5, 2]), Alone(), slots=2, record_batches=True)
    assert run.batches is not None
    assert run.batches.time.tolist() == [0.0, 5.0]
    assert run.batches.steps.tolist() == [5, 2]
    assert run.batches.waiting.tolist() == [0, 0]


@given(
    lengths=st.lists(st.integers(1, 12), min_size=1, max_size=25),
    gaps=st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.25]), min_size=25, max_size=25),
    slots=st.integers(1, 5),
    alpha=st.integers(0, 8),
    constant=st.booleans(),
)
def test_the_totals_follow_from_the_batches(
    *, lengths: list[int], gaps: list[float], slots: int, alpha: int, constant: bool
) -> None:
    release = np.cumsum(gaps[: len(lengths)])
    step_time = StepTime() if constant else StepTime(base=0.5, per_max_token=0.25)
    recorded = simulate(
        Workload(release, lengths), SJF(), slots=slots, alpha=alpha, step_time=step_time, record_batches=True
    )
    batches = recorded.batches
    assert batches is not None
    gap = batches.max_progress - batches.min_progress
    assert recorded.steps == batches.steps.sum()
    assert recorded.totals.gap_steps == (gap * batches.steps).sum()
    assert recorded.audit.max_gap == gap.max()
    assert recorded.audit.violation_steps == batches.steps[gap > alpha].sum()
    assert (batches.active * batches.steps).sum() == sum(lengths)
    # recording changes nothing
    plain = simulate(Workload(release, lengths), SJF(), slots=slots, alpha=alpha, step_time=step_time)
    assert plain.start.tolist() == recorded.start.tolist()
    assert plain.audit == recorded.audit
    assert plain.totals.busy_time == pytest.approx(recorded.totals.busy_time, rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"slots": 0}, "slots=0: must be a whole number >= 1"),
        ({"slots": 1.5}, "slots=1.5: must be a whole number >= 1"),
        ({"slots": True}, "slots=True: must be a whole number >= 1"),
        ({"slots": 1_000_001}, "slots=1000001: must be at most 1,000,000"),
        ({"slots": 10**20}, f"slots={10**20}: must be at most 1,000,000"),
        ({"slots": 1, "alpha": True}, "alpha=True: must be a whole number of tokens >= 0"),
        ({"slots": 1, "alpha": -1}, "alpha=-1: must be a whole number of tokens >= 0"),
        ({"slots": 1, "information": "some"}, "information='some': must be 'exact' or 'interval'"),
        (
            {"slots": 1, "slotted": True, "step_time": StepTime(per_token=1.0)},
            "slotted=True: needs a constant step time (base alone)",
        ),
        (
            {"slots": 1, "information": "interval"},
            "upper: sizes are upper predictions in this run, and the workload has none",
        ),
    ],
)
def test_arguments_are_checked_before_anything_runs(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError) as refusal:  # noqa: PT011  (the whole line is compared)
        simulate(Workload([0], [1]), FCFS(), **arguments)  # type: ignore[arg-type]
    assert str(refusal.value) == message


def test_truth_values_of_numpy_are_taken_as_such() -> None:
    yes, no = np.bool_(True), np.bool_(False)  # noqa: FBT003
    run = simulate(Workload([0.5], [2]), FCFS(), slots=1, slotted=yes, record_batches=no)  # type: ignore[arg-type]
    assert run.start.tolist() == [1.0]
    assert run.slotted is True
    assert run.batches is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source": [0, 1]}, "source=[0, 1]: must be a Workload, an OpenSource or a ReactiveSource"),
        ({"source": Workload}, "source=the class Workload: must be a Workload, an OpenSource or"),
        ({"policy": "fcfs"}, "policy='fcfs': must be a Policy, as policies.make_policy gives it"),
        ({"policy": FCFS}, "policy=the class FCFS: must be a Policy, as policies.make_policy gives it"),
        ({"step_time": 1.0}, "step_time=1.0: must be a StepTime"),
        ({"sink": "out.csv"}, "sink='out.csv': must be a Sink, with a method write"),
        ({"slotted": "false"}, "slotted='false': must be True or False"),
        ({"slotted": None}, "slotted=None: must be True or False"),
        ({"slotted": 1}, "slotted=1: must be True or False"),
        ({"record_batches": "no"}, "record_batches='no': must be True or False"),
        ({"record_batches": []}, "record_batches=[]: must be True or False"),
    ],
)
def test_an_argument_of_another_kind_is_named(arguments: dict[str, object], message: str) -> None:
    usual: dict[str, Any] = {"source": Workload([0], [1]), "policy": FCFS(), "slots": 1}
    with pytest.raises(TypeError, match="^" + re.escape(message)):
        simulate(**(usual | arguments))


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
@pytest.mark.parametrize(
    ("workload", "step_time", "slotted", "message"),
    [
        ([0.0, 1.0, 2.0], 1e308, False, "could last longer than a float can tell the square of"),
        ([0.0, 1.0, 2.0], 1e150, False, "could last longer than a float can tell the square of"),
        ([0.0, 1e30, 1e30], 1.0, True, "too late to tell steps of 1.0 time units apart"),
        ([0.0, 1e15, 1e15], 1e-12, False, "too late to tell steps of 1e-12 time units apart"),
        ([2.0**54] * 3, 1.0, False, r"^release=1\.8014398509481984e\+16: too late .* subtract the first$"),
        ([1.7e18] * 3, 1.0, False, r"^release=1\.7e\+18: too late .* subtract the first$"),
    ],
)
def test_what_floats_cannot_date_is_refused_by_both_engines(
    *,
    engine: Literal["simpy", "compiled"],
    workload: list[float],
    step_time: float,
    slotted: bool,
    message: str,
) -> None:
    with pytest.raises(ValueError, match=message):
        simulate(
            Workload(workload, [5, 3, 2]),
            SJF(),
            slots=2,
            step_time=StepTime(step_time),
            slotted=slotted,
            engine=engine,
        )


def test_steps_of_a_full_batch_at_its_longest_are_what_a_run_may_last() -> None:
    # 10**6 steps of at most 1e140 * 4 * 10**6 time units, and a bit
    step_time = StepTime(per_token=1e140)
    with pytest.raises(ValueError, match=r"^StepTime\(.*\): the run could last longer than"):
        simulate(Workload([0], [10**6]), FCFS(), slots=4, step_time=step_time)
    assert simulate(Workload([0], [10]), FCFS(), slots=4, step_time=step_time).finish[0] == pytest.approx(
        55e140
    )


def test_the_work_of_the_engine_is_counted() -> None:
    run = simulate(Workload([0.0, 0.0, 10.0], [3, 2, 1]), FCFS(), slots=1, engine="simpy")
    assert run.start.tolist() == [0.0, 3.0, 10.0]
    # at 0, 3 and 10 somebody enters; at 5 and 11 the batch ends
    assert (run.totals.decisions, run.totals.epochs) == (3, 5)
    # it sleeps from 0 to 3 and from 5 to 10: nobody can act on the ends at 5 and 11
    assert run.totals.events == 2


def test_ends_at_which_nobody_can_act_are_looked_at_together() -> None:
    run = simulate(Workload([0.0, 0.0, 10.0], [2, 3, 1]), FCFS(), slots=3, engine="simpy")
    assert run.finish.tolist() == [2.0, 3.0, 11.0]
    assert run.totals.epochs == 4  # at 0, 3, 10 and 11


def test_a_source_that_reacts_costs_an_event_at_every_end() -> None:
    class Two(ReactiveSource):
        def process(self, desk: Desk) -> Process:
            desk.release(3)
            yield desk.finished(desk.release(2))

    run = simulate(Two(), FCFS(), slots=2)
    # the worker sleeps till 2, till 3 and then for ever; at 2 and at 3 it waits for the source to react
    assert run.totals.events == 3 + 2


def test_batches_are_recorded_on_request_only() -> None:
    assert simulate(Workload([0.0], [3]), FCFS(), slots=1).batches is None


def test_as_many_slots_as_the_limit_says_are_served() -> None:
    assert simulate(Workload([0], [1]), FCFS(), slots=1_000_000).slot.tolist() == [0]
