"""The arrival process ``profile``: the rate of its levels, the burstiness of its gaps."""

from __future__ import annotations

import numpy as np
import pytest
from refusal import refusal
from scipy import stats

from workloads import parse_arrivals

EXPONENTIAL = "+".join(f"{-np.log1p(-share):.6g}" for share in [*np.linspace(0, 0.998, 500), 0.9997])
"""Quantiles of exponential gaps, so that counts are all but Poisson."""


def test_even_levels_leave_the_gaps_as_they_are() -> None:
    process = parse_arrivals("profile:rate=0.5,levels=3+3,duration=7,gaps=0+1+1+6")
    gaps = np.diff(process.releases(30_000, np.random.default_rng(4)))
    # the quantiles have mean 5/3 and the gaps mean 2, so a third of them are 1.2, a third are below
    below = gaps[gaps < 1.2 - 1e-6]
    atoms = np.abs(gaps - 1.2) < 1e-6
    assert abs(atoms.mean() - 1 / 3) < 5 * np.sqrt(2 / 9 / 30_000)
    assert stats.kstest(below, stats.uniform(0, 1.2).cdf).pvalue > 1e-4
    assert gaps.mean() == pytest.approx(2.0, rel=0.02)
    assert gaps.max() < 7.2 + 1e-6


def test_counts_follow_the_levels_round_after_round() -> None:
    process = parse_arrivals(f"profile:rate=2,levels=1+4+0+3,duration=10,gaps={EXPONENTIAL}")
    n = 40_000
    releases = process.releases(n, np.random.default_rng(5))
    assert (np.diff(releases) >= 0).all()
    rounds = int(releases[-1] // 40)
    place = (releases[releases < rounds * 40] // 10).astype(int) % 4
    counts = np.bincount(place, minlength=4)
    expected = rounds * 10 * 2 * np.array([1, 4, 0, 3]) / 2
    assert counts[2] == 0
    assert (np.abs(counts - expected) <= 5 * np.sqrt(expected)).all()


def test_bursty_gaps_make_bursty_counts_within_a_level() -> None:
    bursts = "+".join(["0"] * 9 + ["0", "20"])  # nine of ten gaps are 0
    process = parse_arrivals(f"profile:rate=1,levels=1,duration=100,gaps={bursts}")
    releases = process.releases(50_000, np.random.default_rng(6))
    counts = np.bincount((releases // 200).astype(int))[:-1]
    # the dispersion of a renewal process is the squared variation of its gaps: mean 1, E X^2 = 40/3
    assert counts.var() / counts.mean() == pytest.approx(37 / 3, rel=5 * np.sqrt(2 / len(counts)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rate=0,levels=1,duration=1,gaps=0+1", "rate=0.0: must be a finite number > 0"),
        ("rate=1,levels=0+0,duration=1,gaps=0+1", "levels='0+0': must not all be 0"),
        (
            "rate=1,levels=1+x,duration=1,gaps=0+1",
            "levels='1+x': must be finite numbers >= 0 joined by +, as in 1+4+2.5",
        ),
        ("rate=1,levels=1,duration=0,gaps=0+1", "duration=0.0: must be a finite number > 0"),
        ("rate=1,levels=1,duration=1,gaps=0+0", "gaps: must not all be 0"),
        (
            "rate=1,levels=1,duration=1,gaps=2+1",
            "gaps: must be two or more numbers >= 0 joined by +, none below the one before",
        ),
    ],
)
def test_refused_profiles(text: str, message: str) -> None:
    assert refusal(lambda: parse_arrivals(f"profile:{text}")) == f"profile: {message}"
