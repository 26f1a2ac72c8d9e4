"""Intervals cover what they promise, and are withheld where they could not."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from refusal import refusal
from scipy.signal import correlate, lfilter
from scipy.stats import norm, skew

from analysis import autocorrelation, replications, sectioning
from analysis.autocorrelation import autocovariances, integrated_autocorrelation_time
from analysis.estimate import Estimate
from analysis.series import Series
from analysis.statistic import MEAN, Statistic, quantiles, values_of
from analysis.text import with_interval

P90, P99 = Statistic("p90", 0.9), Statistic("p99", 0.99)
Values = NDArray[np.float64]


def asked(statistic: Statistic, series: Iterable[Values]) -> list[Series]:
    return [Series(values, [statistic]) for values in series]


def ar1(rng: np.random.Generator, count: int, phi: float, rows: int = 1) -> NDArray[np.float64]:
    """Stationary AR(1) series with standard normal values; tau = (1 + phi) / (1 - phi)."""
    noise = rng.standard_normal((rows, count + 200)) * np.sqrt(1 - phi**2)
    series: Values = lfilter([1], [1, -phi], noise, axis=1)[:, 200:]
    return series


@pytest.mark.parametrize(("count", "lags"), [(1, 1), (7, 7), (50, 3), (50, 50), (1000, 13), (1000, 700)])
def test_autocovariances_are_the_plain_sums(count: int, lags: int) -> None:
    series = np.random.default_rng(count).normal(size=count)
    plain = [float(series[: count - lag] @ series[lag:]) for lag in range(lags)]
    np.testing.assert_allclose(autocovariances(series, lags), plain, atol=1e-9)


@pytest.mark.parametrize(("phi", "tau"), [(0.0, 1.0), (0.5, 3.0), (0.9, 19.0)])
def test_autocorrelation_time_of_an_autoregression(phi: float, tau: float) -> None:
    (series,) = ar1(np.random.default_rng(1), 200_000, phi)
    assert integrated_autocorrelation_time(series) == pytest.approx(tau, rel=0.1)


@pytest.mark.parametrize(("phi", "window"), [(0.5, 15), (0.99, 1_000), (0.999, 10_000), (1.0, 40_000)])
def test_the_sum_stops_where_the_window_first_closes(phi: float, window: int) -> None:
    (series,) = ar1(np.random.default_rng(1), 40_000, phi) if phi < 1 else [np.arange(40_000.0)]
    centred = series - series.mean()
    covariance = correlate(centred, centred, method="fft")[len(series) - 1 :]
    tau = 2 * np.cumsum(covariance / covariance[0]) - 1
    closes = int(np.argmax(np.arange(len(series)) >= 5 * tau))
    assert window / 4 < closes <= window
    assert integrated_autocorrelation_time(series) == pytest.approx(tau[closes])


def test_a_constant_series_has_independent_values() -> None:
    assert integrated_autocorrelation_time(np.full(100, 7.0)) == 1


def test_alternating_values_earn_no_credit() -> None:
    assert integrated_autocorrelation_time(np.tile([0.0, 1.0], 500)) == 1


@pytest.mark.parametrize("phi", [-0.5, 0.0, 0.9, 0.999, 1 - 1e-9])
@pytest.mark.parametrize("count", [2, 30, 10_000])
def test_a_short_autocorrelation_time_need_not_be_known(phi: float, count: int) -> None:
    for series in ar1(np.random.default_rng(count), count, phi, rows=5):
        exact = integrated_autocorrelation_time(series)
        for least in (1.0, 0.9 * exact, 1.1 * exact, 3 * exact, 1e6, np.inf):
            found = integrated_autocorrelation_time(series, least=max(1.0, least))
            assert found == max(exact, least)


def test_no_transform_is_taken_where_one_look_shows_a_short_time(monkeypatch: pytest.MonkeyPatch) -> None:
    (series,) = ar1(np.random.default_rng(1), 20_000, 0.5)  # tau = 3
    monkeypatch.setattr(autocorrelation, "autocovariances", None)
    assert integrated_autocorrelation_time(series, least=6.0) == 6


@pytest.mark.parametrize("statistic", [MEAN, Statistic("p50", 0.5), P90])
@pytest.mark.parametrize("phi", [0.0, 0.7])
def test_sectioning_covers_the_truth(statistic: Statistic, phi: float) -> None:
    truth = 0.0 if statistic.probability is None else float(norm.ppf(statistic.probability))
    estimates = [
        sectioning.estimate(statistic, series)
        for series in ar1(np.random.default_rng(2), 6000, phi, rows=200)
    ]
    assert all(estimate.note is None for estimate in estimates)
    covered = np.mean([estimate.low <= truth <= estimate.high for estimate in estimates])  # type: ignore[operator]
    assert 0.90 <= covered <= 0.99  # nominal 0.95, give or take three standard deviations


def test_an_interval_blind_to_correlation_would_fail_that_test() -> None:
    covered = []
    for series in ar1(np.random.default_rng(2), 6000, 0.7, rows=200):
        half = 1.96 * series.std() / np.sqrt(len(series))
        covered.append(abs(series.mean()) <= half)
    assert np.mean(covered) < 0.75


def test_sectioning_by_hand() -> None:
    # independent values, so that the guard lets them pass; q is the mean of all, 4.5
    shuffled = np.random.default_rng(0).permutation(np.repeat(np.arange(10.0), 1000))
    estimate = sectioning.estimate(MEAN, shuffled)
    means = shuffled.reshape(20, 500).mean(axis=1)
    error = np.sqrt(np.sum((means - 4.5) ** 2) / 19 / 20)
    shape = skew(means, bias=False) / (6 * np.sqrt(20))
    student = 2.093024054408263  # t_19 at 0.975

    def stretched(quantile: float) -> float:
        # Willink (2005), equation 7
        return (float(np.cbrt(1 + 6 * shape * (quantile - shape))) - 1) / (2 * float(shape))

    assert estimate.value == pytest.approx(4.5)
    assert estimate.low == pytest.approx(4.5 - max(student, stretched(student)) * error)
    assert estimate.high == pytest.approx(4.5 + max(student, -stretched(-student)) * error)


def test_skewed_sections_reach_further_to_the_rare_side() -> None:
    rng = np.random.default_rng(8)
    values = rng.permuted(np.where(rng.random(40_000) < 0.002, 500.0, 1.0))
    estimate = sectioning.estimate(MEAN, values)
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.value is not None
    mirrored = sectioning.estimate(MEAN, -values)
    assert mirrored.low == pytest.approx(-estimate.high)
    assert mirrored.high == pytest.approx(-estimate.low)
    means = np.array_split(values, 20)
    assert np.sign(skew([each.mean() for each in means])) == np.sign(
        estimate.high + estimate.low - 2 * estimate.value
    )


def test_no_side_is_shorter_than_students() -> None:
    parts = np.array([1.0] * 9 + [11.0])  # their skewness would draw the lower end in
    half = 2.2621571627409915 * np.std(parts, ddof=1) / np.sqrt(10)
    estimate = sectioning._skewed_interval(2.0, parts, 0.95)
    assert estimate.low == pytest.approx(2 - half)
    assert estimate.high is not None
    assert estimate.high > 2 + 1.2 * half
    mirrored = sectioning._skewed_interval(-2.0, -parts, 0.95)
    assert mirrored.low == pytest.approx(-estimate.high)
    assert mirrored.high == pytest.approx(half - 2)


def test_symmetric_sections_give_students_interval() -> None:
    # ten sections of means 1, 3, 1, 3, ..: no skewness; S^2 = 10 / 9
    values = np.tile(np.repeat([1.0, 3.0], 1000), 5)
    parts = values.reshape(10, 1000).mean(axis=1)
    half = 2.2621571627409915 * np.sqrt(10 / 9 / 10)
    estimate = sectioning._skewed_interval(2.0, parts, 0.95)
    assert estimate.low == pytest.approx(2 - half)
    assert estimate.high == pytest.approx(2 + half)
    assert sectioning._skewed_interval(3.0, np.full(10, 3.0), 0.95) == Estimate(3.0, 3.0, 3.0)


def test_a_quantile_by_hand() -> None:
    values = np.random.default_rng(9).exponential(size=4000)
    centre = np.quantile(values, 0.9)
    shares = (values.reshape(20, 200) <= centre).mean(axis=1)
    reach = 2.093024054408263 * shares.std(ddof=1) / np.sqrt(20)  # t_19 at 0.975
    estimate = sectioning.estimate(P90, values)
    assert estimate.value == pytest.approx(centre)
    assert estimate.low == pytest.approx(np.quantile(values, 0.9 - reach))
    assert estimate.high == pytest.approx(np.quantile(values, 0.9 + reach))


def test_several_statistics_of_one_series_are_selected_together(monkeypatch: pytest.MonkeyPatch) -> None:
    (series,) = ar1(np.random.default_rng(10), 30_000, 0.5)
    statistics = (MEAN, *quantiles((10, 50, 90, 99.9, 99.999)))
    one_by_one = {each.name: sectioning.estimate(each, series) for each in statistics}
    selected, quantile = [], np.quantile

    def watched(values: Values, shares: Values) -> Values:
        selected.append(np.shape(shares))
        return quantile(values, shares)

    monkeypatch.setattr(np, "quantile", watched)
    assert sectioning.estimates(statistics, series) == one_by_one  # to the last digit
    assert [each.note is None for each in one_by_one.values()] == [True] * 4 + [False] * 2
    assert selected == [(4,), (3, 2)]  # the value of four quantiles, the ends of the interval of three


@given(values=st.lists(st.floats(-1e6, 1e6), max_size=300))
def test_quantiles_selected_together_are_those_found_one_by_one(values: list[float]) -> None:
    statistics = (MEAN, *quantiles((10, 50, 90, 99)))
    one_by_one = {
        each.name: each.of(np.array(values)) for each in statistics if not each.absence(len(values))
    }
    assert values_of(statistics, np.array(values)) == one_by_one


def test_too_few_requests_beyond_the_quantile_get_a_reason_for_an_interval() -> None:
    rng = np.random.default_rng(3)
    estimate = sectioning.estimate(Statistic("p99.9", 0.999), rng.exponential(size=1412))
    assert estimate.value is not None
    assert (estimate.low, estimate.high) == (None, None)
    assert estimate.note == "not enough data for p99.9 (n = 1,412, about 50,000 needed)"


@pytest.mark.parametrize(("probability", "least"), [(0.999, 1000), (0.99, 100), (0.5, 2), (0.02, 50)])
def test_a_quantile_without_a_value_beyond_it_has_no_value(probability: float, least: int) -> None:
    statistic = Statistic("q", probability)
    values = np.random.default_rng(3).exponential(size=least)
    assert sectioning.estimate(statistic, values).value is not None
    assert sectioning.estimate(statistic, values[1:]) == Estimate(
        None, note=f"not enough data for q (n = {least - 1})"
    )
    assert replications.estimate(statistic, asked(statistic, [values, values[1:]])) == Estimate(
        None, note=f"not enough data for q (n = {least - 1}) in a replication"
    )


def test_a_trend_never_gets_an_interval() -> None:
    series = np.linspace(0, 100, 50_000) + np.random.default_rng(4).standard_normal(50_000)
    assert sectioning.estimate(MEAN, series).low is None


def test_no_values_no_estimate() -> None:
    assert sectioning.estimate(MEAN, np.empty(0)) == Estimate(None, note="no request has a value")


def test_pairing_narrows_the_interval() -> None:
    rng = np.random.default_rng(5)
    (common,) = ar1(rng, 20_000, 0.5)
    better = common - 0.05 + 0.01 * rng.standard_normal(20_000)
    paired = sectioning.estimate_difference(P90, Series(better, [P90]), Series(common, [P90]))
    alone = sectioning.estimate(P90, common)
    assert paired.half_width is not None
    assert alone.half_width is not None
    assert paired.half_width < alone.half_width / 5
    assert paired.excludes_zero


def test_replications_give_students_interval() -> None:
    # mean 2, standard deviation 1, t_2 at 0.975 = 4.302652729911275
    estimate = replications.interval([1.0, 2.0, 3.0])
    half = 4.302652729911275 / np.sqrt(3)
    assert estimate.low == pytest.approx(2 - half)
    assert estimate.high == pytest.approx(2 + half)


def test_replications_cover_the_truth() -> None:
    rng = np.random.default_rng(6)
    hits = []
    for _ in range(200):
        estimate = replications.estimate(P90, asked(P90, ar1(rng, 600, 0.5, rows=5)))
        assert estimate.low is not None
        assert estimate.high is not None
        hits.append(estimate.low <= norm.ppf(0.9) <= estimate.high)
    assert 0.90 <= np.mean(hits) <= 0.99


def test_short_replications_get_no_interval() -> None:
    rng = np.random.default_rng(7)
    estimate = replications.estimate(P99, asked(P99, rng.random((10, 200))))
    assert estimate.note is not None
    assert re.fullmatch(
        r"not enough data for p99 \(n = 200, about [0-9,]+ needed\) in each replication", estimate.note
    )


def test_replications_of_a_finite_set_need_no_long_runs() -> None:
    # 10 requests whose values are one number each replication draws: no run tells anything about
    # the spread, ten replications do
    draws = np.random.default_rng(7).normal(size=10)
    series = [np.full(10, draw) for draw in draws]
    estimate = replications.estimate(P90, asked(P90, series), stationary=False)
    assert estimate == replications.interval(draws.tolist())
    assert replications.estimate(P99, asked(P99, series), stationary=False).value is None


def test_names_of_quantiles() -> None:
    assert [statistic.name for statistic in quantiles((50, 99.9, 99.99999))] == ["p50", "p99.9", "p99.99999"]


@pytest.mark.parametrize(
    ("percentiles", "message"),
    [
        ((50.0, 100.0), "percentiles=100.0: must lie strictly between 0 and 100"),
        ((float("nan"),), "percentiles=nan: must lie strictly between 0 and 100"),
        ((50.0, 90.0, 50.0), "percentiles=50.0: must not be named twice"),
    ],
)
def test_percentiles_that_cannot_be_are_refused(percentiles: tuple[float, ...], message: str) -> None:
    assert refusal(lambda: quantiles(percentiles)) == message


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (Estimate(12.345, 11.945, 12.745), "12.35 ± 0.40"),
        (Estimate(12.345, 12.045, 13.245), "12.35 +0.90 -0.30"),
        (Estimate(1.0, 1 - 2e-16, 1 + 2e-16), "1 ± 0"),
        (Estimate(0.0, 0.0, 0.0), "0 ± 0"),
        (Estimate(2000.0, 1500.0, 2500.0), "2,000 ± 500"),
        (Estimate(1234.5, 1234.44, 1236.5), "1,234.500 +2.0 -0.060"),
        (Estimate(5.0, 5.0, 5.5), "5.00 +0.50 -0"),
        (Estimate(2.0, note="why"), "2"),
        (Estimate(None), "-"),
    ],
)
def test_a_lopsided_interval_shows_both_sides(estimate: Estimate, text: str) -> None:
    assert with_interval(estimate) == text


@pytest.mark.parametrize("confidence", [95, 1.0, 0, -0.1, math.nan])
def test_a_confidence_is_a_probability(confidence: float) -> None:
    values = np.random.default_rng(0).normal(5, 1, 10_000)
    message = f"confidence={confidence!r}: must lie strictly between 0 and 1"
    assert refusal(lambda: sectioning.estimate(MEAN, values, confidence)) == message
    assert refusal(lambda: replications.interval([1.0, 2.0], confidence)) == message


def test_one_replication_has_no_interval() -> None:
    assert refusal(lambda: replications.interval([3.0])) == "parts=1: must be at least 2, one shows no spread"


@pytest.mark.parametrize(("count", "needed"), [(19_960, "20,000"), (20_000, "21,000"), (20_100, "21,000")])
def test_more_are_needed_than_there_are(count: int, needed: str) -> None:
    """50 of 20,000 beyond p99.75, in independent values: so many, and no fewer."""
    statistic = Statistic("p99.75", 0.9975)
    values = np.random.default_rng(1).normal(size=count)
    enough = 50 if count < 20_000 else 50.3
    note = statistic.shortage(values, enough=enough)
    assert note == f"not enough data for p99.75 (n = {count:,}, about {needed} needed)"
