"""Distributions given by quantiles: exact means, the right shares, nothing lost on the way back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusal import refusal
from scipy import stats

from serving_sim.columns import FloatArray
from workloads import make_workload, parse_arrivals, parse_lengths
from workloads.prompt_output import PromptOutput
from workloads.quantiles import knots_of, knots_text, mean_of, parse_knots

WHOLE = st.lists(st.integers(1, 10**6), min_size=2, max_size=40).map(sorted)


def test_shares_by_hand() -> None:
    # half the mass on 2, 3 and 4 with weights 1/2, 1, 1/2, the other half on 4 alone
    lengths = parse_lengths("quantiles:tokens=2+4+4")
    drawn = lengths.sample(40_000, np.random.default_rng(1))
    counts = np.bincount(drawn)[2:]
    assert lengths.mean == 3.5
    assert stats.chisquare(counts, 40_000 * np.array([1, 2, 5]) / 8).pvalue > 1e-4


def test_whole_numbers_at_the_ends_come_half_as_often() -> None:
    drawn = parse_lengths("quantiles:tokens=1+3").sample(40_000, np.random.default_rng(2))
    assert stats.chisquare(np.bincount(drawn)[1:], 40_000 * np.array([1, 2, 1]) / 4).pvalue > 1e-4


@given(WHOLE)
def test_the_stated_mean_is_that_of_the_whole_numbers_drawn(knots: list[int]) -> None:
    lengths = parse_lengths(f"quantiles:tokens={'+'.join(map(str, knots))}")
    n = 2000
    drawn = lengths.sample(n, np.random.default_rng(7))
    assert drawn.min() >= knots[0]
    assert drawn.max() <= knots[-1]
    assert abs(drawn.mean() - lengths.mean) <= 6 * (drawn.std() + 0.5) / np.sqrt(n)


@given(st.lists(st.integers(0, 10**6), min_size=40, max_size=400), st.integers(2, 20))
def test_knots_keep_the_shares_and_the_ends_their_means(values: list[int], classes: int) -> None:
    knots = knots_of(values, classes)
    assert (np.diff(knots) >= 0).all()
    np.testing.assert_allclose(knots[1:-1], np.quantile(values, np.arange(1, classes) / classes), rtol=1e-12)
    highest = np.sort(values)[-(len(values) // classes) :]
    assert mean_of(knots[-2:]) == pytest.approx(max(highest.mean(), knots[-2]))


def test_text_and_back() -> None:
    knots = np.array([0.0, 3e-9, 0.125, 3.0, 1.5e9])
    np.testing.assert_array_equal(parse_knots("gaps", knots_text(knots)), knots)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("4", "tokens: must be two or more numbers >= 0 joined by +, none below the one before"),
        ("4+3", "tokens: must be two or more numbers >= 0 joined by +, none below the one before"),
        ("4+x", "tokens: must be two or more numbers >= 0 joined by +, none below the one before"),
        ("4+nan", "tokens: must be two or more numbers >= 0 joined by +, none below the one before"),
        ("4+inf", "tokens: must be two or more numbers >= 0 joined by +, none below the one before"),
        ("0+3", "tokens: must be whole numbers >= 1 joined by +"),
        ("1+2.5", "tokens: must be whole numbers >= 1 joined by +"),
    ],
)
def test_refused_quantiles(text: str, message: str) -> None:
    assert refusal(lambda: parse_lengths(f"quantiles:tokens={text}")) == f"quantiles: {message}"


PAIR = "prompt-output:prompt=1+100+2000,output=0+50+900"


def test_parts_add_up_and_have_the_distributions_they_would_have_alone() -> None:
    lengths = parse_lengths(f"{PAIR},joint=3+1+1+3")
    workload = make_workload(20_000, lengths, parse_arrivals("backlog"), seed=2)
    assert workload.prompt_tokens is not None
    assert workload.output_tokens is not None
    np.testing.assert_array_equal(workload.length, workload.prompt_tokens + workload.output_tokens)
    alone = parse_lengths("quantiles:tokens=1+100+2000").sample(20_000, np.random.default_rng(9))
    assert stats.ks_2samp(workload.prompt_tokens, alone).pvalue > 1e-4


def test_weights_say_how_often_shares_come_together() -> None:
    workload = make_workload(16_000, parse_lengths(f"{PAIR},joint=1+2+0+5"), parse_arrivals("backlog"), 3)
    assert workload.prompt_tokens is not None
    assert workload.output_tokens is not None
    long_prompt, long_output = workload.prompt_tokens > 100, workload.output_tokens > 50
    counts = np.bincount(2 * long_prompt + long_output, minlength=4)
    # one in 200 lies on the border of two shares and is rounded to the wrong side
    assert (np.abs(counts - 16_000 * np.array([1, 2, 0, 5]) / 8) < 5 * np.sqrt(4000) + 80).all()


def test_a_pair_without_weight_is_never_drawn() -> None:
    class Largest(np.random.Generator):
        def random(self, size: object) -> FloatArray:  # type: ignore[override]
            return np.full(size, np.nextafter(1.0, 0.0))  # type: ignore[call-overload, no-any-return]

    # the sum of the weights is rounded, up or down
    for size in range(2, 12):
        weights = "+".join(["0.1"] * (size**2 - 1) + ["0"])
        knots = "+".join(map(str, range(1, size + 2)))
        lengths = PromptOutput(knots, knots, weights)
        prompt, output = lengths.parts(1, Largest(np.random.PCG64(1)))
        assert (prompt.tolist(), output.tolist()) == (
            [size + 1],
            [size],
        )  # the last row, the last column but one


@pytest.mark.parametrize("joint", ["1", "3+1+1+3", "1+2+0+5"])
def test_the_stated_mean_of_a_pair(joint: str) -> None:
    lengths = parse_lengths(f"{PAIR},joint={joint}")
    drawn = lengths.sample(200_000, np.random.default_rng(4))
    assert abs(drawn.mean() - lengths.mean) < 5 * drawn.std() / np.sqrt(200_000)


def test_without_weights_parts_are_independent() -> None:
    workload = make_workload(20_000, parse_lengths(PAIR), parse_arrivals("backlog"), 5)
    assert workload.prompt_tokens is not None
    assert workload.output_tokens is not None
    correlation = stats.spearmanr(workload.prompt_tokens, workload.output_tokens).statistic
    assert abs(correlation) < 5 / np.sqrt(20_000)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prompt=0+3,output=0+2", "prompt, output: must not both start at 0, a request has a token"),
        ("prompt=1+3,output=0+2.5", "output: must be whole numbers >= 0 joined by +"),
        ("prompt=1+3,output=0+2,joint=1+2", "joint: must be k x k numbers >= 0 joined by +, not all 0"),
        ("prompt=1+3,output=0+2,joint=0", "joint: must be k x k numbers >= 0 joined by +, not all 0"),
        ("prompt=1+3,output=0+2,joint=x", "joint: must be k x k numbers >= 0 joined by +, not all 0"),
        (
            "prompt=1+3+4,output=0+2,joint=1+0+0+1",
            "joint: its 2 rows must divide the 1 classes of output",
        ),
    ],
)
def test_refused_pairs(text: str, message: str) -> None:
    assert refusal(lambda: parse_lengths(f"prompt-output:{text}")) == f"prompt-output: {message}"
