"""Static batches within length classes: schedules worked out by hand."""

from __future__ import annotations

import pytest

from policies import Bucketed
from serving_sim import Workload, simulate


def test_the_class_of_the_longest_waiting_request_is_served_first() -> None:
    # sizes up to 10 in two classes, 1..5 and 6..10: 3, 2 together, then 10, 7, then 4
    workload = Workload([0] * 5, [3, 10, 2, 7, 4])
    run = simulate(workload, Bucketed(k=2), slots=2)
    assert run.start.tolist() == [0.0, 3.0, 0.0, 3.0, 13.0]
    assert run.slot.tolist() == [0, 0, 1, 1, 0]
    assert run.externality == 0


def test_nobody_joins_a_running_batch() -> None:
    run = simulate(Workload([0, 1], [5, 1]), Bucketed(k=3), slots=2)
    assert run.start.tolist() == [0.0, 5.0]


def test_one_class_is_first_come_first_served_in_static_batches() -> None:
    run = simulate(Workload([0] * 4, [1, 9, 5, 5]), Bucketed(k=1), slots=2)
    assert run.start.tolist() == [0.0, 0.0, 9.0, 9.0]


def test_classes_follow_the_largest_waiting_size() -> None:
    # with 100 waiting, 1..50 is a class: 2 and 30 go together; afterwards nothing larger waits
    run = simulate(Workload([0] * 3, [2, 30, 100]), Bucketed(k=2), slots=2)
    assert run.start.tolist() == [0.0, 0.0, 30.0]
    # without it 1..15 and 16..30 are classes of their own
    run = simulate(Workload([0] * 2, [2, 30]), Bucketed(k=2), slots=2)
    assert run.start.tolist() == [0.0, 2.0]


@pytest.mark.parametrize("k", [0, -1, 1.5, "2", True])
def test_the_number_of_classes_is_checked(k: object) -> None:
    with pytest.raises(ValueError, match=r"^k=.*: must be a whole number >= 1$"):
        Bucketed(k=k)  # type: ignore[arg-type]
