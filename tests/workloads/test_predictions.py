"""Prediction models: what they promise of every interval, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusal import refusal

from serving_sim import Workload
from workloads import make_workload, parse_arrivals, parse_lengths
from workloads.predictions import context_limit, parse_predictions, predict

CHATS = make_workload(2000, parse_lengths("lmsys-like"), parse_arrivals("backlog"), seed=1)

lengths = st.lists(st.integers(1, 10**9), min_size=1, max_size=30)
models = st.one_of(
    st.floats(1e-6, 1).map(lambda kappa: f"noise:kappa={kappa}"),
    st.integers(0, 1000).map(lambda tokens: f"slack:tokens={tokens}"),
    st.floats(1e-6, 1).map(lambda q: f"quantile:q={q}"),
    st.floats(1e-6, 1).map(lambda q: f"quantile:q={q},by=tenant"),
    st.floats(1e-6, 1).map(lambda q: f"quantile:q={q},by=prompt"),
    st.just(f"limit:tokens={10**9}"),
)


def requests(length: list[int], **columns: list[int] | list[str]) -> Workload:
    return Workload([0.0] * len(length), length, **columns)


def predicted(text: str, workload: Workload, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    with_intervals = predict(workload, parse_predictions(text), seed)
    assert with_intervals.lower is not None
    assert with_intervals.upper is not None
    return with_intervals.lower, with_intervals.upper


@given(lengths, models, st.integers(0, 100))
def test_every_interval_holds_its_length(length: list[int], model: str, seed: int) -> None:
    tenant = ["ab"[row % 2] for row in range(len(length))]
    workload = requests(length, tenant=tenant, prompt_tokens=[row % 5 for row in range(len(length))])
    lower, upper = predicted(model, workload, seed)
    assert np.all((lower >= 1) & (lower <= workload.length) & (workload.length <= upper))


@given(lengths, st.floats(1e-6, 1), st.integers(0, 100))
def test_noise_is_never_worse_than_kappa_and_no_better_than_whole_tokens_force(
    length: list[int], kappa: float, seed: int
) -> None:
    lower, upper = predicted(f"noise:kappa={kappa}", requests(length), seed)
    assert np.min(lower / upper) >= kappa
    assert np.all((lower == 1) | ((lower - 1) / upper < kappa))


@pytest.mark.parametrize("kappa", [1.0, 0.9, 0.7, 0.5, 0.3, 0.1])
def test_noise_reaches_kappa_on_chats(kappa: float) -> None:
    lower, upper = predicted(f"noise:kappa={kappa}", CHATS)
    assert np.min(lower / upper) == kappa


def test_noise_puts_the_length_anywhere_between_its_bounds() -> None:
    length = 10**6
    _, upper = predicted("noise:kappa=0.25", requests([length] * 20_000))
    place = np.sort(np.log(upper / length) / np.log(4))  # uniform on [0, 1)
    # Kolmogorov and Smirnov: beyond 1.95 / sqrt(n) with probability 0.001
    assert np.max(np.abs(place - np.linspace(0, 1, len(place)))) < 1.95 / np.sqrt(len(place))


def test_slack_is_uniform_on_twice_its_tokens() -> None:
    lower, upper = predicted("slack:tokens=3", requests([100] * 70_000))
    assert set((upper - lower).tolist()) == {6}
    counts = np.bincount(upper - 100)
    assert len(counts) == 7
    # 5 standard deviations of a count with probability 1 / 7
    assert np.all(np.abs(counts - 10_000) < 5 * np.sqrt(70_000 * (1 / 7) * (6 / 7)))


def test_slack_is_cut_at_one_token_below() -> None:
    lower, upper = predicted("slack:tokens=50", requests([1] * 100))
    assert set(lower.tolist()) == {1}
    assert upper.max() > 90


def test_the_quantile_covers_its_fraction_and_the_rest_gets_the_maximum() -> None:
    lower, upper = predicted("quantile:q=0.6", requests([5, 1, 4, 2, 3]))
    assert upper.tolist() == [5, 3, 5, 3, 3]
    assert lower.tolist() == [1] * 5


def test_the_quantile_is_that_of_similar_requests() -> None:
    workload = requests([10, 20, 1, 2], tenant=["a", "a", "b", "b"], prompt_tokens=[0, 3, 2, 0])
    assert predicted("quantile:q=0.5,by=tenant", workload)[1].tolist() == [10, 20, 1, 2]
    assert predicted("quantile:q=1,by=tenant", workload)[1].tolist() == [20, 20, 2, 2]
    lower, upper = predicted("quantile:q=1,by=prompt", workload)  # 0 and 0; 2 and 3
    assert upper.tolist() == [10, 20, 20, 10]
    assert lower.tolist() == [2, 1, 1, 2]


def test_the_limit_tells_nothing_else() -> None:
    lower, upper = predicted("limit:tokens=8", requests([3, 8]))
    assert (lower.tolist(), upper.tolist()) == ([1, 1], [8, 8])


@pytest.mark.parametrize(("longest", "limit"), [(1, 1), (2, 2), (3, 4), (905, 1024), (1024, 1024)])
def test_a_context_limit_is_the_next_power_of_two(longest: int, limit: int) -> None:
    assert context_limit([requests([1]), requests([longest, 1])]) == limit


def test_columns_keep_what_came_with_the_requests() -> None:
    assert predicted("columns", requests([3, 4], upper=[5, 6]))[0].tolist() == [1, 1]
    lower, upper = predicted("columns", requests([3, 4], lower=[2, 4], upper=[5, 6]))
    assert (lower.tolist(), upper.tolist()) == ([2, 4], [5, 6])


def test_predictions_have_a_stream_of_their_own() -> None:
    once, again = predicted("noise:kappa=0.5", CHATS), predicted("noise:kappa=0.5", CHATS)
    np.testing.assert_array_equal(once, again)
    assert not np.array_equal(once, predicted("noise:kappa=0.5", CHATS, seed=2))
    child = np.random.default_rng(np.random.SeedSequence(1).spawn(3)[2])
    model = parse_predictions("noise:kappa=0.5")
    np.testing.assert_array_equal(model.interval(CHATS, child), once)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("noise:kappa=0", "noise: kappa=0.0: must be a number above 0 and at most 1"),
        ("noise:kappa=nan", "noise: kappa=nan: must be a number above 0 and at most 1"),
        ("noise", "noise: needs kappa=.."),
        ("slack:tokens=-1", "slack: tokens=-1: must be a whole number from 0 to 2**60"),
        ("slack:tokens=0.5", "slack: tokens='0.5': must be a whole number"),
        ("quantile:q=1.5", "quantile: q=1.5: must be a number above 0 and at most 1"),
        ("quantile:q=1,by=user", "quantile: by='user': is unknown; known: all, tenant, prompt"),
        ("limit:tokens=0", "limit: tokens=0: must be a whole number from 1 to 2**62"),
        (
            "nois:kappa=1",
            (
                "prediction model='nois': is unknown; did you mean 'noise'? "
                "known: noise, slack, quantile, limit, columns"
            ),
        ),
    ],
)
def test_refused_models(text: str, message: str) -> None:
    assert refusal(lambda: parse_predictions(text)) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("limit:tokens=8", "tokens=8: must not be below the longest request, 9"),
        ("columns", "predictions: need a column upper, the workload has none"),
        ("quantile:q=1,by=tenant", "predictions: need a column tenant, the workload has none"),
        ("quantile:q=1,by=prompt", "predictions: need a column prompt_tokens, the workload has none"),
    ],
)
def test_models_that_do_not_fit(text: str, message: str) -> None:
    assert refusal(lambda: predicted(text, requests([9]))) == message
