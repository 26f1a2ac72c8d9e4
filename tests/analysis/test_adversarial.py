"""Adversaries do what they were built for, and every ratio is certified for the instance."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import pytest
from refusal import refusal

from analysis.bounds import best_lower_bound
from analysis.experiments.adversarial import (
    GOLDEN,
    best_delay,
    golden_ratio_curve,
    golden_ratio_limit,
    play,
    play_golden_ratio,
)
from policies import FCFS, ISJL, LJF, LPT, Delayed, Fair
from serving_sim import simulate
from workloads.adversaries import (
    GoldenRatio,
    jigsaw,
    long_then_short,
    over_inserting,
    static_waste,
    under_inserting,
)

GAMMAS = [k / 10 for k in range(1, 10)]


@pytest.mark.parametrize("length", [100, 10_000, 1_000_000])
@pytest.mark.parametrize("x", [0.0, 0.1, 0.35, 0.6, GOLDEN, 0.62, 0.9, 1.7])
def test_the_release_time_adversary_gets_the_ratio_of_the_proof(length: int, x: float) -> None:
    duel = play_golden_ratio(Delayed(Fair(FCFS(), alpha=5), x), length, alpha=5)
    assert duel.ratio[0] == duel.ratio[1]
    assert duel.ratio[0] == pytest.approx(golden_ratio_limit(x, 5.5 / length), rel=1e-9)


def test_the_peak_tends_to_the_golden_ratio() -> None:
    errors = []
    for length in (10**2, 10**3, 10**4, 10**5):
        at, ratio = golden_ratio_curve(length, points=[0.2, 0.5, 0.7, 1.0]).peak
        assert at == best_delay(5.5 / length)
        errors.append(ratio - GOLDEN)
    # the error is that of eta, about 0.276 eta to first order
    assert errors == pytest.approx(
        [0.2764 * 5.5 / length for length in (10**2, 10**3, 10**4, 10**5)], rel=0.05
    )


def test_online_isjl_starts_at_once_and_gets_half() -> None:
    duel = play_golden_ratio(ISJL(alpha=5), 10**6, alpha=5)
    assert duel.ratio[0] == pytest.approx(0.5, abs=1e-5)


def test_the_optimum_of_the_release_time_adversary_is_certified() -> None:
    run = simulate(GoldenRatio(50, alpha=4, epsilon=1.0), ISJL(alpha=4), slots=2)
    assert run.requests is not None
    assert run.requests.release.tolist() == [0.0, 5.0]
    assert best_lower_bound([50, 50], 2, 4, [0, 5]).value == 55
    assert run.makespan == 100


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("family", ["over-inserting", "under-inserting"])
def test_inserting_families_come_near_their_ratio_and_never_below(family: str, gamma: float) -> None:
    duel = play(family, "isjl", gamma=gamma, length=200)
    assert duel.lower == duel.upper
    assert duel.expected is not None
    assert 0 <= duel.ratio[0] - duel.expected < 0.01


@pytest.mark.parametrize(("slots", "makespan"), [(2, 7), (3, 11), (4, 15)])
def test_the_jigsaw_is_graham_s_worst_case(slots: int, makespan: int) -> None:
    duel = play("jigsaw", "lpt", slots=slots)
    assert (duel.makespan, duel.lower, duel.upper) == (makespan, 3 * slots, 3 * slots)


@pytest.mark.parametrize("slots", range(2, 9))
@pytest.mark.parametrize("unit", [1, 5])
def test_static_batching_wastes_exactly_its_bound(slots: int, unit: int) -> None:
    instance = static_waste(slots, unit)
    run = simulate(instance.workload, LJF(), slots=slots)
    best = simulate(instance.workload, LPT(), slots=slots)
    # lpt meets the bound of the longest request, so it is optimal
    assert best.makespan == slots * unit == max(instance.lengths)
    assert best.audit.max_gap <= instance.alpha
    assert run.makespan * slots == (2 * slots - 1) * best.makespan


@pytest.mark.parametrize("length", [1, 2, 7, 100])
def test_fcfs_has_quadratic_externality(length: int) -> None:
    run = simulate(long_then_short(length).workload, FCFS(), slots=2)
    assert (run.steps, run.externality) == (length, length * (length - 1) // 2)


@pytest.mark.parametrize(
    ("policy", "alpha", "best"),
    [
        ("isjl:alpha=0", None, 7),
        ("isjl:alpha=0", 3, 7),
        ("isjl", 0, 7),
        ("isjl:alpha=2", 0, 6),
        ("lpt", 0, 6),
    ],
)
def test_the_optimum_has_the_budget_of_the_policy(policy: str, alpha: int | None, best: int) -> None:
    duel = play("jigsaw", policy, slots=2, alpha=alpha)
    assert (duel.lower, duel.upper) == (best, best)


def test_an_unknown_adversary_is_named() -> None:
    with pytest.raises(ValueError, match=r"^adversary 'nobody': must be one of golden-ratio, search, over-"):
        play("nobody", "isjl")


def test_the_best_delay_balances_both_continuations() -> None:
    for eta in (0.0, 0.01, 0.3):
        x = best_delay(eta)
        assert 1 / (1 + x) == pytest.approx((1 + x + eta) / (2 + x), rel=1e-12)
    assert best_delay(0.0) == pytest.approx((sqrt(5) - 1) / 2, rel=1e-15)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: jigsaw(100_000), "slots=100000: makes 200,001 requests, at most 10,000 are fine"),
        (lambda: long_then_short(10**20), f"length={10**20}: makes {10**20 + 1:,} requests, at most 10,000"),
        (lambda: static_waste(10**6), "slots=1000000: makes 999,999,000,001 requests, at most 10,000 are"),
    ],
)
def test_constructions_that_nobody_could_hold_are_refused(call: Callable[[], object], message: str) -> None:
    assert refusal(call).startswith(message)


HALF: Any = 0.5
TEXT: Any = "half"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: jigsaw(HALF), "slots=0.5: must be a whole number >= 1"),
        (lambda: jigsaw(1), "slots=1: the jigsaw needs at least 2"),
        (lambda: long_then_short(TEXT), "length='half': must be a whole number >= 1"),
        (lambda: static_waste(2, unit=True), "unit=True: must be a whole number >= 1"),
        (lambda: static_waste(0), "slots=0: must be a whole number >= 1"),
        (lambda: over_inserting(0.5, length=HALF), "length=0.5: must be a whole number >= 1"),
        (lambda: under_inserting(TEXT), "gamma='half': must lie strictly between 0 and 1"),
        (lambda: under_inserting(float("nan")), "gamma=nan: must lie strictly between 0 and 1"),
        (lambda: GoldenRatio(0, alpha=4), "length=0: must be a whole number >= 1"),
        (lambda: GoldenRatio(9, alpha=-1), "alpha=-1: must be a whole number >= 0"),
        (lambda: GoldenRatio(9, alpha=4, epsilon=0), "epsilon=0: must be a finite number > 0"),
        (lambda: GoldenRatio(9, alpha=4, epsilon=float("inf")), "epsilon=inf: must be a finite number > 0"),
    ],
)  # fmt: skip
def test_parameters_of_constructions_are_checked(call: Callable[[], object], message: str) -> None:
    assert refusal(call) == message
