"""Constraint (1) counted in tokens: by hand, against a count token by token, and its bound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusal import refusal

from analysis.summary import summarize
from analysis.token_audit import token_audit
from analysis.violation import token_audit_text
from policies import make_policy
from serving_sim import Audit, Run, StepTime, Violation, Workload, simulate
from workloads.shaping import PromptChunks

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "chunked-prompts.md"

POLICIES = st.sampled_from(["fcfs", "sjf", "ljf", "isjl", "fair-fcfs"])


def chunked(release: list[float], prompt: list[int], output: list[int], chunk: int) -> Workload:
    length = np.add(prompt, output)
    whole = Workload(release, length, prompt_tokens=prompt, output_tokens=output)
    return PromptChunks(chunk).apply(whole, np.random.default_rng(0)).workload


def served(
    workload: Workload, policy: str, *, slots: int, alpha: int | None, step_time: StepTime | None = None
) -> Run:
    rule = make_policy(policy, **({"alpha": alpha} if policy in ("isjl", "fair-fcfs") else {}))
    return simulate(
        workload, rule, slots=slots, alpha=alpha, step_time=step_time, record_batches=True, engine="simpy"
    )


# the example of the page: request 1 comes a step after request 0 and reads three chunks


def example(alpha: int | None = 3, step_time: StepTime | None = None) -> Run:
    return served(chunked([0, 1], [1, 12], [6, 2], 4), "fcfs", slots=2, alpha=alpha, step_time=step_time)


def test_a_gap_that_grows_after_a_fair_admission() -> None:
    run = example()
    assert (run.audit.fair, run.max_gap) == (True, 1)
    assert token_audit(run, 4) == Audit(
        alpha=3,
        max_gap=8,
        violations=0,
        violation_steps=3,
        first=Violation(time=3.0, step=3, request=0, slot=0, other=1, other_slot=1, gap=5),
    )


def test_the_page_shows_the_example_step_by_step() -> None:
    steps = step_by_step(example(), 4)
    rows = [
        ["in step", *map(str, range(len(steps)))],
        ["A has", *(str(tokens.get(0, "-")) for tokens in steps)],
        ["B has", *(str(tokens.get(1, "-")) for tokens in steps)],
        ["gap in tokens", *(str(gap(tokens)) for tokens in steps)],
    ]
    page = PAGE.read_text(encoding="utf-8")
    for row in rows:
        assert "| " + " | ".join(row) + " |\n" in page


def test_the_first_step_beyond_is_dated_by_the_pace_of_the_batch() -> None:
    # steps take 1 + |S|: A alone 0-2, both 2-5, 5-8, 8-11, 11-14, 14-17, A alone again from there
    run = example(step_time=StepTime(base=1, per_request=1))
    assert run.start.tolist() == [0.0, 2.0]
    first = token_audit(run, 4).first
    assert first is not None
    assert (first.step, first.time) == (3, 8.0)


def test_without_a_budget_only_the_largest_gap_is_told() -> None:
    assert token_audit(example(alpha=None), 4) == Audit(None, 8, 0, 0, None)


def test_a_gap_too_wide_at_an_admission_can_close() -> None:
    # B enters when A has 5 tokens, and has 4 when A has 6: the gaps are 5 and 2
    run = served(chunked([0, 5], [1, 12], [6, 2], 4), "fcfs", slots=2, alpha=3)
    found = token_audit(run, 4)
    assert (found.max_gap, found.violations, found.violation_steps) == (5, 1, 1)
    assert found.first == Violation(time=5.0, step=5, request=1, slot=1, other=0, other_slot=0, gap=5)


def test_a_gap_that_grows_until_one_of_the_two_is_done() -> None:
    # A has 0, 4, 8, 12 tokens, and B 0, 1, 2 before its last step
    run = served(chunked([0, 0], [12, 1], [1, 2], 4), "fcfs", slots=2, alpha=3)
    found = token_audit(run, 4)
    assert (found.max_gap, found.violation_steps) == (6, 1)


def test_idle_time_and_unsorted_rows_change_nothing() -> None:
    parts = chunked([100, 1, 0], [12, 12, 1], [2, 2, 6], 4)
    run = served(parts, "fcfs", slots=2, alpha=3)
    found = token_audit(run, 4)
    assert (found.max_gap, found.violation_steps) == (8, 3)
    assert found.first is not None
    assert (found.first.request, found.first.other) == (2, 1)


def test_prompts_beyond_64_bits_of_products_are_exact() -> None:
    chunk = 2**40
    run = served(chunked([0, 0], [2**62 - chunk, 0], [1, 2**22 + 1], chunk), "fcfs", slots=2, alpha=0)
    assert token_audit(run, chunk).max_gap == 2**62 - chunk - (2**22 - 1)


# against a count token by token


def step_by_step(run: Run, chunk: int) -> list[dict[int, int]]:
    """For every busy step the tokens that each active request has when it begins.

    Steps are told by their instants, so the step time must be 1 and releases exact in binary.
    """
    assert run.requests is not None
    assert run.requests.prompt_tokens is not None
    begun: dict[float, dict[int, int]] = {}
    for row, start in enumerate(run.start.tolist()):
        tokens, unread = 0, int(run.requests.prompt_tokens[row])
        for step in range(int(run.requests.length[row])):
            begun.setdefault(start + step, {})[row] = tokens
            made = min(chunk, unread) if unread else 1
            tokens, unread = tokens + made, max(unread - chunk, 0)
    return [begun[instant] for instant in sorted(begun)]


def gap(tokens: dict[int, int]) -> int:
    return max(tokens.values()) - min(tokens.values())


@dataclass(frozen=True)
class Case:
    workload: Workload
    chunk: int
    slots: int
    alpha: int
    policy: str


@st.composite
def cases(draw: st.DrawFn) -> Case:
    count = draw(st.integers(1, 8))

    def column(least: int, most: int) -> list[int]:
        return draw(st.lists(st.integers(least, most), min_size=count, max_size=count))

    release = [quarter / 4 for quarter in column(0, 60)]
    prompt, output = column(0, 40), column(1, 12)
    chunk = draw(st.sampled_from([1, 2, 3, 5, 8, 64]))
    return Case(
        chunked(release, prompt, output, chunk),
        chunk,
        slots=draw(st.integers(1, 4)),
        alpha=draw(st.integers(0, 15)),
        policy=draw(POLICIES),
    )


@given(cases())
def test_it_finds_what_a_count_token_by_token_finds(case: Case) -> None:
    run = served(case.workload, case.policy, slots=case.slots, alpha=case.alpha)
    steps = step_by_step(run, case.chunk)
    beyond = [number for number, tokens in enumerate(steps) if gap(tokens) > case.alpha]
    entered = [set(now) - set(before) for before, now in zip([{}, *steps], steps, strict=False)]
    late = sum(
        len(rows)
        for rows, tokens in zip(entered, steps, strict=True)
        if rows and max(tokens.values()) > case.alpha
    )
    found = token_audit(run, case.chunk)
    assert (found.max_gap, found.violations, found.violation_steps) == (
        max(map(gap, steps)),
        late,
        len(beyond),
    )
    assert (found.first is None) == (not beyond)
    if found.first is not None:
        tokens = steps[beyond[0]]
        assert found.first.step == beyond[0]
        assert tokens[found.first.other] - tokens[found.first.request] == found.first.gap == gap(tokens)
        assert run.slot[found.first.other] == found.first.other_slot


@given(cases(), st.sampled_from([StepTime(), StepTime(0.5, 0.25, 0.125, 0.0625)]))
def test_with_a_token_a_step_it_is_the_audit_of_the_run(case: Case, step_time: StepTime) -> None:
    workload = case.workload
    singly = replace(workload, prompt_tokens=workload.prompt_steps)
    run = served(singly, case.policy, slots=case.slots, alpha=case.alpha, step_time=step_time)
    found = token_audit(run, 1)
    assert replace(found, first=None) == replace(run.audit, first=None)
    if found.first is None or run.audit.first is None:
        assert found.first is run.audit.first
    else:
        assert (found.first.step, found.first.gap) == (run.audit.first.step, run.audit.first.gap)
        assert found.first.time == run.audit.first.time


# how far apart fairness in steps lets tokens come


@given(cases())
def test_fair_in_steps_bounds_the_gap_in_tokens_by_what_chunks_save(case: Case) -> None:
    run = served(case.workload, "isjl", slots=case.slots, alpha=case.alpha)
    assert case.workload.prompt_tokens is not None
    longest = int(case.workload.prompt_tokens.max())
    saved = longest - -(-longest // case.chunk)
    assert run.audit.fair
    assert max(map(gap, step_by_step(run, case.chunk))) <= case.alpha + saved
    assert token_audit(run, case.chunk).max_gap <= case.alpha + saved


def tokens_after(prompt: int, chunk: int) -> list[int]:
    """Tokens of a request after 0, 1, .. steps, counted one step at a time."""
    tokens, unread = [0], prompt
    for _ in range(60):
        tokens.append(tokens[-1] + (min(chunk, unread) if unread else 1))
        unread = max(unread - chunk, 0)
    return tokens


@given(
    st.lists(st.integers(0, 100), min_size=2, max_size=2),
    st.integers(1, 9),
    st.integers(0, 20),
    st.integers(0, 20),
    st.integers(0, 40),
)
def test_the_gap_of_two_requests_is_bounded_step_by_step(
    prompts: list[int], chunk: int, alpha: int, distance: int, since: int
) -> None:
    older, younger = (tokens_after(prompt, chunk) for prompt in prompts)
    distance = min(distance, alpha)
    apart = abs(older[since + distance] - younger[since])
    longest = max(prompts)
    assert apart <= chunk * alpha + (chunk - 1) * since
    assert apart <= alpha + longest - -(-longest // chunk)


@pytest.mark.parametrize(("alpha", "chunk", "prompt"), [(0, 2, 2), (3, 4, 12), (5, 4, 10), (7, 512, 4000)])
def test_both_bounds_are_reached(alpha: int, chunk: int, prompt: int) -> None:
    steps = -(-prompt // chunk)
    # one token of prompt, and enough output to be there when the long prompt has been read
    run = served(
        chunked([0, alpha], [prompt, 1], [alpha + 2, steps + 1], chunk), "fcfs", slots=2, alpha=alpha
    )
    assert run.audit.fair
    assert token_audit(run, chunk).max_gap == alpha + prompt - steps
    endless, short = tokens_after(chunk * 40, chunk), tokens_after(1, chunk)
    for since in range(20):
        assert endless[since + alpha] - short[since] == chunk * alpha + (chunk - 1) * since


# what it refuses and what is said


def test_refusals() -> None:
    run = example()
    workload = run.requests
    assert workload is not None
    assert refusal(lambda: token_audit(run, 0)) == "chunk=0: must be a whole number of tokens >= 1"
    assert refusal(lambda: token_audit(replace(run, batches=None), 4)) == (
        "batches: an audit in tokens needs record_batches=True and no sink"
    )
    for unknown in (replace(workload, prompt_tokens=None), replace(workload, prompt_steps=None)):
        assert refusal(partial(token_audit, replace(run, requests=unknown), 4)) == (
            "prompt_tokens, prompt_steps: must both be known to count progress in tokens"
        )
    assert refusal(lambda: token_audit(run, 3)) == (
        "prompt_steps[1]=3: must be the chunks of 3 tokens in a prompt of 12"
    )


def test_the_summary_holds_both_audits() -> None:
    run = example()
    assert summarize(run).to_dict()["fairness_in_tokens"] is None
    both = summarize(run, prefill_chunk=4).to_dict()
    assert both["fairness"]["violation_steps"] == 0
    assert both["fairness_in_tokens"] == {
        "fair": False,
        "alpha": 3,
        "max_gap": 8,
        "violations": 0,
        "violation_steps": 3,
        "first_violation": {
            "time": 3.0,
            "step": 3,
            "request": 0,
            "slot": 0,
            "other": 1,
            "other_slot": 1,
            "gap": 5,
        },
    }


def test_what_is_said_in_a_line() -> None:
    run = example()
    assert token_audit_text(run, token_audit(run, 4)) == (
        "fcfs breaks alpha = 3 in tokens in 0 of 2 admissions and 3 of 7 steps; first at step 3, time 3, "
        "when request 1 in slot 1 is 5 ahead of request 0 in slot 0"
    )
    wide = example(alpha=8)
    assert token_audit_text(wide, token_audit(wide, 4)) == (
        "fcfs keeps alpha = 8 in tokens: the largest gap is 8"
    )
