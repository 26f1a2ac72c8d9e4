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


@pytest.mark.parametrize(
    ("load", "requests", "reported"),
    [
        (0.5, 5_000, ("mean", "p50", "p90")),
        (0.8, 20_000, ("p50",)),  # own autocorrelation times would let 8 of 10 means pass, 2 of 10 p90
        (0.9, 5_000, ()),  # and 3 of 10 medians here, of which 7 of 10 would hold the truth
    ],
)
def test_intervals_are_reported_where_they_hold_the_exact_value(
    load: float, requests: int, reported: tuple[str, ...]
) -> None:
    found = coverage(System(4, "geometric:mean=10", load), [requests], 40)
    for name, each in found[requests].items():
        if name not in reported:
            assert each.reported == 0
            continue
        assert each.reported >= 36
        assert each.share is not None
        assert each.share >= 0.84  # 0.95, less three standard deviations


def test_what_is_counted() -> None:
    assert Coverage(repetitions=10, reported=4, held=3).share == 0.75
    assert Coverage(repetitions=10, reported=0, held=0).share is None
