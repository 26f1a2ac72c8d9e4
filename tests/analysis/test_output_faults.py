"""A full disk, a folder that vanishes or may not be written to: commands that write say so in a line."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import Command

from analysis.study import Store, read_study
from analysis.study.measure import attempt
from workloads import whole_file

resource = pytest.importorskip("resource", reason="no limits for the size of files")

GRID = """
policy = "fcfs"
slots = 2
load = [0.5, 0.7]
lengths = "uniform:low=1,high=9"
num-prompts = 40
"""
WRITING = {
    "run": "run --policy fcfs --num-prompts 300 --quiet --out out",
    "run --csv": "run --policy fcfs --num-prompts 300 --quiet --csv --timeline --record-batches --out out",
    "compare": "compare --policy fcfs --policy sjf --num-prompts 60 --quiet --out out",
    "capacity": "capacity --policy fcfs --slots 2 --loads 0.5 --jobs 1 --quiet --out out",
    "calibrate": "calibrate log.csv --slots 2 --alpha 5 --jobs 1 --quiet --out out",
    "reproduce": "reproduce table2 --sets 2 --replications 2 --jobs 1 --quiet --out out",
    "claims": "claims --quiet --out out",
    "validate": "validate --jobs 1 --quiet --out out",
    "study export": "study export grid.toml --quiet --out out/table.csv",
    "study plot": "study plot grid.toml --metrics e2el --quiet --out out",
    "make": "workload make --num-prompts 600 --quiet --out out/made.csv",
    "convert": "workload convert log.csv --quiet --out out/again.jsonl",
    "fit": "workload fit log.csv --quiet --out out/fitted.toml",
    "inspect": "workload inspect --requests log.csv --quiet --out out",
    "steptime fit": "steptime fit steps.csv --quiet --out out",
}
QUICK = set(WRITING) - {"capacity", "claims", "validate", "study plot", "compare"}
"""Commands that soon come to their first file; the others write by the same functions."""

_LITTLE = 100
"""Bytes of a file on a disk that is full."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the commands read."""
    home = tmp_path_factory.mktemp("faults")
    (home / "grid.toml").write_text(GRID, encoding="utf-8")
    rows = (f"{row},{1 + row % 97}\n" for row in range(200))
    (home / "log.csv").write_text("release,length\n" + "".join(rows), encoding="utf-8")
    steps = (f"{size},{most},{size * most},{size + most / 7}\n" for size in range(1, 9) for most in (50, 90))
    (home / "steps.csv").write_text(
        "batch_size,max_kv_tokens,sum_kv_tokens,milliseconds\n" + "".join(steps), encoding="utf-8"
    )
    study = read_study(home / "grid.toml")
    with Store(study.store_path) as store:
        for cell in study.cells:
            store.keep(cell, attempt(cell, cell.digest))
    return home


@pytest.fixture(autouse=True)
def _in_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(folder)
    yield
    shutil.rmtree("out", ignore_errors=True)


@contextmanager
def full_disk(largest: int) -> Iterator[None]:
    """No file of this process may grow beyond so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def complaint(words: str, command: Command) -> str:
    """The one line with which a command ends that cannot write below ``out``."""
    code, out, err = command(words)
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert line.startswith("serving-sim: error: out/")
    return line


@pytest.mark.parametrize("name", sorted(QUICK))
def test_a_full_disk(name: str, command: Command) -> None:
    if name.startswith("study"):
        pytest.skip("the store beside the study needs the disk as well: the next test")
    with full_disk(_LITTLE):
        line = complaint(WRITING[name], command)
    assert line.endswith("File too large")
    assert [path for path in Path("out").rglob("*.*") if path.stat().st_size >= _LITTLE] == []
    assert list(Path("out").rglob("*.part")) == []


def test_a_disk_that_is_full_for_the_store_of_a_study(command: Command) -> None:
    Path("full.toml").write_text(GRID.replace("0.5, 0.7", "0.1, 0.2, 0.3, 0.4, 0.5, 0.6"), encoding="utf-8")
    with full_disk(40_000):  # the store and its log begin, and the rows of some cells do not fit
        code, _, err = command("study full.toml --jobs 1 --quiet")
    assert code == 2
    assert err.startswith("serving-sim: error: full.sqlite: ")
    assert len(err.splitlines()) == 1
    assert command("study full.toml --jobs 1 --quiet") == (0, "", "")


@pytest.mark.parametrize("name", sorted(QUICK))
def test_a_folder_that_vanishes(name: str, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    claimed = whole_file._claimed

    @contextmanager
    def vanishing(temporary: Path) -> Iterator[None]:
        with claimed(temporary):
            shutil.rmtree("out")
            yield

    monkeypatch.setattr(whole_file, "_claimed", vanishing)
    assert "o such file or directory" in complaint(WRITING[name], command)
    assert not Path("out").exists()


@pytest.mark.parametrize("name", WRITING)
def test_a_folder_that_may_not_be_written_to_is_refused_before_the_work(
    name: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK and may(path, mode))
    code, out, err = command(WRITING[name])
    assert (code, out) == (2, "")
    assert err.startswith("serving-sim: error: invalid value for '--out': ")
    assert err.endswith(" may not be written to\n")
    assert not Path("out").exists()
