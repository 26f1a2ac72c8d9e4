"""The simulator against queueing theory, on shorter runs than the documentation shows."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import serving_sim
from analysis.cli import main
from analysis.experiments import validation
from analysis.experiments.reproduce.task import Rows, Task
from analysis.experiments.validation import (
    CHAPTERS,
    Settings,
    erlang,
    identity,
    independent,
    insensitivity,
    priorities,
    runner,
    system,
    waiting,
)
from analysis.experiments.validation.chapter import Chapter
from analysis.experiments.validation.check import Check, estimated
from analysis.experiments.validation.little import little_check, little_distance
from policies import FCFS
from serving_sim import Workload, simulate

SETTINGS = Settings(
    replications=12,
    requests=100_000,
    identity_requests=100_000,
    other_requests=1_000,
    loads=(0.8,),
)
TINY = Settings(replications=2, requests=2_000, identity_requests=2_000, other_requests=200, loads=(0.5,))


def run(task: Task) -> list[Check]:
    return [Check.from_row(row) for row in task.work(**task.arguments)]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.name)
def test_theory_is_met(chapter: Chapter) -> None:
    pytest.importorskip("numba")  # without it these runs take minutes
    if chapter.absent():
        pytest.skip(str(chapter.absent()))
    checks = [check for task in chapter.tasks(SETTINGS) for check in run(task)]
    assert len(checks) >= 4
    assert [check for check in checks if not check.met] == []


@pytest.fixture
def unslotted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A simulator that answers for another system: an empty worker starts at once."""

    def simulate(*arguments: Any, **others: Any) -> serving_sim.Run:  # noqa: ANN401
        return serving_sim.simulate(*arguments, **{**others, "slotted": False})

    monkeypatch.setattr(system, "simulate", simulate)


@pytest.mark.usefixtures("unslotted")
def test_the_recursion_finds_out_a_wrong_simulator() -> None:
    for task in identity.tasks(TINY):
        starts, little = run(task)
        assert starts.found > 100
        assert not starts.met
        assert little.met  # it holds in any system


@pytest.mark.usefixtures("unslotted")
def test_exact_means_find_out_a_wrong_simulator() -> None:
    """Half a step less to wait at one slot."""
    settings = Settings(replications=10, requests=10_000)
    failed = {check.quantity for check in run(waiting.tasks(settings)[0]) if not check.met}
    assert {"mean wait (steps)", "mean latency (steps)"} <= failed


def test_a_check_by_hand() -> None:
    check = estimated("system", "number", [1.0, 2.0, 3.0], expected=6.0)
    assert check.error == pytest.approx(1 / 3**0.5)
    assert check.deviation == pytest.approx(-4 * 3**0.5)
    assert not check.met
    assert estimated("system", "number", [1.0, 2.0, 3.0], expected=4.3).met
    assert Check("system", "number", 3.0, 3.0).met
    assert not Check("system", "number", 3.0, 3.1, rounding=0.01).met


def test_little_by_hand() -> None:
    assert little_distance(simulate(Workload([0.0, 0.5, 7.25], [3, 2, 4]), FCFS(), slots=1)) < 1e-15


def test_systems_share_no_random_numbers() -> None:
    one, other = waiting.SYSTEMS[:2]
    assert one.seeds(1).generate_state(1) != other.seeds(1).generate_state(1)
    assert one.seeds(1).generate_state(1) != one.seeds(2).generate_state(1)


def test_without_ciw_its_chapter_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(independent, "find_spec", lambda _: None)
    assert independent.CHAPTER.tasks(TINY) == []
    assert independent.CHAPTER.absent() == "Left out: Ciw is not installed, the extra 'test' brings it."


def noted(found: float, notes: str) -> Rows:
    with Path(notes).open("a", encoding="utf-8") as file:
        file.write(".")
    return [Check("one", "number", found, 1.25, 0.125).to_row(), little_check("one", [0.0]).to_row()]


def small(found: float, notes: Path, _: Settings) -> list[Task]:
    return [Task("small/one", noted, {"found": found, "notes": str(notes)})]


def test_command_keeps_what_is_done_and_writes_its_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = tmp_path / "notes"
    chapter = Chapter("small", "A small chapter", "What is small.", partial(small, 1.5, notes))
    missing = Chapter("missing", "Not here", "What is not here.", lambda _: [], lambda: "Left out: no tool.")
    monkeypatch.setattr(runner, "CHAPTERS", (chapter, missing))
    page = tmp_path / "docs" / "explanation" / "validation.md"
    words = ["validate", "--quick", "--jobs", "1", "--out", str(tmp_path / "out"), "--markdown", str(page)]
    assert main(words) == 0
    first = capsys.readouterr()
    assert first.out.splitlines()[1:4] == [
        "system  quantity  simulated  standard error  expected  distance  verdict",
        "one       number        1.5            0.12      1.25     +2.00   agrees",
        "",
    ]
    assert "A small chapter: 1 of 1 numbers agree with theory." in first.out
    assert "Little's law: 1 of 1 systems keep it." in first.out
    assert "Not here: Left out: no tool." in first.out
    assert main(words) == 0
    assert notes.read_text(encoding="utf-8") == "."
    row, law = pd.read_csv(tmp_path / "out" / "validation.csv").to_dict("records")
    assert (row["chapter"], row["deviation"], row["met"]) == ("small", 2.0, True)
    assert (law["chapter"], law["quantity"]) == ("little", "L / (lambda W) - 1, largest of 1 run")
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "A small chapter" in report
    assert "Left out: no tool." in report
    text = page.read_text(encoding="utf-8")
    assert "**1 of 1 numbers agree with theory.**" in text  # an identity is none of them
    assert "| one | number | 1.5 | 0.12 | 1.25 | +2.00 | agrees |" in text
    assert (tmp_path / "docs" / "assets" / "validation" / "deviations.svg").exists()
    assert (
        json.loads((tmp_path / "out" / "kept" / "small" / "one.json").read_text(encoding="utf-8"))["rows"][0][
            "found"
        ]
        == 1.5
    )


def test_command_fails_where_theory_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chapter = Chapter("small", "A small chapter", "What is small.", partial(small, 2.5, tmp_path / "notes"))
    monkeypatch.setattr(runner, "CHAPTERS", (chapter,))
    assert main(["validate", "--jobs", "1", "--out", str(tmp_path / "out")]) == 1
    assert "DIFFERS" in capsys.readouterr().out


def test_quick_and_full_differ_in_size_alone() -> None:
    quick, full = validation.quick(3), validation.full(3)
    assert (quick.seed, full.seed) == (3, 3)
    assert full.identity_requests == 1_000_000
    assert quick.requests < full.requests


def test_the_page_of_the_documentation_shows_every_system_as_it_is_now() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/explanation/validation.md").read_text(
        encoding="utf-8"
    )
    assert "DIFFERS" not in page
    modules = (waiting, identity, erlang, priorities, insensitivity, independent)
    assert [
        each.name for module in modules for each in module.SYSTEMS if f"| {each.name} |" not in page
    ] == []
