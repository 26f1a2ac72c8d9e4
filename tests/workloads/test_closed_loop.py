"""Users who wait for an answer before they send the next request."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
import pytest
from refusal import refusal

from policies import FCFS, SJF
from serving_sim import Workload, simulate
from serving_sim.testing import check_source
from workloads import ClosedLoop, parse_lengths, think_times


def requests(*lengths: int) -> Workload:
    return Workload(np.zeros(len(lengths)), lengths)


def drawn(n: int, mean: int, seed: int) -> Workload:
    rng = np.random.default_rng(seed)
    return Workload(np.zeros(n), parse_lengths(f"geometric:mean={mean}").sample(n, rng))


def test_one_user_by_hand() -> None:
    loop = ClosedLoop(requests(3, 2, 4), 1, np.array([0.5, 1.0, 0.0]))
    run = simulate(loop, FCFS(), slots=4)
    assert run.requests is not None
    assert run.requests.release.tolist() == [0.5, 4.5, 6.5]
    assert run.finish.tolist() == [3.5, 6.5, 10.5]


def test_two_users_on_one_slot_by_hand() -> None:
    # both send at 0; the first is answered at 3 and thinks for 2, the second at 5 and sends at once
    loop = ClosedLoop(requests(3, 2, 4, 1), 2, np.array([0.0, 0.0, 2.0, 0.0]))
    run = simulate(loop, FCFS(), slots=1)
    assert run.requests is not None
    assert sorted(zip(run.requests.release.tolist(), run.requests.length.tolist(), strict=True)) == [
        (0.0, 2), (0.0, 3), (5.0, 1), (5.0, 4),
    ]  # fmt: skip
    assert run.makespan == 10.0


def test_never_more_requests_than_users() -> None:
    users = 5
    loop = ClosedLoop(drawn(2000, 20, 1), users, think_times(2000, 10.0, 1))
    run = simulate(loop, SJF(), slots=3, record_batches=True)
    assert run.batches is not None
    assert (run.batches.active + run.batches.waiting).max() == users


def every_column() -> Workload:
    return Workload(
        [0, 0],
        [3, 2],
        request_id=["x", "y"],
        prompt_tokens=[1000, 500],
        output_tokens=[1, 1],
        lower=[1, 2],
        upper=[5, 6],
        tenant=["a", "b"],
        prompt_steps=[2, 1],
        model=["small", "large"],
    )


def test_every_column_goes_along() -> None:
    workload = every_column()
    run = simulate(ClosedLoop(workload, 1, np.zeros(2)), FCFS(), slots=1)
    assert run.requests is not None
    for field in fields(Workload):
        given, kept = getattr(workload, field.name), getattr(run.requests, field.name)
        assert given is not None, f"{field.name}: a new column belongs in every_column"
        assert kept is not None, f"{field.name}: is lost on the way"
        assert field.name == "release" or kept.tolist() == given.tolist()


def test_first_tokens_are_those_of_an_open_run() -> None:
    workload = every_column()
    closed = simulate(ClosedLoop(workload, 2, np.zeros(2)), FCFS(), slots=2)
    opened = simulate(workload, FCFS(), slots=2)
    assert closed.first_token.tolist() == opened.first_token.tolist() == [3.0, 2.0]


def test_response_time_law() -> None:
    """Rate * (latency + thinking) = users, exact but for the requests under way at the ends."""
    count, users = 5_000, 12
    thinking = think_times(count, 40.0, 2)
    run = simulate(ClosedLoop(drawn(count, 25, 2), users, thinking), FCFS(), slots=4)
    assert run.requests is not None
    cycle = float(np.mean(run.finish - run.requests.release) + thinking.mean())
    assert count / run.makespan * cycle == pytest.approx(users, rel=users / count * 5)


def test_machine_repair_model() -> None:
    """M/M/1 with N users (Palm 1947): P(empty) = 1 / sum_k N! / (N - k)! (service / thinking)^k."""
    users, service, think, count = 4, 200, 300.0, 1500
    empty = 1 / sum(math.perm(users, k) * (service / think) ** k for k in range(users + 1))
    rates = []
    for seed in range(10):
        loop = ClosedLoop(drawn(count, service, seed), users, think_times(count, think, seed + 100))
        run = simulate(loop, FCFS(), slots=1)
        finish = np.sort(run.finish)
        rates.append((count - 100) / (finish[-1] - finish[99]))
    error = np.std(rates, ddof=1) / math.sqrt(len(rates))
    assert abs(np.mean(rates) - (1 - empty) / service) < 6 * error  # confidence 0.9998 with 9 degrees
    assert error < 0.02 * np.mean(rates)


def test_keeps_the_contract_of_a_source() -> None:
    check_source(lambda: ClosedLoop(drawn(50, 10, 3), 4, think_times(50, 5.0, 3)))


def test_the_same_seed_gives_the_same_thinking_whatever_else_is_drawn() -> None:
    np.testing.assert_array_equal(think_times(10, 2.0, 7), think_times(20, 2.0, 7)[:10])
    np.testing.assert_array_equal(think_times(10, 4.0, 7), 2 * think_times(10, 2.0, 7))
    assert think_times(3, 0.0, 7).tolist() == [0, 0, 0]


def test_refusals() -> None:
    two = requests(1, 1)
    assert refusal(lambda: ClosedLoop(two, 0, np.zeros(2))) == "users=0: must be a whole number >= 1"
    assert (
        refusal(lambda: ClosedLoop(two, users=True, thinking=np.zeros(2)))
        == "users=True: must be a whole number >= 1"
    )
    rule = "thinking: must hold 2 numbers, one a request"
    assert refusal(lambda: ClosedLoop(two, 1, np.zeros(3))) == rule
    assert refusal(lambda: ClosedLoop(two, 1, [0.0])) == rule
    rule = "must be a finite number >= 0"
    assert refusal(lambda: ClosedLoop(two, 1, np.array([1.0, -1.0]))) == f"thinking[1]=-1.0: {rule}"
    assert refusal(lambda: ClosedLoop(two, 1, [0.0, math.nan])) == f"thinking[1]=nan: {rule}"
    with pytest.raises(TypeError, match=r"^workload=\[1, 1\]: must be a Workload$"):
        ClosedLoop([1, 1], 1, [0.0, 0.0])  # type: ignore[arg-type]
    assert refusal(lambda: think_times(2, -1.0, 0)) == "think_time=-1.0: must be a finite number >= 0"
