"""Shaping: what stays, what goes, and that every request is counted once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusal import refusal
from scipy import stats

from policies import make_policy
from serving_sim import Workload, simulate
from workloads import make_workload, parse_arrivals, parse_lengths
from workloads.shaping import (
    ContextLimit,
    Head,
    Load,
    Only,
    PromptChunks,
    Rate,
    Repeat,
    Shaped,
    Shaping,
    ShuffleGaps,
    Step,
    Thin,
    Window,
    shape,
    split,
)

LOG = Workload(
    [0.0, 1.0, 2.5, 4.0, 9.0],
    [110, 2001, 1030, 8, 1],
    request_id=list("abcde"),
    prompt_tokens=[100, 2000, 30, 8, 0],
    output_tokens=[10, 1, 1000, 0, 1],
    tenant=["ann", "bob", "ann", "ann", "bob"],
)


def apply(shaping: Shaping, workload: Workload = LOG, seed: int = 0) -> Shaped:
    return shaping.apply(workload, np.random.default_rng(seed))


def ids(workload: Workload) -> str:
    assert workload.request_id is not None
    return "".join(workload.request_id)


def columns(workload: Workload) -> dict[str, Any]:
    return {field.name: getattr(workload, field.name) for field in fields(Workload)}


def poisson(n: int, rate: float, seed: int = 0) -> Workload:
    return make_workload(n, parse_lengths("geometric:mean=9"), parse_arrivals(f"poisson:rate={rate}"), seed)


def bursty(n: int) -> Workload:
    """Gaps that come in runs of 50 short and 50 long ones."""
    rng = np.random.default_rng(1)
    gaps = rng.exponential(np.where(np.arange(n) // 50 % 2, 10.0, 0.1))
    return Workload(np.cumsum(gaps), rng.integers(1, 99, n))


def lag_one(values: np.ndarray[Any, Any]) -> float:
    return float(np.corrcoef(values[:-1], values[1:])[0, 1])


def test_a_window_is_half_open_and_starts_the_clock_anew() -> None:
    shaped = apply(Window(1.0, 3.0))
    assert ids(shaped.workload) == "bc"
    assert shaped.workload.release.tolist() == [0.0, 1.5]
    assert shaped.dropped == {"before the window": 1, "after the window": 2}


def test_a_window_keeps_the_silence_before_its_first_request() -> None:
    shaped = apply(Window(start=5.0))
    assert shaped.workload.release.tolist() == [4.0]
    assert shaped.dropped == {"before the window": 4}


def test_the_first_requests_are_those_that_arrive_first() -> None:
    unsorted = LOG.take(np.array([4, 3, 2, 1, 0]))
    shaped = apply(Head(2), unsorted)
    assert ids(shaped.workload) == "ab"
    assert shaped.dropped == {"after the first 2": 3}
    assert apply(Head(5)).dropped == {}


def test_one_tenant() -> None:
    shaped = apply(Only("tenant", "ann"))
    assert ids(shaped.workload) == "acd"
    assert shaped.workload.release.tolist() == [0.0, 2.5, 4.0]
    assert shaped.dropped == {"other tenant": 2}


def test_split_puts_every_request_in_one_part_and_the_largest_first() -> None:
    parts = split(LOG, "tenant")
    assert {name: ids(part) for name, part in parts.items()} == {"ann": "acd", "bob": "be"}
    assert list(parts) == ["ann", "bob"]
    assert refusal(lambda: split(LOG, "model")) == "model: the requests have none to split by"


def test_whole_numbers_name_tenants_too() -> None:
    log = Workload([0, 1, 2], [3, 3, 3], tenant=np.array([1, "1", 20], object))
    assert apply(Only("tenant", "1"), log).dropped == {"other tenant": 1}
    said = refusal(lambda: apply(Only("tenant", "2"), log))
    assert said == "tenant='2': no request has it; did you mean '20'?"
    assert {name: len(part) for name, part in split(log, "tenant").items()} == {"1": 2, "20": 1}
    with pytest.raises(TypeError, match=r"^value=2: must be a text$"):
        Only("tenant", 2)  # type: ignore[arg-type]


def test_split_keeps_names_apart_that_differ_in_a_zero_at_their_end() -> None:
    parts = split(Workload([0, 1, 2], [1, 2, 3], model=["a", "a\0", "a"]), "model")
    assert {name: part.length.tolist() for name, part in parts.items()} == {"a": [1, 3], "a\0": [2]}


def test_thinning_leaves_a_poisson_process_poisson() -> None:
    shaped = apply(Thin(0.3), poisson(40_000, rate=2.0))
    left = len(shaped.workload)
    assert shaped.dropped == {"not sampled": 40_000 - left}
    assert abs(left - 12_000) < 4.5 * np.sqrt(40_000 * 0.3 * 0.7)  # misses once in 150,000 seeds
    gaps = np.diff(shaped.workload.release)
    assert stats.kstest(gaps, stats.expon(scale=1 / 0.6).cdf).pvalue > 1e-4


def test_stretching_to_a_rate_keeps_the_pattern() -> None:
    before, after = bursty(1000), apply(Rate(0.25), bursty(1000)).workload
    assert (len(after) - 1) / np.ptp(after.release) == pytest.approx(0.25, rel=1e-12)
    gaps = np.diff(after.release) / np.diff(before.release)
    np.testing.assert_allclose(gaps, gaps[0], rtol=1e-6)
    assert after.release[0] / before.release[0] == pytest.approx(gaps[0])


def test_stretching_to_a_load_counts_lengths_slots_and_steps() -> None:
    shaped = apply(Load(0.5, slots=4, step_duration=2.0), Workload([0, 1, 2], [3, 6, 9]))
    # rate x 6 tokens x 2 time units a step = half of 4 slots, so 1/6 request per time unit
    np.testing.assert_allclose(shaped.workload.release, [0, 6, 12])
    assert shaped.note == "rate 0.1667, times x 6"


def test_shuffled_gaps_are_the_same_gaps_without_their_order() -> None:
    before = bursty(4000)
    after = apply(ShuffleGaps(), before).workload
    gaps_before, gaps_after = np.diff(before.release), np.diff(after.release)
    np.testing.assert_allclose(np.sort(gaps_after), np.sort(gaps_before), atol=1e-8)
    np.testing.assert_array_equal(after.length, before.length)
    assert after.release[-1] == pytest.approx(before.release[-1])
    assert lag_one(gaps_before) > 0.3
    assert abs(lag_one(gaps_after)) < 4 / np.sqrt(4000)


def test_a_pass_goes_round_the_log() -> None:
    log = Workload([1.0, 2.0, 5.0], [7, 8, 9], request_id=["a", "b", "c"])
    seen = set()
    for seed in range(20):
        once = apply(Repeat(1), log, seed).workload
        seen.add((ids(once), tuple(once.release)))
    # the gap from the last request to the first is the mean gap, 2
    assert seen == {
        ("abc", (1.0, 2.0, 5.0)),
        ("bca", (1.0, 4.0, 6.0)),
        ("cab", (1.0, 3.0, 4.0)),
    }


def test_passes_follow_each_other_with_names_of_their_own() -> None:
    log = Workload([1.0, 2.0, 5.0], [7, 8, 9], request_id=["a", "b", "c"])
    twice = apply(Repeat(2), log, seed=3).workload
    assert sorted(twice.request_id.tolist()) == ["a", "a~2", "b", "b~2", "c", "c~2"]  # type: ignore[union-attr]
    assert (np.diff(twice.release) > 0).all()
    assert twice.release[3] == 7.0  # a pass takes 4 and the closing gap
    np.testing.assert_array_equal(np.sort(twice.length), [7, 7, 8, 8, 9, 9])


def test_passes_keep_bursts_together() -> None:
    many = apply(Repeat(3), bursty(2000)).workload
    assert lag_one(np.diff(many.release)) == pytest.approx(lag_one(np.diff(bursty(2000).release)), abs=0.01)


def test_repeating_a_backlog_is_a_larger_backlog() -> None:
    many = apply(Repeat(3), Workload([2.0, 2.0], [1, 5])).workload
    assert many.release.tolist() == [2.0] * 6


def test_too_long_requests_are_dropped() -> None:
    shaped = apply(ContextLimit(1000))
    assert ids(shaped.workload) == "ade"
    assert shaped.dropped == {"longer than 1,000 tokens": 2}


def test_a_cap_ends_outputs_and_drops_prompts_without_room() -> None:
    shaped = apply(ContextLimit(1000, "cap"))
    assert ids(shaped.workload) == "acde"
    assert shaped.workload.length.tolist() == [110, 1000, 8, 1]
    assert shaped.workload.output_tokens.tolist() == [10, 970, 0, 1]  # type: ignore[union-attr]
    assert shaped.dropped == {"prompt fills 1,000 tokens": 1}
    assert shaped.note == "1 capped"


@pytest.mark.parametrize(
    ("length", "capped"),
    [([30, 500], [30, 400]), ([600, 600], [600, 600]), ([630, 1100], [630, 1000])],
    ids=["output", "prompt", "total"],
)
def test_a_cap_shortens_lengths_that_count_outputs(length: list[int], capped: list[int]) -> None:
    log = Workload([0, 1], length, prompt_tokens=[600, 600], output_tokens=[30, 500])
    shaped = apply(ContextLimit(1000, "cap"), log)
    assert shaped.workload.length.tolist() == capped
    assert shaped.workload.output_tokens.tolist() == [30, 400]  # type: ignore[union-attr]


def test_a_cap_on_lengths_alone() -> None:
    shaped = apply(ContextLimit(5, "cap"), Workload([0, 1], [3, 9], lower=[2, 8], upper=[4, 9]))
    assert shaped.workload.length.tolist() == [3, 5]
    assert shaped.workload.lower.tolist() == [2, 5]  # type: ignore[union-attr]
    assert shaped.workload.upper.tolist() == [4, 9]  # type: ignore[union-attr]


def test_prompts_in_chunks() -> None:
    shaped = apply(PromptChunks(64))
    assert shaped.workload.prompt_steps.tolist() == [2, 32, 1, 1, 0]  # type: ignore[union-attr]
    assert shaped.workload.length.tolist() == [12, 33, 1001, 1, 1]
    assert shaped.workload.prompt_tokens.tolist() == LOG.prompt_tokens.tolist()  # type: ignore[union-attr]
    assert shaped.note == "mean length 630 to 209.6 steps"


def test_chunks_of_one_token_are_the_model_of_the_paper() -> None:
    chunked = apply(PromptChunks(1)).workload
    np.testing.assert_array_equal(chunked.length, LOG.length)
    assert LOG.first_token_step is not None
    np.testing.assert_array_equal(chunked.first_token_step, LOG.first_token_step)


def test_the_first_token_follows_the_last_chunk() -> None:
    log = Workload([0.5], [1003], prompt_tokens=[1000], output_tokens=[3])
    run = simulate(apply(PromptChunks(512), log).workload, make_policy("fcfs"), slots=1)
    assert (run.first_token.tolist(), run.finish.tolist()) == ([3.5], [5.5])


def test_predictions_move_with_the_prompt() -> None:
    log = Workload([0], [1003], prompt_tokens=[1000], output_tokens=[3], lower=[900], upper=[1010])
    chunked = apply(PromptChunks(512), log).workload
    assert (chunked.lower.tolist(), chunked.upper.tolist()) == ([1], [12])  # type: ignore[union-attr]


ANY_SHAPING = st.one_of(
    st.builds(Window, st.floats(0, 50), st.floats(1, 100) | st.none()),
    st.builds(Head, st.integers(1, 40)),
    st.builds(Only, st.just("tenant"), st.sampled_from(["t0", "t1"])),
    st.builds(Thin, st.floats(0.2, 1)),
    st.builds(Rate, st.floats(0.01, 100)),
    st.builds(Load, st.floats(0.01, 2), st.integers(1, 64)),
    st.just(ShuffleGaps()),
    st.builds(Repeat, st.integers(1, 3)),
    st.builds(ContextLimit, st.integers(1, 60), st.sampled_from(["drop", "cap"])),
    st.builds(PromptChunks, st.integers(1, 20)),
)


@st.composite
def logs(draw: st.DrawFn) -> Workload:
    n = draw(st.integers(1, 40))

    def column(values: st.SearchStrategy[int]) -> list[int]:
        return draw(st.lists(values, min_size=n, max_size=n))

    prompt, output = np.array(column(st.integers(0, 40))), np.array(column(st.integers(1, 40)))
    return Workload(
        np.array(column(st.integers(0, 100))) / 2,
        prompt + output,
        prompt_tokens=prompt,
        output_tokens=output,
        tenant=[f"t{number}" for number in column(st.integers(0, 1))],
        request_id=[f"r{number}" for number in range(n)],
    )


def shaped_or_refused(log: Workload, chain: list[Shaping], seed: int) -> tuple[Workload, list[Step]] | None:
    """The result, or None where a shaping does not fit what those before it left."""
    try:
        return shape(log, chain, seed)
    except ValueError:
        return None


@given(logs(), st.lists(ANY_SHAPING, max_size=5), st.integers(0, 99))
def test_any_chain_counts_every_request_once_and_gives_a_valid_workload(
    log: Workload, chain: list[Shaping], seed: int
) -> None:
    before = {name: None if column is None else column.copy() for name, column in columns(log).items()}
    result = shaped_or_refused(log, chain, seed)
    for name, column in columns(log).items():
        np.testing.assert_array_equal(column, before[name])
    if result is None:
        return
    shaped, steps = result
    assert [step.name for step in steps] == [each.describe() for each in chain]
    assert [step.before for step in steps] == [len(log), *(step.after for step in steps)][: len(steps)]
    for step, each in zip(steps, chain, strict=True):
        times = each.times if isinstance(each, Repeat) else 1
        assert step.after == times * (step.before - sum(step.dropped.values()))
        assert all(count > 0 for count in step.dropped.values())
    Workload(**columns(shaped))  # every rule of a workload holds
    again, _ = shape(log, chain, seed)
    for name, column in columns(again).items():
        np.testing.assert_array_equal(column, getattr(shaped, name))


def test_a_shaping_draws_the_same_whatever_the_others_draw() -> None:
    log = poisson(500, rate=1.0)
    alone, _ = shape(log, [Window(), Thin(0.5)], seed=7)
    after_draws, _ = shape(log, [Thin(1.0), Thin(0.5)], seed=7)
    np.testing.assert_array_equal(alone.release, after_draws.release)


def test_steps_say_what_happened() -> None:
    _, steps = shape(LOG, [Only("tenant", "ann"), PromptChunks(64)], seed=0)
    assert steps == [
        Step("tenant ann", 5, 3, {"other tenant": 2}, ""),
        Step("prompts in chunks of 64", 3, 3, {}, "mean length 382.7 to 338 steps"),
    ]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Window(-1), "start=-1: must be a finite number of time units >= 0"),
        (lambda: Window(0, 0), "duration=0: must be a finite number of time units > 0"),
        (lambda: Head(0), "count=0: must be a whole number >= 1"),
        (lambda: Head(2.5), "count=2.5: must be a whole number >= 1"),  # type: ignore[arg-type]
        (lambda: Thin(0), "share=0: must be a number above 0 and at most 1"),
        (lambda: Rate(0), "rate=0: must be a finite number > 0"),
        (lambda: Load(0, 2), "load=0: must be a finite number > 0"),
        (lambda: Repeat(0), "times=0: must be a whole number >= 1"),
        (lambda: ContextLimit(0), "tokens=0: must be a whole number >= 1"),
        (
            lambda: ContextLimit(1, "cup"),  # type: ignore[arg-type]
            "too_long='cup': is unknown; did you mean 'cap'? known: drop, cap",
        ),
        (lambda: PromptChunks(0), "tokens=0: must be a whole number >= 1"),
        (lambda: PromptChunks(10**24), f"tokens={10**24}: must be at most 2**62"),
    ],
)
def test_refused_parameters(make: Callable[[], Shaping], message: str) -> None:
    assert refusal(make) == message


BARE = Workload([3.0, 3.0], [4, 5])


@pytest.mark.parametrize(
    ("shaping", "workload", "message"),
    [
        (Window(10.0), LOG, "window from 10 time units to the end: leaves none of the 5 requests"),
        (Head(9), LOG, "first 9: must not be more than 5 requests"),
        (Only("tenant", "bobby"), LOG, "tenant='bobby': no request has it; did you mean 'bob'?"),
        (Only("model", "m"), LOG, "model='m': the requests have no model"),
        (Thin(1e-9), LOG, "sample of 1e-09: leaves none of the 5 requests"),
        (Rate(1), BARE, "rate 1: all requests come at once, there are no gaps to stretch"),
        (Rate(1e-320), LOG, "rate 1e-320: stretches times beyond the largest number"),
        (
            Repeat(10**8),
            BARE,
            "100,000,000 passes from random requests on: must not make more than 100,000,000 requests",
        ),
        (ContextLimit(3), BARE, "context limit 3: leaves none of the 2 requests"),
        (PromptChunks(8), BARE, "prompts in chunks of 8: the requests do not tell their prompts"),
        (
            PromptChunks(8),
            apply(PromptChunks(8)).workload,
            "prompts in chunks of 8: the prompts are in chunks already",
        ),
        (
            PromptChunks(8),
            Workload([0], [4], prompt_tokens=[90], output_tokens=[4]),
            "length[0]=4: prompts in chunks of 8 need lengths that count the prompt, here of 90 tokens",
        ),
        (
            ContextLimit(50, "cap"),
            Workload([0, 0], [5, 77], prompt_tokens=[2, 30], output_tokens=[3, 40]),
            (
                "length[1]=77: cannot be capped, it is made neither of 30 prompt and 40 output tokens "
                "nor of one of them"
            ),
        ),
        (
            Repeat(2),
            Workload([0, 1], [1, 1], request_id=["a", "a~2"]),
            "request_id[3]='a~2': must be unique, row 0 has it too",
        ),
    ],
)
def test_refused_workloads(shaping: Shaping, workload: Workload, message: str) -> None:
    assert refusal(lambda: apply(shaping, workload)) == message
