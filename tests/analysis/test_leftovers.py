"""A folder holds the files of one run: those of earlier runs go, files of others stay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Command

from analysis.leftovers import compared_policies, remove_runs

SERVED = "--slots 2 --alpha 4 --num-prompts 40 --quiet --out out"
RUN = f"run --policy fcfs {SERVED}"
OTHERS = ("notes.txt", "requests.txt", "replication-1/notes.txt", "replication-x/summary.json")


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def files() -> set[str]:
    return {path.relative_to("out").as_posix() for path in Path("out").rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("earlier", "later", "left"),
    [
        ("--timeline --record-batches", "", {"requests.parquet", "summary.json"}),
        ("--csv", "", {"requests.parquet", "summary.json"}),
        ("", "--csv --record-batches", {"requests.csv", "batches.csv", "summary.json"}),
        ("--replications 3 --csv", "--csv", {"requests.csv", "summary.json"}),
        (
            "--csv --record-batches",
            "--csv --replications 2",
            {
                "replications.json",
                "replication-1/requests.csv",
                "replication-1/summary.json",
                "replication-2/requests.csv",
                "replication-2/summary.json",
            },
        ),
    ],
)
def test_a_run_leaves_its_own_files_and_those_of_others(
    earlier: str, later: str, left: set[str], command: Command
) -> None:
    for name in OTHERS:
        Path("out", name).parent.mkdir(parents=True, exist_ok=True)
        Path("out", name).touch()
    for options in (earlier, later):
        assert command(f"{RUN} {options}")[::2] == (0, "")
    assert files() == left | set(OTHERS)
    assert not Path("out/replication-3").exists()  # nothing was left in it


def test_a_run_that_fails_leaves_what_stands_there(command: Command) -> None:
    assert command(f"{RUN} --timeline")[0] == 0
    before = {name: Path("out", name).read_bytes() for name in files()}
    assert command(f"{RUN} --timeline --timeline-window 1e9:2e9")[0] == 2
    assert {name: Path("out", name).read_bytes() for name in files()} == before


def test_a_comparison_leaves_its_own_policies_and_those_of_others(command: Command) -> None:
    options = f"{SERVED} --percentile-metrics"
    assert command(f"run --policy ljf {SERVED}/ljf")[0] == 0  # of its own, in the same place
    assert command(f"compare --policy fcfs --policy sjf --policy lpt {options} ttft,e2el")[0] == 0
    Path("out/lpt").rename("out/kept")
    Path("out/fcfs/notes.txt").touch()
    before = files()
    assert command(f"compare --policy sjf --policy fair-fcfs {options} e2el")[0] == 0
    gone = {name for name in before if name.startswith("ttft-")}
    assert len(gone) == 6
    gone |= {"fcfs/requests.parquet", "fcfs/summary.json"}
    new = {f"fair-fcfs-alpha-4/{name}" for name in ("requests.parquet", "summary.json")}
    assert files() == before - gone | new


def test_a_comparison_that_was_stopped_leaves_policies_that_the_next_one_knows(tmp_path: Path) -> None:
    said = {"arguments": {"policies": ["fcfs", "sjf"]}}
    for name, content in {
        "fcfs/replication-1/summary.json": said | {"policy": "fcfs"},
        "sjf/replications.json": said | {"policy": "sjf"},
        "fair-fcfs-alpha-4/summary.json": said | {"policy": "fair-fcfs:alpha=4"},
        "lpt/summary.json": {"arguments": {"policy": "lpt"}, "policy": "lpt"},
        "renamed/summary.json": said | {"policy": "fcfs"},
        "a/summary.json": [said],
        "b/summary.json": said,
        "c/summary.json": {"arguments": 1, "policy": "c"},
        "d/summary.json": said | {"policy": None},
    }.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    (tmp_path / "file").touch()
    found = [home.name for home in compared_policies(tmp_path)]
    assert found == ["fair-fcfs-alpha-4", "fcfs", "sjf"]
    remove_runs(tmp_path / "fcfs")
    assert not (tmp_path / "fcfs").exists()
    assert list(compared_policies(tmp_path / "none")) == []
