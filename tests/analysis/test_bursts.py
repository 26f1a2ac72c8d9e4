"""Bursts: where they begin and end, and what a policy did in each."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from refusal import refusal

from analysis.bursts import burst_outcomes, find_bursts, presence
from analysis.latency import served_requests
from policies import FCFS, LJF
from serving_sim import Workload, simulate

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "bursts.py"

# Two slots. Under ljf requests 0 and 1 run alone and 2, released at 1, waits for both to finish: a slot is
# free from 2 to 4. Request 3 is a burst of its own.
WORKLOAD = Workload([0.0, 0.0, 1.0, 20.0], [4, 2, 3, 1])


def test_a_burst_ends_where_the_silence_is_longer() -> None:
    release = np.array([0.0, 5.0, 10.0, 15.1, 15.1])
    assert [rows.tolist() for rows in find_bursts(release, quiet=5.0)] == [[0, 1, 2], [3, 4]]
    assert [rows.tolist() for rows in find_bursts(release, quiet=9.0)] == [[0, 1, 2, 3, 4]]


def test_presence_by_hand() -> None:
    instants, waiting, active = presence(served_requests(simulate(WORKLOAD, LJF(), slots=2)))
    assert instants.tolist() == [0, 1, 2, 4, 7, 20, 21]
    assert waiting.tolist() == [0, 1, 1, 0, 0, 0, 0]
    assert active.tolist() == [2, 2, 1, 1, 0, 1, 0]


def test_outcomes_by_hand() -> None:
    first, second = burst_outcomes(simulate(WORKLOAD, LJF(), slots=2), quiet=10.0)
    assert (first.first, first.last, first.requests, first.most_waiting) == (0.0, 1.0, 3, 1)
    assert first.drained == 6.0
    assert first.mean_latency == pytest.approx((4 + 2 + 6) / 3)
    assert first.idle_while_waiting == pytest.approx(2 / (2 * 7))  # one of two slots for 2 of 7
    assert (second.requests, second.drained, second.idle_while_waiting) == (1, 1.0, 0.0)


def test_first_come_first_served_holds_nothing_back_but_the_step_under_way() -> None:
    rng = np.random.default_rng(2)
    workload = Workload(np.sort(rng.integers(0, 300, 400)), rng.integers(1, 40, 400))
    (only,) = burst_outcomes(simulate(workload, FCFS(), slots=4), quiet=1e9)
    assert only.idle_while_waiting == 0.0
    assert only.requests == 400


def test_unsorted_releases_are_refused() -> None:
    run = simulate(Workload([3.0, 0.0], [1, 1]), FCFS(), slots=1)
    assert refusal(lambda: burst_outcomes(run, 1.0)) == (
        "release: must be sorted, so that bursts are rows that follow each other"
    )


@pytest.fixture
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bursts_example", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["bursts_example"] = module
    spec.loader.exec_module(module)
    return module


def test_the_example_prints_bursts_and_draws_one(
    example: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(3)
    log = tmp_path / "log.csv"
    seconds = np.concatenate([rng.uniform(0, 5, 30), rng.uniform(100, 105, 40)])
    rows = [f"{second:.3f},{rng.integers(1, 3000)},{rng.integers(1, 90)}" for second in np.sort(seconds)]
    log.write_text("\n".join(["arrival_s,input_tokens,output_tokens", *rows, ""]), encoding="utf-8")
    example.main([str(log), "--slots", "4", "--alpha", "20", "--at", "101", "--out", str(tmp_path / "out")])
    out = capsys.readouterr().out
    assert out.count("2 bursts") == 2
    assert [line.split()[2] for line in out.splitlines() if "%" in line] == ["30", "40"] * 2
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["burst.png", "burst.svg"]


def test_the_burst_of_the_page(shared: Path, example: ModuleType) -> None:
    """The numbers that docs/how-to/your-own-trace.md tells of the burst with 67 requests in a second."""
    given = example._parser().parse_args([str(shared / "traces/azure2023/AzureLLMInferenceTrace_code.csv")])
    workload, _ = example.read_requests(given.log, time_unit=given.time_unit)
    workload, _ = example.shape(
        workload, [example.ContextLimit(given.limit, "cap"), example.PromptChunks(given.chunk)], seed=0
    )
    outcomes = example._served(workload, given.slots, given.alpha)
    found = [
        next(
            burst
            for burst in burst_outcomes(outcome.runs[0], given.quiet / given.time_unit)
            if burst.first * given.time_unit > 840
        )
        for outcome in outcomes
    ]
    assert [burst.requests for burst in found] == [819, 819]
    assert [burst.most_waiting for burst in found] == [141, 290]
    assert [round(burst.mean_latency * given.time_unit, 1) for burst in found] == [2.5, 11.2]
    assert [outcome.runs[0].max_gap for outcome in outcomes] == [1832, 64]
