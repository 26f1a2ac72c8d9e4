"""What the benchmarks count, which no machine changes, and that all they race serve the same queue."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from policies import FCFS, ISJL
from serving_sim import Policy, Workload, simulate

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"
SLOTS = 32
COUNT = 2_000


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Imports a script of the benchmarks by its name."""
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module


@pytest.fixture
def contenders(scripts: Callable[[str], ModuleType]) -> ModuleType:
    return scripts("contenders")


@pytest.fixture
def queue(scripts: Callable[[str], ModuleType]) -> Workload:
    """Load 1.2: most requests wait."""
    workload: Workload = scripts("engine").workload(COUNT, 1.2)
    return workload


@pytest.mark.parametrize(
    ("policy", "events", "epochs", "decisions"),
    [(FCFS(), 1791, 1794, 1791), (ISJL(alpha=100), 1114, 1116, 556)],
    ids=lambda value: getattr(value, "name", None),
)
def test_events_of_the_engine(
    queue: Workload, policy: Policy, events: int, epochs: int, decisions: int
) -> None:
    run = simulate(queue, policy, slots=SLOTS, engine="simpy")
    assert (run.totals.events, run.totals.epochs, run.totals.decisions) == (events, epochs, decisions)


def test_turns_of_the_bare_loop(queue: Workload, contenders: ModuleType) -> None:
    assert contenders.bare_loop(queue.release.tolist(), queue.length.tolist(), SLOTS).turns == 1838


def test_events_of_plain_simpy(queue: Workload, contenders: ModuleType) -> None:
    _, events = contenders.plain_simpy(queue.release.tolist(), queue.length.tolist(), SLOTS)
    assert events == 6 * COUNT


def test_bare_loop_and_event_list_are_the_engine(
    queue: Workload, contenders: ModuleType, scripts: Callable[[str], ModuleType]
) -> None:
    pytest.importorskip("numba", reason="the compiled engine is an optional extra")
    run = simulate(queue, FCFS(), slots=SLOTS, engine="simpy")
    bare = contenders.bare_loop(queue.release.tolist(), queue.length.tolist(), SLOTS)
    listed = scripts("event_list").event_list(queue.release, queue.length, SLOTS)
    for own, by_hand, compiled in zip((run.start, run.finish, run.slot), bare[:3], listed, strict=True):
        np.testing.assert_array_equal(by_hand, own)
        np.testing.assert_array_equal(compiled, own)


def test_plain_simpy_and_ciw_serve_the_same_queue(queue: Workload, contenders: ModuleType) -> None:
    pytest.importorskip("ciw", reason="a peer the benchmarks race, no dependency")
    release, length = queue.release.tolist(), queue.length.tolist()
    finish, _ = contenders.plain_simpy(release, length, SLOTS)
    np.testing.assert_allclose(contenders.ciw_queue(release, length, SLOTS), finish, rtol=1e-9)


def test_the_report_measured_is_a_whole_one(scripts: Callable[[str], ModuleType]) -> None:
    found = scripts("report").measure(300, "simpy")
    assert found.engine == "simpy"
    assert 100_000 < found.size < 5_000_000
    assert found.runs > 0
    assert found.probes > 0


def test_medians_of_half_a_day_hold_no_value_of_the_long_run(
    scripts: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("numba", reason="the compiled engine is an optional extra")
    script = scripts("periodic_coverage")
    monkeypatch.setattr(script, "LONG", 40_000)
    few = ["--requests", "4000", "--periods", "0.5", "--runs", "6", "--replications", "3", "--long-runs", "2"]
    monkeypatch.setattr("sys.argv", ["periodic_coverage.py", *few])
    assert script.main() == 0
    *_, row = capsys.readouterr().out.splitlines()
    _, periods, _, one, alone, several, together, _ = (cell.strip() for cell in row.split("|"))
    assert (periods, one, several, together) == ("0.5", "no", "no", "0 of 2")
    assert alone.startswith("0 of")
