"""Exact values of queueing theory: against published digits, against each other, in the limits."""

from __future__ import annotations

import numpy as np
import pytest
from refusal import refusal

from analysis.queueing import (
    SlottedLatency,
    continuous_starts,
    delay_probability,
    heavy_traffic_wait,
    priority_waits,
    single_server_wait,
    slotted_fcfs,
)
from analysis.queueing.equal_lengths import equal_lengths
from analysis.queueing.lengths import length_probabilities
from analysis.queueing.memoryless_lengths import memoryless_lengths
from serving_sim import Workload
from workloads import parse_lengths, rate_for_load


def exact(slots: int, lengths: str, load: float) -> SlottedLatency:
    drawn = parse_lengths(lengths)
    return slotted_fcfs(slots, drawn, rate_for_load(load, slots=slots, mean_length=drawn.mean))


@pytest.mark.parametrize(
    ("slots", "lengths", "load", "wait", "quantiles"),
    [  # mean wait, quantiles of the latency: computed apart from this project
        (1, "fixed:length=1", 0.8, 2.5, (2.792, 6.529, 11.874)),
        (1, "fixed:length=10", 0.8, 20.5, (23.259, 60.617, 114.061)),
        (1, "uniform:low=1,high=30", 0.7, 24.2222, (30.431, 80.662, 151.903)),
        (1, "geometric:mean=10", 0.8, 38.5, (33.927, 110.361, 219.714)),
        (4, "fixed:length=10", 0.9, 10.4997, (16.715, 36.108, 63.897)),
        (4, "geometric:mean=10", 0.9, 19.2114, (22.421, 62.028, 116.825)),
        (32, "geometric:mean=100", 0.8, 2.9972, (72.827, 233.022, 462.128)),
        (32, "geometric:mean=20", 0.9, 3.2925, (17.690, 49.572, 94.476)),
        (32, "fixed:length=100", 0.95, 22.8509, (112.082, 161.953, 232.688)),
    ],
)
def test_reference_digits(
    slots: int, lengths: str, load: float, wait: float, quantiles: tuple[float, float, float]
) -> None:
    system = exact(slots, lengths, load)
    assert system.mean_wait == pytest.approx(wait, abs=6e-5)
    assert system.mean_latency == pytest.approx(wait + parse_lengths(lengths).mean, abs=6e-5)
    found = [system.quantile(share) for share in (0.5, 0.9, 0.99)]
    assert found == pytest.approx(quantiles, abs=6e-4)


def test_probabilities_of_lognormal_lengths_are_those_of_what_is_drawn() -> None:
    lengths = parse_lengths("lognormal:mean=10,cv=1.7")
    probabilities = length_probabilities(lengths)
    assert probabilities.sum() == pytest.approx(1, abs=1e-12)
    assert probabilities @ np.arange(len(probabilities)) == pytest.approx(10, abs=1e-8)
    # Pollaczek and Khinchine, and half a step until the next one begins
    second_moment = probabilities @ np.arange(len(probabilities)) ** 2.0
    assert slotted_fcfs(1, lengths, 0.05).mean_wait == pytest.approx(0.05 * second_moment / (2 * 0.5) + 0.5)
    drawn = np.bincount(lengths.sample(100_000, np.random.default_rng(4)), minlength=60)[:60]
    expected = probabilities[:60] * 100_000
    spread = np.sqrt(expected * (1 - probabilities[:60]))
    assert (np.abs(drawn - expected) <= 4.5 * spread + 1e-9).all()  # 60 of them miss once in 2,500 times


@pytest.mark.parametrize("lengths", ["fixed:length=10", "geometric:mean=10"])
def test_three_solutions_agree_on_one_slot(lengths: str) -> None:
    drawn = parse_lengths(lengths)
    chain = equal_lengths(1, 10, 0.07) if lengths.startswith("fixed") else memoryless_lengths(1, 0.1, 0.07)
    other = SlottedLatency(chain, length_probabilities(drawn))
    circle = slotted_fcfs(1, drawn, 0.07)
    assert other.mean_wait == pytest.approx(circle.mean_wait, rel=1e-8)
    assert other.delayed == pytest.approx(circle.delayed, rel=1e-8)
    assert other.quantile(0.97) == pytest.approx(circle.quantile(0.97), rel=1e-8)


def test_two_chains_agree_on_lengths_of_one_step() -> None:
    fixed, geometric = exact(8, "fixed:length=1", 0.9), exact(8, "geometric:mean=1", 0.9)
    assert fixed.mean_wait == pytest.approx(geometric.mean_wait, rel=1e-10)
    assert fixed.quantile(0.9) == pytest.approx(geometric.quantile(0.9), rel=1e-10)


@pytest.mark.parametrize(
    ("lengths", "square"),
    [("fixed:length=7", 49), ("uniform:low=1,high=30", 315 + 1 / 6), ("geometric:mean=10", 190)],
)
def test_pollaczek_khinchine_and_half_a_step(lengths: str, square: float) -> None:
    mean = parse_lengths(lengths).mean
    rate = 0.6 / mean
    assert exact(1, lengths, 0.6).mean_wait == pytest.approx(
        single_server_wait(rate, mean, square) + 0.5, rel=1e-9
    )


@pytest.mark.parametrize(
    ("servers", "offered", "probability"),
    [(4, 3.6, 0.7877532643), (32, 25.6, 0.1606232136), (32, 30.4, 0.6957101142), (1, 0.3, 0.3)],
)
def test_erlang_c(servers: int, offered: float, probability: float) -> None:
    assert delay_probability(servers, offered) == pytest.approx(probability, abs=5e-11)


def test_long_memoryless_lengths_tend_to_erlang() -> None:
    """M/M/c in the limit: P(wait) = C, E[wait] = C / (c mu - lambda); the error falls with the step."""
    delayed = delay_probability(4, 3.6)
    far, near = exact(4, "geometric:mean=5", 0.9), exact(4, "geometric:mean=20", 0.9)
    assert near.delayed - delayed == pytest.approx((far.delayed - delayed) / 4, rel=0.05)
    assert near.mean_wait / 20 == pytest.approx(delayed / 0.4, rel=0.03)


@pytest.mark.parametrize(
    ("slots", "lengths", "scv"), [(4, "fixed:length=10", 0), (4, "geometric:mean=10", 0.9)]
)
def test_heavy_traffic(slots: int, lengths: str, scv: float) -> None:
    """The distance to the limit falls with 1 - load."""
    far, near = (
        exact(slots, lengths, load).mean_wait / heavy_traffic_wait(slots, load, 10, scv) - 1
        for load in (0.8, 0.9)
    )
    assert near == pytest.approx(0.5 * far, rel=0.15)


def test_priorities() -> None:
    services = np.arange(1.0, 31.0)
    rates = np.full(30, 0.8 / 15.5 / 30)
    smallest, largest = (priority_waits(rates, each, slotted=True) for each in (services, services[::-1]))
    assert smallest.mean() == pytest.approx(27.5582, abs=6e-5)
    assert largest.mean() == pytest.approx(75.4518, abs=6e-5)
    # the conservation law: work waits as long under any order (Kleinrock 1965)
    one_class = priority_waits(np.array([0.5]), np.array([1.6]))
    assert one_class[0] == pytest.approx(single_server_wait(0.5, 1.6, 1.6**2))
    first_come = single_server_wait(0.8 / 15.5, 15.5, 315 + 1 / 6)
    for order, waits in (
        (services, priority_waits(rates, services)),
        (services[::-1], priority_waits(rates, services[::-1])),
    ):
        assert (rates * order) @ waits == pytest.approx(0.8 * first_come)


def test_continuous_starts_by_hand() -> None:
    workload = Workload([0.0, 0.5, 0.75, 9.0], [3, 2, 4, 1])
    assert continuous_starts(workload, 1).tolist() == [0.0, 3.0, 5.0, 9.0]
    assert continuous_starts(workload, 2).tolist() == [0.0, 0.5, 2.5, 9.0]


def test_refusals() -> None:
    uniform, fixed = parse_lengths("uniform:low=1,high=3"), parse_lengths("fixed:length=5")
    assert refusal(lambda: slotted_fcfs(1, fixed, 0.2)) == "rate=0.2: the load must be below 1, found 1.0"
    assert refusal(lambda: slotted_fcfs(4, uniform, 0.2)) == (
        "lengths=Uniform(low=1, high=3): on several slots they must be fixed or geometric"
    )
    assert refusal(lambda: length_probabilities(parse_lengths("listed:tokens=1+2"))) == (
        "lengths=Listed(tokens='1+2'): must be fixed, uniform, geometric or lognormal"
    )
    wide = parse_lengths("lognormal:mean=10,sigma=4")
    assert refusal(lambda: length_probabilities(wide)) == (
        "lengths=Lognormal(mean=10.0, sigma=4.0, cv=None): must hardly ever be above 4,194,304 tokens"
    )
    assert (
        refusal(lambda: continuous_starts(Workload([1.0, 0.0], [1, 1]), 1)) == "workload: releases must rise"
    )
