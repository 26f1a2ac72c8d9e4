"""Delayed and windowed policies: schedules worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from policies import FCFS, LPT, SJF, Delayed, Fair, Windowed
from serving_sim import Policy, Workload, simulate


def starts(policy: Policy, release: list[float], length: list[int], slots: int = 2) -> list[float]:
    starts: list[float] = simulate(Workload(release, length), policy, slots=slots).start.tolist()
    return starts


def test_a_request_that_finds_the_worker_empty_waits_x_times_its_size() -> None:
    assert starts(Delayed(FCFS(), x=0.5), [2.0], [10]) == [7.0]


def test_a_request_that_finds_the_worker_busy_is_not_delayed() -> None:
    # the first starts at 5; the second is released in its first step and seen at 6
    assert starts(Delayed(FCFS(), x=0.5), [0.0, 5.5], [10, 10]) == [5.0, 6.0]


def test_a_shorter_request_overtakes_a_longer_one_whose_delay_still_runs() -> None:
    # the long one is due at 5; at 3.5 the short one starts and makes the worker busy, yet the long one
    # found it empty and keeps its delay: 5 is seen at the end of the second step, 5.5
    assert starts(Delayed(FCFS(), x=0.5), [0.0, 1.5], [10, 4]) == [5.5, 3.5]


def test_a_release_in_the_middle_of_the_last_step_found_the_worker_busy() -> None:
    # both wait at 3, when the first ends; the second was released at 2.5, before the batch had ended
    assert starts(Delayed(FCFS(), x=1.0), [0.0, 5.5], [3, 4], slots=1) == [3.0, 6.0]


def test_a_release_at_the_instant_the_batch_ends_finds_the_worker_empty() -> None:
    # 0 + 3 = 3, ends at 6; released at 6, completions come first: due at 6 + 4
    assert starts(Delayed(FCFS(), x=1.0), [0.0, 6.0], [3, 4], slots=1) == [3.0, 10.0]


def test_delay_zero_changes_nothing() -> None:
    release, length = [0.0, 0.0, 1.5, 4.0], [5, 3, 2, 7]
    assert starts(Delayed(SJF(), x=0.0), release, length) == starts(SJF(), release, length)


def test_delayed_keeps_the_promise_of_its_inner_policy() -> None:
    run = simulate(Workload([0, 1, 2, 8], [9, 9, 9, 9]), Delayed(Fair(FCFS(), alpha=1), x=0.2), slots=3)
    assert run.audit.alpha == 1
    assert run.audit.fair


def test_the_window_collects_arrivals_from_the_instant_the_worker_empties() -> None:
    # window until 4: the largest of three goes first although it came last; the worker empties at 8, 15
    # and 21, and each time a window of 4 opens
    policy = Windowed(LPT(), w=4.0)
    assert starts(policy, [0.0, 1.0, 3.0, 14.0], [2, 3, 4, 1], slots=1) == [19.0, 12.0, 4.0, 25.0]


def test_a_request_released_after_the_window_is_served_at_once() -> None:
    assert starts(Windowed(FCFS(), w=4.0), [6.0], [2]) == [6.0]


def test_a_window_of_zero_changes_nothing() -> None:
    release, length = [0.0, 0.0, 1.5, 4.0], [5, 3, 2, 7]
    assert starts(Windowed(SJF(), w=0.0), release, length) == starts(SJF(), release, length)


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf"), True, "1"])
def test_durations_are_checked(value: object) -> None:
    with pytest.raises(ValueError, match=r"^x=.*: must be a finite number >= 0$"):
        Delayed(FCFS(), x=value)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^w=.*: must be a finite number >= 0$"):
        Windowed(FCFS(), w=value)  # type: ignore[arg-type]


def test_wrappers_compose_and_serve_everything() -> None:
    rng = np.random.default_rng(5)
    workload = Workload(np.cumsum(rng.exponential(4.0, 300)), rng.integers(1, 20, 300))
    policy = Windowed(Delayed(Fair(LPT(), alpha=3), x=0.3), w=2.5)
    run = simulate(workload, policy, slots=4)
    assert run.audit.max_gap <= 3
    assert np.allclose(run.finish - run.start, workload.length)


def test_windows_may_follow_each_other_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serving_sim.worker._FRUITLESS", 3)
    assert starts(Windowed(FCFS(), w=1.0), [0.0] * 8, [1] * 8, slots=1) == [
        1.0,
        3.0,
        5.0,
        7.0,
        9.0,
        11.0,
        13.0,
        15.0,
    ]
