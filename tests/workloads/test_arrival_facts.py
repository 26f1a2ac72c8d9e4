"""Every arrival process has the rate, the variation and the dispersion that it states."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

import numpy as np
import pytest
from scipy import stats

from workloads import parse_arrivals
from workloads.arrivals import ARRIVALS, MarkovModulatedPoisson, PointProcess

FloatArray = np.ndarray[tuple[int], np.dtype[np.float64]]

PROCESSES = (
    "fixed:rate=0.5",
    "poisson:rate=0.5",
    "gamma:rate=0.5,burstiness=0.25",
    "gamma:rate=0.5,burstiness=4",
    "weibull:rate=0.5,shape=0.6",
    "weibull:rate=0.5,shape=2",
    "hyperexponential:rate=0.5,scv=1",
    "hyperexponential:rate=0.5,scv=6",
    "mmpp:rate=0.5,burst=4,busy=0.2,cycle=100",
    "mmpp:rate=0.5,burst=5,busy=0.2,cycle=40",
    "mmpp:rate=0.5,burst=1.5,busy=0.5,cycle=4",
    "sinusoidal:rate=0.5,swing=0.8,period=50",
    "sinusoidal:rate=0.5,swing=1,period=5",
    "piecewise:rate=0.5,levels=1+4+0+2.5,duration=10",
    "batch:size=8,rate=0.5",
    "batch:size=8,rate=0.5,gaps=fixed",
    "geometric-batch:mean_size=4,rate=0.5",
    "geometric-batch:mean_size=4,rate=0.5,gaps=fixed",
)

SECTIONS = 25
SURE = stats.t.ppf(1 - 1e-5 / 2, SECTIONS - 1)
"""Half width, in standard errors, of an interval that misses once in 100,000 times."""


def process(text: str) -> PointProcess:
    return cast("PointProcess", parse_arrivals(text))


def assert_estimates(parts: FloatArray, stated: float, rounding: float = 1e-9) -> None:
    error = parts.std(ddof=1) / math.sqrt(len(parts))
    assert abs(parts.mean() - stated) <= SURE * error + rounding * stated


def test_all_processes_are_held_against_what_they_state() -> None:
    assert {text.partition(":")[0] for text in PROCESSES} == set(ARRIVALS.builtin) - {"backlog", "profile"}


@pytest.mark.parametrize("text", PROCESSES)
def test_rate_and_variation_of_the_gaps(text: str) -> None:
    stated = process(text)
    times = stated.releases(SECTIONS * 20_000 + 1, np.random.default_rng(1))
    gaps = np.diff(times).reshape(SECTIONS, -1)
    assert (gaps >= 0).all()
    assert_estimates(gaps.mean(axis=1), 1 / stated.rate)
    # about the known mean: no bias from the mean of a section
    assert_estimates((gaps**2).mean(axis=1) * stated.rate**2, 1 + stated.scv)


@pytest.mark.parametrize("text", PROCESSES)
def test_dispersion_of_counts(text: str) -> None:
    stated = process(text)
    window, windows = 1000 / stated.rate, 2000
    times = stated.releases(1100 * windows, np.random.default_rng(2))
    assert times[-1] > window * windows
    counts = np.histogram(times, bins=window * np.arange(windows + 1))[0]
    # a variance from 2,000 windows has a relative error of 1 / sqrt(1000); five of them for confidence
    expected = stated.dispersion * 1000
    assert counts.var(ddof=1) == pytest.approx(expected, rel=5 / math.sqrt(1000), abs=8**2)


@pytest.mark.parametrize(
    ("burst", "busy", "cycle"), [(4.0, 0.2, 100.0), (5.0, 0.2, 40.0), (1.5, 0.5, 4.0), (1.0, 0.5, 4.0)]
)
def test_mmpp_against_matrices(burst: float, busy: float, cycle: float) -> None:
    """Fischer and Meier-Hellstern (1993): moments of a gap from the generator, as matrices."""
    mmpp = MarkovModulatedPoisson(rate=0.5, burst=burst, busy=busy, cycle=cycle)
    leave_busy, leave_quiet = 1 / (busy * cycle), 1 / ((1 - busy) * cycle)
    generator = np.array([[-leave_busy, leave_busy], [leave_quiet, -leave_quiet]])
    rates = np.diag([mmpp.busy_rate, mmpp.quiet_rate])
    share, ones = np.array([busy, 1 - busy]), np.ones(2)
    rate = share @ rates @ ones
    at_arrival = share @ rates / rate
    inverse = np.linalg.inv(rates - generator)
    mean = at_arrival @ inverse @ ones
    square = 2 * at_arrival @ inverse @ inverse @ ones
    deviation = np.linalg.inv(np.outer(ones, share) - generator) - np.outer(ones, share)
    dispersion = 1 + 2 * share @ rates @ deviation @ rates @ ones / rate
    assert mmpp.rate == pytest.approx(rate)
    assert mean == pytest.approx(1 / rate)
    assert mmpp.scv == pytest.approx(square / mean**2 - 1)
    assert mmpp.dispersion == pytest.approx(dispersion)


def test_mmpp_starts_in_its_steady_state() -> None:
    mmpp = MarkovModulatedPoisson(rate=0.5, burst=4.0, busy=0.2, cycle=1000.0)
    starts = np.random.SeedSequence(3).spawn(4000)
    first = np.array(
        [np.searchsorted(mmpp.releases(60, np.random.default_rng(each)), 10.0) for each in starts]
    )
    assert first.max() < 60
    assert abs(first.mean() - 5) < 4.5 * first.std() / math.sqrt(len(first))


def sinus(rate: float, swing: float, period: float) -> Callable[[FloatArray], FloatArray]:
    wave = 2 * math.pi / period
    return lambda t: rate * (t + swing / wave * (1 - np.cos(wave * t)))  # requests expected up to t


def steps(levels: list[float], duration: float) -> Callable[[FloatArray], FloatArray]:
    edges = duration * np.arange(len(levels) * 40 + 1)
    return lambda t: np.interp(t, edges, np.cumsum([0.0, *levels * 40]) * duration)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sinusoidal:rate=2,swing=0.9,period=1000", sinus(2, 0.9, 1000)),
        ("piecewise:rate=2,levels=3+1+0+4,duration=500", steps([3, 1, 0, 4], 500)),
    ],
)
def test_intensity_at_each_instant(text: str, expected: Callable[[FloatArray], FloatArray]) -> None:
    """In operational time, where one request is expected a unit, the process is Poisson of rate 1."""
    times = process(text).releases(50_000, np.random.default_rng(4))
    gaps = np.diff(expected(times), prepend=0.0)
    assert stats.kstest(gaps, stats.expon.cdf).pvalue > 1e-4
    assert abs(np.corrcoef(gaps[:-1], gaps[1:])[0, 1]) < 3.9 / math.sqrt(len(gaps))


def test_variation_of_periodic_gaps_at_both_ends() -> None:
    slow, fast = (
        process("sinusoidal:rate=1,swing=0.6,period=1e7"),
        process("sinusoidal:rate=1,swing=0.6,period=1e-6"),
    )
    assert slow.scv == pytest.approx(2 / 0.8 - 1, rel=1e-6)
    assert fast.scv == pytest.approx(1, rel=1e-6)
    # levels 1 and 3 for long: a quarter of the requests meet gaps of mean 2, the others of mean 2 / 3
    assert process("piecewise:rate=1,levels=1+3,duration=1e7").scv == pytest.approx(
        2 * (1 / 4 * 2**2 + 3 / 4 * (2 / 3) ** 2) - 1, rel=1e-6
    )


@pytest.mark.parametrize(
    ("text", "scv"),
    [
        ("weibull:rate=3,shape=0.5", 5),
        ("weibull:rate=3,shape=1", 1),
        ("weibull:rate=3,shape=2", 4 / math.pi - 1),
        ("batch:size=8,rate=1", 15),
        ("geometric-batch:mean_size=8,rate=1,gaps=fixed", 7),
    ],
)
def test_variation_by_hand(text: str, scv: float) -> None:
    assert process(text).scv == pytest.approx(scv)


def test_hyperexponential_phases_have_balanced_means() -> None:
    phases = parse_arrivals("hyperexponential:rate=0.25,scv=9")
    gaps = np.diff(phases.releases(200_000, np.random.default_rng(5)), prepend=0.0)
    share = (1 + math.sqrt(0.8)) / 2
    rates = 0.5 * share, 0.5 * (1 - share)

    assert share / rates[0] == pytest.approx((1 - share) / rates[1])
    uniform = share * np.exp(-rates[0] * gaps) + (1 - share) * np.exp(-rates[1] * gaps)  # P(gap > x) at x
    assert stats.kstest(uniform, stats.uniform.cdf).pvalue > 1e-4


def test_sizes_of_random_batches_are_geometric() -> None:
    times = process("geometric-batch:mean_size=4,rate=1").releases(400_000, np.random.default_rng(6))
    _, sizes = np.unique(times, return_counts=True)
    sizes = sizes[:-1]  # the last may be cut short
    seen = np.bincount(np.minimum(sizes, 30), minlength=31)[1:]
    expected = stats.geom(1 / 4).pmf(np.arange(1, 31))
    expected[-1] = stats.geom(1 / 4).sf(29)
    assert stats.chisquare(seen, expected * len(sizes)).pvalue > 1e-4
