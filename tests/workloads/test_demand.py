"""Demand that reacts to waiting: who comes, what they expect, and the loop with the policy."""

from __future__ import annotations

import numpy as np
import pytest

from policies import FCFS, LJF
from serving_sim import Workload, simulate
from workloads.demand import DelaySensitiveDemand, Potential


def test_users_decide_by_what_they_saw() -> None:
    # one slot: user 0 runs 0-10, user 1 waits from 1 to 10; user 2 at 10.5 remembers waits 0 and 9
    workload = Workload([0.0, 1.0, 10.5], [10, 4, 4])
    potential = Potential(workload, surplus=[0.0, 1.0, 2.0], delay_cost=1.0)
    source = DelaySensitiveDemand(potential, memory=1e9)
    run = simulate(source, FCFS(), slots=1)
    assert source.accepted == [0, 1]
    assert source.expected == pytest.approx([0.0, 0.0, 9 / 3], rel=1e-6)
    np.testing.assert_array_equal(run.start, [0.0, 10.0])


def test_users_forget() -> None:
    workload = Workload([0.0, 1.0, 10.0, 60.0], [10, 4, 1, 1])
    potential = Potential(workload, surplus=[0.0, 1.0, -1.0, 0.01], delay_cost=1.0)
    source = DelaySensitiveDemand(potential, memory=5.0)
    simulate(source, FCFS(), slots=1)
    assert source.accepted == [0, 1, 3]
    # the wait of 9 counts exp(-10) at 60, the wait of 0 at time 0 less
    weight = np.exp(-50 / 5)
    assert source.expected[3] == pytest.approx(9 * weight / (1 + weight + np.exp(-60 / 5)))


def test_without_delay_cost_everyone_with_a_surplus_comes_under_any_policy() -> None:
    rng = np.random.default_rng(0)
    workload = Workload(np.cumsum(rng.exponential(2.0, 200)), rng.integers(1, 30, 200))
    surplus = rng.normal(size=200)
    for policy in (FCFS(), LJF()):
        source = DelaySensitiveDemand(Potential(workload, surplus, 0.0), memory=10.0)
        run = simulate(source, policy, slots=4)
        assert source.accepted == np.flatnonzero(surplus >= 0).tolist()
        assert run.totals.tokens == int(workload.length[surplus >= 0].sum())


def test_what_users_send_is_served_whole() -> None:
    workload = Workload([0.0, 1.0], [3, 2], prompt_steps=[2, 1], tenant=["a", "b"])
    run = simulate(DelaySensitiveDemand(Potential(workload, [1.0, 1.0], 0.0), 10.0), FCFS(), slots=2)
    assert run.requests is not None
    assert run.requests.tenant is not None
    assert run.requests.tenant.tolist() == ["a", "b"]
    assert run.first_token.tolist() == [3.0, 3.0]  # 0 + 3 steps, 1 + 2


def test_a_slower_policy_loses_requests() -> None:
    rng = np.random.default_rng(1)
    workload = Workload(np.cumsum(rng.exponential(5.0, 600)), rng.geometric(1 / 20, 600))
    potential = Potential(workload, rng.exponential(1.0, 600), delay_cost=0.05)
    counts = []
    for policy in (FCFS(), LJF()):
        source = DelaySensitiveDemand(potential, memory=100.0)
        simulate(source, policy, slots=4)
        counts.append(len(source.accepted))
    assert counts[1] < 0.8 * counts[0]


@pytest.mark.parametrize(
    ("surplus", "delay_cost", "memory", "message"),
    [
        ([1.0], 1.0, 1.0, "surplus: must hold 2 finite numbers"),
        ([1.0, np.nan], 1.0, 1.0, "surplus: must hold 2 finite numbers"),
        ([1.0, 1.0], -1.0, 1.0, "delay_cost=-1.0"),
        ([1.0, 1.0], 1.0, 0.0, "memory=0.0"),
    ],
)
def test_bad_values_are_refused(surplus: list[float], delay_cost: float, memory: float, message: str) -> None:
    workload = Workload([0.0, 1.0], [1, 1])
    with pytest.raises(ValueError, match=message):
        DelaySensitiveDemand(Potential(workload, surplus, delay_cost), memory)


def test_users_must_come_in_order() -> None:
    with pytest.raises(ValueError, match="releases must rise"):
        Potential(Workload([1.0, 0.0], [1, 1]), [0.0, 0.0], 1.0)
