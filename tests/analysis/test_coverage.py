"""Intervals of waiting times hold the exact value, and are withheld where they would not."""

from __future__ import annotations

import pytest

from analysis.experiments.coverage import Coverage, coverage, exact_waits
from analysis.experiments.validation.system import System


def test_theory_of_the_wait() -> None:
    # statistics of one slot: lambda E[o^2] / (2 (1 - rho)) + 1/2 with E[o^2] = 190, lambda = 0.08
    exact = exact_waits(System(1, "geometric:mean=10", 0.8))
    assert exact["mean"] == pytest.approx(0.08 * 190 / (2 * 0.2) + 0.5)
    assert 0 < exact["p50"] < exact["mean"] < exact["p90"] < exact["p99"]


def test_intervals_of_a_long_enough_run_hold_the_exact_value() -> None:
    found = coverage(System(4, "geometric:mean=10", 0.8), 20_000, 100)
    for name in ("mean", "p50"):
        share = found[name].share
        assert found[name].reported >= 80
        assert share is not None
        assert share >= 0.88  # 0.95, less three standard deviations
    assert found["p90"].wrong <= 0.1  # about 40 observations: seldom reported, and then by luck
    assert found["p99"].reported == 0  # about 5 observations; intervals would hold it in 80 %


def test_what_is_counted() -> None:
    assert Coverage(repetitions=10, reported=4, held=3).share == 0.75
    assert Coverage(repetitions=10, reported=4, held=3).wrong == 0.1
    assert Coverage(repetitions=10, reported=0, held=0).share is None
