"""A study on a Dask cluster of processes, some of which are killed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import analysis
from analysis.cli import main
from analysis.study import Cell, Store, read_study, run_study
from analysis.study.backends import Dask, Loky

pytest.importorskip("distributed")

SMALL = """
policy = ["fcfs", "isjl", "sjf", "ljf"]
alpha = [4, 8]
slots = 2
load = [0.5, 0.7]
lengths = "uniform:low=1,high=9"
num-prompts = 1000
replications = 2
percentiles = [50, 90]
"""

DEADLY = """
import os, signal
from policies.continuous import FCFS

class Deadly(FCFS):
    def begin(self, slots):
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@contextmanager
def dask(part: str, *words: str, **changes: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process of a cluster; ``part`` is ``scheduler`` or ``worker``."""
    home = str(Path(analysis.__file__).parents[1])
    process = subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.dask_{part}", "--scheduler-file", "cluster.json", *words],
        env={**os.environ, "PYTHONPATH": f"{home}{os.pathsep}{Path.cwd()}", **changes},
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def address() -> str:
    """Of the scheduler, once it has written it down."""
    while True:
        with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):  # not there, or half of it
            return str(json.loads(Path("cluster.json").read_text(encoding="utf-8"))["address"])
        time.sleep(0.05)


def test_with_one_of_two_workers_killed_it_gives_the_table_of_one_machine() -> None:
    Path("dask.toml").write_text(SMALL, encoding="utf-8")
    Path("loky.toml").write_text(SMALL, encoding="utf-8")
    here, there = (read_study(Path(name)) for name in ("loky.toml", "dask.toml"))
    with Store(here.store_path) as store:
        assert run_study(here, store, Loky(2), lambda _: None) == []
    options = ("--nthreads", "1", "--no-nanny", "--no-dashboard")
    finished = []
    with (
        dask("scheduler", "--port", "0", "--no-dashboard"),
        dask("worker", *options) as victim,
        dask("worker", *options),
        Store(there.store_path) as store,
    ):

        def kill_one_after_three(cell: Cell) -> None:
            finished.append(cell)
            if len(finished) == 3:
                victim.kill()

        assert run_study(there, store, Dask(address()), kill_one_after_three) == []
    assert sorted(map(str, finished)) == sorted(map(str, there.cells))
    assert victim.returncode == -signal.SIGKILL
    for name in ("loky", "dask"):
        assert main(["study", "export", f"{name}.toml", "--out", f"{name}.csv", "--quiet"]) == 0
    assert Path("dask.csv").read_bytes() == Path("loky.csv").read_bytes()


def test_a_cell_that_kills_its_workers_is_given_up(capsys: pytest.CaptureFixture[str]) -> None:
    Path("deadly.py").write_text(DEADLY, encoding="utf-8")
    text = SMALL.replace('["fcfs", "isjl", "sjf", "ljf"]', '"deadly:Deadly"').replace("[0.5, 0.7]", "0.5")
    Path("a.toml").write_text(
        text.replace("replications = 2", "").replace("alpha = [4, 8]", ""), encoding="utf-8"
    )
    once = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    with (
        dask("scheduler", "--port", "0", "--no-dashboard", **once),
        dask("worker", "--nthreads", "1", "--no-dashboard"),
    ):
        words = ["study", "a.toml", "--module", "deadly", "--backend", "dask", "--scheduler", address()]
        assert main(words) == 1
    said = capsys.readouterr().err.splitlines()
    assert said[:2] == ["a.toml: 1 cell: 1 missing", "1 cell: 1 failed; kept in a.sqlite"]
    assert said[2].startswith("failed: lengths=uniform:low=1,high=9, ")
    assert said[2].endswith(
        "policy=deadly:Deadly, replication=1: its worker process died: killed, or out of memory"
    )


def test_a_scheduler_that_dies_is_told_and_finished_cells_are_kept() -> None:
    Path("a.toml").write_text(SMALL.replace("1000", "10000"), encoding="utf-8")
    defined = read_study(Path("a.toml"))
    with (
        dask("scheduler", "--port", "0", "--no-dashboard") as scheduler,
        dask("worker", "--nthreads", "1", "--no-nanny", "--no-dashboard"),
        Store(defined.store_path) as store,
    ):
        backend = Dask(address())
        with pytest.raises(ConnectionError, match=r"^tcp://\S+: the scheduler is gone$"):
            run_study(defined, store, backend, lambda _: scheduler.kill())
        assert len(store.read()) >= 1


def test_an_address_that_is_none_is_refused_with_its_option(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.toml").write_text(SMALL, encoding="utf-8")
    assert main(["study", "a.toml", "--backend", "dask", "--scheduler", "garbage"]) == 2
    assert capsys.readouterr().err == (
        "serving-sim: error: --scheduler='garbage': missing port number in address 'garbage'\n"
    )
