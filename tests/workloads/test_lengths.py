"""Length distributions: exact means, and draws that follow the stated probabilities.

Seeds are fixed, so a test passes or fails for good; the stated confidence says how unlikely a correct
distribution was to fail when the seed was chosen.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from refusal import refusal
from scipy import stats

from workloads import parse_lengths

N = 200_000


def draws(text: str, n: int = N, seed: int = 1) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return parse_lengths(text).sample(n, np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("text", "mean"),
    [
        ("fixed:length=7", 7),
        ("uniform:low=3,high=8", 5.5),
        ("listed:tokens=10+7+7+5+1", 6),
        ("geometric:mean=12.5", 12.5),
        ("geometric:mean=1", 1),
        ("lognormal:mean=128,sigma=1.2", 128),
        ("lognormal:mean=1.4,cv=0.5", 1.4),
        ("lmsys-like", 126.657),
    ],
)
def test_sample_means_agree_with_the_exact_mean(text: str, mean: float) -> None:
    lengths = parse_lengths(text)
    assert lengths.mean == pytest.approx(mean, abs=1e-3)
    sample = draws(text)
    assert sample.dtype == np.int64
    assert sample.min() >= 1
    standard_error = sample.std() / np.sqrt(N)
    assert abs(sample.mean() - lengths.mean) <= 3.9 * standard_error  # confidence 0.9999


@pytest.mark.parametrize(("n", "expected"), [(2, [10, 7]), (3, [10, 7, 1]), (7, [10, 7, 1, 10, 7, 1, 10])])
def test_listed_lengths_come_in_order_over_and_over(n: int, expected: list[int]) -> None:
    assert draws("listed:tokens=10+7+1", n).tolist() == expected


@pytest.mark.parametrize("sigma", [0.01, 0.3, 1.0, 1.3])
@pytest.mark.parametrize("mean", [1.05, 2.0, 37.5, 1000.0])
def test_the_mean_of_a_lognormal_is_that_of_the_rounded_lengths(mean: float, sigma: float) -> None:
    lengths = parse_lengths(f"lognormal:mean={mean},sigma={sigma}")
    scale = np.exp(lengths._log_mean)  # type: ignore[attr-defined]
    # E[ceil X] is the sum of P(X > k); here term by term as far as anything is left.
    above = stats.lognorm.sf(np.arange(3_000_000), sigma, scale=scale)
    assert above.sum() == pytest.approx(mean, rel=1e-7)


def test_sigma_and_cv_say_the_same() -> None:
    by_cv = draws("lognormal:mean=50,cv=1.5")
    by_sigma = draws(f"lognormal:mean=50,sigma={math.sqrt(math.log1p(1.5**2))!r}")
    np.testing.assert_array_equal(by_cv, by_sigma)


@pytest.mark.parametrize(
    ("text", "distribution"),
    [
        ("uniform:low=3,high=8", stats.randint(3, 9)),
        ("geometric:mean=10", stats.geom(0.1)),
    ],
)
def test_probabilities(text: str, distribution: stats.rv_discrete) -> None:
    sample = draws(text)
    values = np.arange(1, distribution.ppf(0.999) + 1)
    expected = N * np.append(distribution.pmf(values), distribution.sf(values[-1]))
    observed = np.bincount(np.minimum(sample, len(values) + 1), minlength=len(values) + 2)[1:]
    possible = expected > 0
    assert observed[~possible].sum() == 0
    assert stats.chisquare(observed[possible], expected[possible]).pvalue > 1e-4


def test_lognormal_probabilities() -> None:
    lengths = parse_lengths("lognormal:mean=20,sigma=1")
    distribution = stats.lognorm(1, scale=np.exp(lengths._log_mean))  # type: ignore[attr-defined]
    sample = draws("lognormal:mean=20,sigma=1")
    edges = np.arange(1, 100)
    expected = N * np.diff(np.concatenate([[0.0], distribution.cdf(edges), [1.0]]))
    observed = np.bincount(np.minimum(sample, 100), minlength=101)[1:]
    assert stats.chisquare(observed, expected).pvalue > 1e-4


class TestLmsysLike:
    """Yao and Zhou, section 6: 2,000 requests of mean 126, median 90, variance 14938, maximum 905."""

    def test_probabilities_are_those_of_the_truncated_negative_binomial(self) -> None:
        r, mean = 1.0437, 126.245
        source = stats.nbinom(r, r / (r + mean))
        values = np.arange(905)
        probability = source.pmf(values) / source.cdf(904)
        assert parse_lengths("lmsys-like").mean == pytest.approx(1 + probability @ values, rel=1e-12)
        sample = draws("lmsys-like", 1_000_000)
        assert sample.max() <= 905
        observed = np.bincount(sample - 1, minlength=905)
        rare = values >= 700
        expected = 1_000_000 * np.append(probability[~rare], probability[rare].sum())
        counted = np.append(observed[~rare], observed[rare].sum())
        assert stats.chisquare(counted, expected).pvalue > 1e-4

    def test_the_tail_is_left_out_and_not_piled_up(self) -> None:
        sample = draws("lmsys-like", 3_000_000)
        assert sample.max() == 905
        assert (sample == 905).sum() < 100  # some 13 expected; piled up it would be 1,950

    def test_samples_of_2000_look_like_the_one_of_the_paper(self) -> None:
        samples = draws("lmsys-like", 2_000 * 2_000).reshape(2_000, 2_000)
        for statistic, stated in (
            (samples.mean(axis=1), 126),
            (np.median(samples, axis=1), 90),
            (samples.var(axis=1), 14938),
            (samples.max(axis=1), 905),
        ):
            low, high = np.quantile(statistic, [0.01, 1.0])
            assert low <= stated <= high
        assert np.mean(samples.max(axis=1) > 800) > 0.5


def test_empirical_resamples_the_column(tmp_path: Path) -> None:
    path = tmp_path / "w.csv"
    path.write_text("release,length,output_tokens\n0,10,3\n0,20,4\n0,20,4\n0,70,9\n", encoding="utf-8")
    lengths = parse_lengths(f"empirical:file={path}")
    assert lengths.mean == 30
    values, counts = np.unique(lengths.sample(N, np.random.default_rng(1)), return_counts=True)
    assert values.tolist() == [10, 20, 70]
    assert stats.chisquare(counts, N * np.array([0.25, 0.5, 0.25])).pvalue > 1e-4
    assert parse_lengths(f"empirical:file={path},column=output_tokens").mean == 5


def test_empirical_refusals(tmp_path: Path) -> None:
    path = tmp_path / "w.csv"
    path.write_text("release,length,output_tokens\n0,10,0\n", encoding="utf-8")
    for column, message in {
        "prompt_tokens": f"{path}: has no column prompt_tokens",
        "output_tokens": f"{path}: output_tokens=0: lengths must be >= 1",
        "lenght": "column='lenght': is unknown; did you mean 'length'? "
        "known: length, prompt_tokens, output_tokens",
    }.items():
        said = refusal(lambda column=column: parse_lengths(f"empirical:file={path},column={column}"))  # type: ignore[misc]
        assert said == f"empirical: {message}"
    assert refusal(lambda: parse_lengths("empirical:file=nowhere.csv")) == (
        "empirical: nowhere.csv: no such file"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "geometrc:mean=3",
            (
                "length distribution='geometrc': is unknown; did you mean 'geometric'? "
                "known: fixed, uniform, geometric, lognormal, lmsys-like, listed, quantiles, prompt-output, "
                "empirical"
            ),
        ),
        (
            "",
            (
                "length distribution='': is unknown; "
                "known: fixed, uniform, geometric, lognormal, lmsys-like, listed, quantiles, prompt-output, "
                "empirical"
            ),
        ),
        ("geometric", "geometric: needs mean=.."),
        ("uniform:low=3", "uniform: needs high=.."),
        ("geometric:mean", "geometric: 'mean' must be key=value"),
        (
            "geometric:maen=3",
            "geometric: parameter='maen': is unknown; did you mean 'mean'? known: mean",
        ),
        ("lmsys-like:mean=3", "lmsys-like: parameter='mean': is unknown; known: none"),
        ("geometric:mean=3,mean=4", "geometric: mean='4': must not come twice"),
        ("geometric:mean=many", "geometric: mean='many': must be a number"),
        ("geometric:mean=0.9", "geometric: mean=0.9: must be a number from 1 to 1e9"),
        ("geometric:mean=nan", "geometric: mean=nan: must be a number from 1 to 1e9"),
        ("fixed:length=2.5", "fixed: length='2.5': must be a whole number"),
        ("fixed:length=0", "fixed: length=0: must be a whole number from 1 to 2**62"),
        *(
            (
                f"listed:tokens={text}",
                f"listed: tokens={text!r}: must be whole numbers >= 1 joined by +, as in 10+7+1",
            )
            for text in ("3+", "3+0", "3;4", "2.5", "-1")
        ),
        ("uniform:low=5,high=4", "uniform: high=4: must not be below low=5"),
        ("lognormal:mean=1,sigma=1", "lognormal: mean=1.0: must be a number above 1 and at most 1e6"),
        ("lognormal:mean=9", "lognormal: exactly one of sigma=.. and cv=.. must be given"),
        ("lognormal:mean=9,sigma=1,cv=1", "lognormal: exactly one of sigma=.. and cv=.. must be given"),
        ("lognormal:mean=9,sigma=0", "lognormal: sigma=0.0: must be a number from 0.01 to 4"),
        ("lognormal:mean=9,cv=1e9", "lognormal: cv=1000000000.0: must be a number from 0.01 to 1000"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    assert refusal(lambda: parse_lengths(text)) == message
