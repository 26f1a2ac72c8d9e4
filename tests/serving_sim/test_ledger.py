"""The columns of a run: how they grow, and that work on their parts is work on the whole."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

from policies import FCFS
from serving_sim import StepTime, Workload, simulate
from serving_sim import ledger as ledgers
from serving_sim.ledger import Ledger


@pytest.mark.parametrize("column", ["length", "start", "slot", "lower"])
def test_columns_double_so_that_a_request_costs_the_same_however_many_there_were(column: str) -> None:
    ledger = Ledger("length", StepTime(), None)
    rooms = []
    for request in range(100):
        assert ledger.append(Workload([request], [1])) == request
        rooms.append(len(ledger.view(column)))
    assert sorted(set(rooms)) == [1, 2, 4, 8, 16, 32, 64, 128]
    assert rooms == sorted(rooms)
    assert all(room > request for request, room in enumerate(rooms))


@pytest.mark.parametrize("part", [1, 3, 8, 9])
def test_residence_and_first_tokens_are_those_of_all_parts(
    part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledgers, "_PART", part)
    workload = Workload([0, 1, 2, 3, 4, 5, 6, 7], [4] * 8, prompt_tokens=[2] * 8, output_tokens=[2] * 8)
    run = simulate(workload, FCFS(), slots=4)
    assert run.totals.residence == 4.0 * 8
    assert run.first_token.tolist() == [3, 4, 5, 6, 7, 8, 9, 10]


@pytest.mark.parametrize(
    ("step_time", "bytes_a_row"), [(StepTime(), 0), (StepTime(base=1.0, per_token=0.1), 8)]
)
def test_first_tokens_take_memory_only_where_the_worker_dates_them(
    step_time: StepTime, bytes_a_row: int
) -> None:
    ledger = Ledger("length", step_time, None)
    ledger.append(Workload([0, 1, 2], [1, 1, 1]))
    assert ledger.view("first_token").strides == (bytes_a_row,)


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
@pytest.mark.parametrize("step_time", [StepTime(), StepTime(base=1.0, per_token=0.25)])
def test_a_request_that_makes_no_output_token_has_no_first_one(
    engine: Literal["simpy", "compiled"], step_time: StepTime
) -> None:
    if engine == "compiled":
        pytest.importorskip("numba", reason="the compiled engine is an optional extra")
    silent = Workload([0, 0, 100], [3, 4, 3], prompt_tokens=[3, 3, 3], output_tokens=[0, 1, 0])
    run = simulate(silent, FCFS(), slots=2, step_time=step_time, engine=engine)
    assert np.isnan(run.first_token).tolist() == [True, False, True]
    assert run.first_token[1] == run.finish[1]
    unknown = simulate(Workload([0], [3], prompt_tokens=[3]), FCFS(), slots=2, engine=engine)
    assert unknown.first_token.tolist() == [1.0]  # nobody said that it makes none
