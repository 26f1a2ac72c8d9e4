"""The compiled engine and the SimPy engine on random cases: every bit of a run must agree."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from effort import instances
from engines_agree import check_same, check_same_streamed
from hypothesis import given
from hypothesis import strategies as st
from oracle import Case, Pace
from streams import Blocks, cut

pytest.importorskip("numba", reason="the compiled engine is an optional extra")

from policies import LPT
from serving_sim import Workload, simulate
from serving_sim.compiled import run
from serving_sim.compiled.jit import Words
from serving_sim.compiled.queue import SizeQueue, with_room

POLICIES = ("fcfs", "sjf", "lpt", "ljf", "fair-fcfs", "fair-sjf", "fair-lpt", "isjl", "isjl", "robust-isjl")
PACES = (
    Pace(1.0),
    Pace(0.1),
    Pace(0.03),
    Pace(2.0, 0.25, 0.5),
    Pace(0.1, 0.01),
    Pace(0.03, 0.0, 0.007),
    Pace(0.0, 0.1, 0.003, 0.0007),
    Pace(0.0, 0.0, 0.0, 0.25),
)


class Draw:
    """One source of choices for two drivers: hypothesis, which shrinks, and a fast generator."""

    def __init__(self, below: Callable[[int], int]) -> None:
        self.below = below

    def between(self, low: int, high: int) -> int:
        return low + self.below(high - low + 1)

    def one_of(self, options: tuple[Any, ...]) -> Any:  # noqa: ANN401
        return options[self.below(len(options))]


def small_case(draw: Draw) -> Case:
    """Lengths around the budget, releases that tie with each other and with step ends, or a backlog."""
    policy = draw.one_of(POLICIES)
    alpha = draw.between(0, 12)
    count = draw.between(1, 24)
    most = draw.one_of((max(1, alpha), 2 * alpha + 1, 3 * alpha + 8, 80))
    length = tuple(draw.between(1, most) for _ in range(count))
    pace = draw.one_of(PACES)
    tick = draw.one_of((1.0, 0.25, 0.07, math.sqrt(2))) * (pace.base or 0.1)
    last = draw.one_of((0, 0, 3, 40, 200))
    return Case(
        policy=policy,
        slots=draw.one_of((1, 2, 3, 4, 6, 70)),
        release=tuple(tick * draw.between(0, last) for _ in range(count)),
        length=length,
        alpha=alpha,
        beta=draw.one_of((None, "optimal", 0, alpha // 2, 2 * alpha)) if policy == "isjl" else None,
        upper=tuple(tokens + draw.one_of((0, 0, 1, 9)) for tokens in length),
        pace=pace,
        slotted=pace == Pace(pace.base) and draw.one_of((False, False, True)),
        first_token_step=draw.one_of((None, tuple(draw.between(1, tokens) for tokens in length))),
    )


@given(st.data())
def test_engines_agree(data: st.DataObject) -> None:
    draw = Draw(lambda count: data.draw(st.integers(0, count - 1)))
    check_same(
        small_case(draw),
        information=draw.one_of(("exact", "interval")),
        record_batches=draw.one_of((False, True)),
    )


def test_engines_agree_on_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    # blocks end within an epoch, between equal releases and while a plan holds requests back
    monkeypatch.setattr(run, "FEWEST_READ", 1)
    monkeypatch.setattr(run, "MOST_LOGGED", 3)
    bits = np.random.default_rng(20_260_102).random
    draw = Draw(lambda count: int(bits() * count))
    for _ in range(instances(1_000)):
        check_same_streamed(
            small_case(draw),
            size=draw.one_of((1, 2, 3, 5, 8)),
            information=draw.one_of(("exact", "exact", "interval")),
            record_batches=draw.one_of((False, False, True)),
        )


def test_room_for_sizes_that_all_differ_costs_no_square(monkeypatch: pytest.MonkeyPatch) -> None:
    # 2**16 wait in the end: room for all of them at every 2**10 would be more than 30 times as much
    count, block = 2**16, 2**10
    made: list[int] = []

    def counted(queue: SizeQueue, size: Words) -> tuple[SizeQueue, Words]:
        longer, rank = with_room(queue, size)
        made.append(len(longer.sizes))
        return longer, rank

    monkeypatch.setattr(run, "FEWEST_READ", block)
    monkeypatch.setattr(run, "with_room", counted)
    lengths = np.random.default_rng(1).permutation(count) + count
    whole = Workload(np.arange(count) / count, lengths)
    streamed = simulate(Blocks(cut(whole, block)), LPT(), slots=4, engine="compiled")
    assert streamed.finish.tolist() == simulate(whole, LPT(), slots=4, engine="compiled").finish.tolist()
    assert block == made[0] < sum(made) <= 4 * count


def test_engines_agree_on_many_seeded_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    # the log is read after every few admissions, as it is in long runs
    monkeypatch.setattr(run, "MOST_LOGGED", 5)
    bits = np.random.default_rng(20_260_101).random
    draw = Draw(lambda count: int(bits() * count))
    for _ in range(instances(5_000)):
        check_same(
            small_case(draw),
            information=draw.one_of(("exact", "exact", "interval")),
            record_batches=draw.one_of((False, False, True)),
        )
