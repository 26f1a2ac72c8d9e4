"""Arrival processes: true to their name, in rate and in the gaps' distribution."""

from __future__ import annotations

import numpy as np
import pytest
from refusal import refusal
from scipy import stats

from workloads import parse_arrivals, rate_for_load
from workloads.arrivals import Arrivals, thinning

N = 100_000


def releases(arrivals: Arrivals, n: int = N, seed: int = 1) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return arrivals.releases(n, np.random.default_rng(seed))


def gaps(text: str, n: int = N) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.diff(releases(parse_arrivals(text), n), prepend=0.0)


def test_backlog() -> None:
    assert releases(parse_arrivals("backlog"), 3).tolist() == [0, 0, 0]


def test_fixed_gaps_start_at_zero() -> None:
    assert releases(parse_arrivals("fixed:rate=4"), 4).tolist() == [0, 0.25, 0.5, 0.75]


def test_fixed_gaps_do_not_drift() -> None:
    assert releases(parse_arrivals("fixed:rate=10"), 1_000_001)[-1] == 100_000


@pytest.mark.parametrize(
    ("text", "distribution"),
    [
        ("poisson:rate=0.25", stats.expon(scale=4)),
        ("gamma:rate=0.25", stats.expon(scale=4)),
        ("gamma:rate=0.25,burstiness=0.5", stats.gamma(0.5, scale=8)),
        ("gamma:rate=0.25,burstiness=8", stats.gamma(8, scale=0.5)),
        ("weibull:rate=0.25,shape=0.5", stats.weibull_min(0.5, scale=2)),
        ("hyperexponential:rate=0.25,scv=1", stats.expon(scale=4)),
        ("mmpp:rate=0.25,burst=1,busy=0.5,cycle=4", stats.expon(scale=4)),
        ("sinusoidal:rate=0.25,swing=0,period=4", stats.expon(scale=4)),
        ("piecewise:rate=0.25,levels=7,duration=4", stats.expon(scale=4)),
        ("geometric-batch:mean_size=1,rate=0.25", stats.expon(scale=4)),
    ],
)
def test_gaps_follow_their_distribution(text: str, distribution: stats.rv_continuous) -> None:
    sample = gaps(text)
    assert (sample >= 0).all()
    assert stats.kstest(sample, distribution.cdf).pvalue > 1e-4


@pytest.mark.parametrize("text", ["poisson:rate=2", "gamma:rate=2,burstiness=0.25"])
def test_gaps_are_independent(text: str) -> None:
    sample = gaps(text)
    correlation = np.corrcoef(sample[:-1], sample[1:])[0, 1]
    assert abs(correlation) < 3.9 / np.sqrt(N)  # confidence 0.9999


def test_the_last_arrival_is_not_forced_onto_n_over_rate() -> None:
    n, rate, repetitions = 100, 0.5, 2_000
    process = parse_arrivals(f"poisson:rate={rate}")
    last = np.array([releases(process, n, seed)[-1] for seed in range(repetitions)])
    assert stats.kstest(last, stats.gamma(n, scale=1 / rate).cdf).pvalue > 1e-4


def test_batches_share_their_release_and_keep_the_rate_of_requests() -> None:
    times = releases(parse_arrivals("batch:size=8,rate=0.5"))
    groups = times.reshape(-1, 8)
    assert (groups == groups[:, :1]).all()
    assert stats.kstest(np.diff(groups[:, 0], prepend=0.0), stats.expon(scale=16).cdf).pvalue > 1e-4


def test_the_last_batch_may_be_cut_short() -> None:
    assert releases(parse_arrivals("batch:size=3,rate=3,gaps=fixed"), 5).tolist() == [0, 0, 0, 1, 1]


def test_rate_and_burstiness_fill_in_what_the_text_leaves_out() -> None:
    assert parse_arrivals("gamma", rate=2, burstiness=3) == parse_arrivals("gamma:rate=2,burstiness=3")
    assert parse_arrivals("poisson:rate=5", rate=2, burstiness=3) == parse_arrivals("poisson:rate=5")
    assert parse_arrivals("backlog", rate=2) == parse_arrivals("backlog")


def test_rate_for_load() -> None:
    assert rate_for_load(0.9, slots=8, mean_length=100) == pytest.approx(0.072)
    assert rate_for_load(0.9, slots=8, mean_length=100, step_duration=0.03) == pytest.approx(2.4)
    assert refusal(lambda: rate_for_load(0, slots=8, mean_length=1)) == "load=0: must be a finite number > 0"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "poison:rate=1",
            (
                "arrival process='poison': is unknown; did you mean 'poisson'? "
                "known: backlog, fixed, poisson, gamma, weibull, hyperexponential, mmpp, sinusoidal, "
                "piecewise, profile, batch, geometric-batch"
            ),
        ),
        ("poisson", "poisson: needs rate=.."),
        ("batch", "batch: needs size=.., rate=.."),
        ("poisson:rate=0", "poisson: rate=0.0: must be a finite number > 0"),
        ("fixed:rate=inf", "fixed: rate=inf: must be a finite number > 0"),
        ("gamma:rate=1,burstiness=-1", "gamma: burstiness=-1.0: must be a finite number > 0"),
        ("batch:size=0,rate=1", "batch: size=0: must be a whole number >= 1"),
        ("weibull:rate=1,shape=0.05", "weibull: shape=0.05: must be a finite number >= 0.1"),
        ("hyperexponential:rate=1,scv=0.5", "hyperexponential: scv=0.5: must be a number from 1 to 1e6"),
        ("mmpp:rate=1", "mmpp: needs burst=.., busy=.., cycle=.."),
        ("mmpp:rate=1,burst=2,busy=1,cycle=9", "mmpp: busy=1.0: must lie strictly between 0 and 1"),
        (
            "mmpp:rate=1,burst=6,busy=0.2,cycle=9",
            "mmpp: burst=6.0: must be a number from 1 to 1 / busy, 5",
        ),
        (
            "mmpp:rate=2,burst=4,busy=0.2,cycle=1e-9",
            "mmpp: cycle=1e-09: must be at least 1 / (1000 rate), 0.0005",
        ),
        ("sinusoidal:rate=1,swing=1.5,period=9", "sinusoidal: swing=1.5: must be a number from 0 to 1"),
        (
            "piecewise:rate=1,levels=1+-2,duration=9",
            "piecewise: levels='1+-2': must be finite numbers >= 0 joined by +, as in 1+4+2.5",
        ),
        ("piecewise:rate=1,levels=0+0,duration=9", "piecewise: levels='0+0': must not all be 0"),
        (
            "geometric-batch:mean_size=0.5,rate=1",
            "geometric-batch: mean_size=0.5: must be a number from 1 to 1e9",
        ),
        (
            "batch:size=2,rate=1,gaps=fix",
            "batch: gaps='fix': is unknown; did you mean 'fixed'? known: poisson, fixed",
        ),
    ],
)
def test_refusals(text: str, message: str) -> None:
    assert refusal(lambda: parse_arrivals(text)) == message


def test_a_lull_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thinning, "_LONGEST_LULL", 10_000)
    process = parse_arrivals("piecewise:levels=0+1,duration=33e31", rate=0.5)
    with pytest.raises(
        ValueError, match=r"^time=\S+: nobody has come for \S+ mean gaps of the busiest time; "
    ):
        process.releases(8, np.random.default_rng(1))


def test_a_long_lull_that_ends_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thinning, "_LONGEST_LULL", 100_000)
    process = parse_arrivals("piecewise:levels=0+1,duration=20_000", rate=0.5)
    assert process.releases(8, np.random.default_rng(1))[0] > 20_000
