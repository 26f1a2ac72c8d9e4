"""The cost decomposition and its comparisons, exact."""

from __future__ import annotations

import numpy as np
import pytest
from effort import instances
from hypothesis import given
from hypothesis import strategies as st

from analysis.economics import (
    CostModel,
    Tariff,
    alpha_for_cost_share,
    break_even,
    costs,
    guaranteed_difference,
    linear_revenue,
    profit_difference,
    profit_guarantee,
    revenue,
)
from analysis.externality import LengthClass, by_length_class, externality_shares, request_shares
from analysis.optimum import optimum
from policies import FCFS, ISJL, LJF, SJF
from serving_sim import Policy, Run, Workload, simulate
from workloads.adversaries import long_then_short

MODEL = CostModel(c=0.0005, tau=1e-6)


def served(policy: Policy, lengths: list[int], slots: int, releases: list[float] | None = None) -> Run:
    workload = Workload([0.0] * len(lengths) if releases is None else releases, lengths)
    return simulate(workload, policy, slots=slots, record_batches=True)


def test_the_decomposition_of_a_hand_checked_run() -> None:
    # 3 and 1 start together, 2 follows at 1: (r max, batch) = (1, 2), (2, 2), (3, 2)
    run = served(FCFS(), [3, 1, 2], 2)
    split = costs(run, CostModel(c=10.0, tau=0.5))
    assert (split.intrinsic, split.steps, split.externality) == (6 + 1 + 3, 3, 2)
    assert split.total == 10 * 3 + 0.5 * (2 * 1 + 2 * 2 + 2 * 3)
    assert split.total == split.intrinsic_cost + split.time_cost + split.externality_cost
    assert split.profit(linear_revenue(split.tokens, 7.0)) == 42.0 - 36.0


@pytest.mark.parametrize("length", range(1, 501))
def test_fcfs_loses_to_static_batching_by_the_stated_amount(length: int) -> None:
    # proposition 5.4, equations 15 to 17
    workload = long_then_short(length).workload
    fcfs = costs(simulate(workload, FCFS(), slots=2), MODEL)
    ljf = costs(simulate(workload, LJF(), slots=2), MODEL)
    half = -(-(length - 1) // 2)
    assert (fcfs.steps, fcfs.externality) == (length, length * (length - 1) // 2)
    assert (ljf.steps, ljf.externality) == (length + half, 0)
    stated = MODEL.tau * length * (length - 1) / 2 - MODEL.c * half
    assert profit_difference(ljf, fcfs) == pytest.approx(stated, rel=1e-12, abs=1e-15)


@given(
    lengths=st.lists(st.integers(1, 40), min_size=1, max_size=25),
    gaps=st.lists(st.integers(0, 25), min_size=25, max_size=25),
    slots=st.integers(1, 6),
    alpha=st.integers(0, 20),
)
def test_the_identity_holds_in_integers(
    *, lengths: list[int], gaps: list[int], slots: int, alpha: int
) -> None:
    # theorem 5.1 and equation 12 with c = 7 and tau = 3; the steps are priced one by one (equation 3)
    releases = np.cumsum(gaps[: len(lengths)]).astype(float).tolist()
    parts = []
    for policy in (FCFS(), SJF(), LJF(), ISJL(alpha)):
        run = served(policy, lengths, slots, releases)
        spans = run.batches
        assert spans is not None
        rows = zip(spans.active.tolist(), spans.max_progress.tolist(), spans.steps.tolist(), strict=True)
        priced = sum(
            7 + 3 * active * (oldest + step) for active, oldest, k in rows for step in range(1, k + 1)
        )
        assert priced == 3 * run.intrinsic + 7 * run.steps + 3 * run.externality
        assert run.intrinsic == sum(o * (o + 1) // 2 for o in lengths)
        parts.append((priced, run.steps, run.externality))
    for price, steps, externality in parts:
        other_price, other_steps, other_externality = parts[-1]
        assert other_price - price == 7 * (other_steps - steps) + 3 * (other_externality - externality)
        assert other_externality <= alpha * sum(lengths)


def test_random_runs_add_up_exactly() -> None:
    # four policies each; theorem 5.1 and equations 8, 12 to 14 with c = 7, tau = 3, whole numbers throughout
    rng = np.random.default_rng(5)
    whole = CostModel(c=7.0, tau=3.0)
    for _ in range(instances(1500)):
        count, slots, alpha = (int(rng.integers(1, most, endpoint=True)) for most in (8, 4, 20))
        lengths = rng.integers(1, 30, count, endpoint=True)
        workload = Workload(np.cumsum(rng.integers(0, 12, count)), lengths)
        runs = [
            simulate(workload, policy, slots=slots, record_batches=True)
            for policy in (FCFS(), SJF(), LJF(), ISJL(alpha))
        ]
        parts = [costs(run, whole) for run in runs]
        for run, part in zip(runs, parts, strict=True):
            assert price_by_step(run, c=7, tau=3) == part.total
            assert profit_difference(parts[-1], part) == part.total - parts[-1].total
            assert guaranteed_difference(parts[-1], part, alpha) <= profit_difference(parts[-1], part)
        assert parts[2].externality == 0
        assert parts[-1].externality <= alpha * parts[-1].tokens


def price_by_step(run: Run, c: int, tau: int) -> int:
    """The cost of a run from its batches, span by span (equation 3)."""
    batches = run.batches
    assert batches is not None
    columns = (batches.active.tolist(), batches.max_progress.tolist(), batches.steps.tolist())
    # the longest cache grows by a token a step: a sum of k consecutive numbers
    return sum(
        c * k + tau * active * (k * oldest + k * (k + 1) // 2)
        for active, oldest, k in zip(*columns, strict=True)
    )


@given(
    lengths=st.lists(st.integers(1, 30), min_size=1, max_size=20),
    slots=st.integers(1, 5),
    alpha=st.integers(0, 20),
)
def test_comparisons_and_bounds_hold_for_fair_runs(*, lengths: list[int], slots: int, alpha: int) -> None:
    fair = costs(served(ISJL(alpha), lengths, slots), MODEL)
    static = costs(served(LJF(), lengths, slots), MODEL)
    fcfs = costs(served(FCFS(), lengths, slots), MODEL)
    assert fair.externality <= alpha * fair.tokens  # equation 8
    assert static.externality == 0
    price = linear_revenue(fair.tokens, 1 / 500)
    for other in (static, fcfs):
        assert profit_difference(fair, other) == pytest.approx(
            fair.profit(price) - other.profit(price), rel=1e-9, abs=1e-12
        )
        assert guaranteed_difference(fair, other, alpha) <= profit_difference(fair, other) + 1e-15
    balance = break_even(fair, static)
    if balance is not None:
        at_balance = CostModel(c=balance, tau=MODEL.tau)
        even = profit_difference(
            costs(served(ISJL(alpha), lengths, slots), at_balance),
            costs(served(LJF(), lengths, slots), at_balance),
        )
        assert even == pytest.approx(0.0, abs=1e-12)


def test_the_profit_guarantee_holds_against_the_best_schedule() -> None:
    lengths, slots, alpha = [10, 7, 7, 5, 1], 2, 4
    run = served(ISJL(alpha), lengths, slots)
    best = optimum(lengths, slots, alpha)
    loss = profit_guarantee(best.upper, alpha, sum(lengths), MODEL, ratio=best.lower / run.steps)
    # the most profitable fair schedule costs at least c T_OPT + tau Q
    floor = MODEL.c * best.lower + MODEL.tau * costs(run, MODEL).intrinsic
    assert costs(run, MODEL).total - floor <= loss + 1e-15


def test_prices_of_input_output_and_cached_tokens() -> None:
    workload = Workload([0, 0], [30, 50], prompt_tokens=[20, 10], output_tokens=[10, 40])
    tariff = Tariff(input=2.0, output=8.0, cached=0.5)
    assert revenue(workload, tariff) == pytest.approx((30 * 2 + 50 * 8) / 1e6)
    assert revenue(workload, tariff, np.array([15, 0])) == pytest.approx((15 * 2 + 15 * 0.5 + 400) / 1e6)
    assert revenue(workload, Tariff.flat(1 / 500)) == pytest.approx(linear_revenue(80, 1 / 500))
    with pytest.raises(ValueError, match=r"^prompt_tokens: separate prices need prompt and output tokens"):
        revenue(Workload([0], [3]), tariff)


def test_alpha_for_a_share_of_the_intrinsic_cost() -> None:
    workload = Workload([0, 0], [3, 5])
    assert alpha_for_cost_share(workload, 0.5) == 0.5 * 21 / 8


@pytest.mark.parametrize(("c", "tau"), [(-1.0, 1.0), (float("nan"), 1.0), (0.0, 0.0), (0.0, float("inf"))])
def test_costs_are_checked(c: float, tau: float) -> None:
    with pytest.raises(ValueError, match=r"^(c|tau)=.*: must be a (finite number >= 0|positive number)$"):
        CostModel(c, tau)


def shares_step_by_step(run: Run) -> tuple[list[int], list[int]]:
    """Slow: every step, every active request, from starts and finishes in whole steps."""
    assert run.requests is not None
    start = run.start.astype(int).tolist()
    finish = run.finish.astype(int).tolist()
    suffered, caused = [0] * len(start), [0] * len(start)
    for step in range(max(finish)):
        active = [i for i in range(len(start)) if start[i] <= step < finish[i]]
        if not active:
            continue
        leader = min(active, key=lambda i: (start[i], i))
        for i in active:
            suffered[i] += start[i] - start[leader]
            caused[leader] += start[i] - start[leader]
    return suffered, caused


@given(
    lengths=st.lists(st.integers(1, 15), min_size=1, max_size=15),
    gaps=st.lists(st.integers(0, 9), min_size=15, max_size=15),
    slots=st.integers(1, 4),
)
def test_shares_agree_with_a_step_by_step_count(*, lengths: list[int], gaps: list[int], slots: int) -> None:
    releases = np.cumsum(gaps[: len(lengths)]).astype(float).tolist()
    for policy in (SJF(), ISJL(alpha=4)):
        run = served(policy, lengths, slots, releases)
        shares = externality_shares(run)
        suffered, caused = shares_step_by_step(run)
        assert shares.suffered.tolist() == suffered
        assert shares.caused.tolist() == caused
        assert shares.suffered.sum() == shares.caused.sum() == run.externality


def test_short_requests_suffer_what_long_ones_cause() -> None:
    run = simulate(long_then_short(50).workload, FCFS(), slots=2, record_batches=True)
    table = by_length_class(request_shares(run), classes=[0, 1, 50])
    paid = 50 * 49 // 2
    assert table == [
        LengthClass(1, 1, 50, tokens=50, intrinsic=50, steps=25.0, suffered=paid, caused=0),
        LengthClass(50, 50, 1, tokens=50, intrinsic=50 * 51 // 2, steps=25.0, suffered=0, caused=paid),
    ]
    with pytest.raises(ValueError, match=r"^batches: shares of the cost need record_batches=True"):
        externality_shares(simulate(Workload([0], [1]), FCFS(), slots=1))


def test_what_does_not_fit_64_bits_is_exact_or_refused() -> None:
    huge = Workload([0] * 4, [2**62] * 4, prompt_tokens=[2**62] * 4, output_tokens=[0] * 4)
    assert revenue(huge, Tariff(input=1e6, output=0.0)) == pytest.approx(2.0**64)
    run = served(FCFS(), [2**33, 2**33, 2**32, 2**33, 5, 2**33], 2)
    with pytest.raises(ValueError, match=r"^steps=\d+: too many to split the externality in 64 bits$"):
        externality_shares(run)
