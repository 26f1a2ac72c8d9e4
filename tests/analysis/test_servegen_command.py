"""``workload servegen`` from the folder to a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.cli import main
from workloads import read_workload


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in (0, 7):
        (tmp_path / f"chunk-{number}-trace.csv").write_text(
            "0,1,1,Gamma,0.5,1\n600,0,0,,0,0\n", encoding="utf-8"
        )
        tables = {"0": {"input_tokens": "{100: 1.0}", "output_tokens": "{5: 1.0}"}}
        (tmp_path / f"chunk-{number}-dataset.json").write_text(json.dumps(tables), encoding="utf-8")
    return tmp_path


def test_it_writes_a_workload_that_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "w.csv"
    words = ["workload", "servegen", str(folder), "--out", str(out), "--time-unit", "0.5", "--for", "10min"]
    assert main([*words, "--seed", "3"]) == 0
    assert capsys.readouterr().err.splitlines() == [
        "1,200 requests of 2 among 2 clients",
        f"written to {out}",
    ]
    workload, _ = read_workload(out)
    assert workload.release[-1] < 600 / 0.5
    assert set(workload.length) == {105}
    first = out.read_bytes()
    assert main([*words, "--seed", "3", "--quiet"]) == 0
    assert out.read_bytes() == first
    assert main([*words, "--seed", "4", "--quiet"]) == 0
    assert out.read_bytes() != first
    assert main(["run", "--policy", "fcfs", "--requests", str(out), "--quiet"]) == 0


def test_an_idle_stretch_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "w.csv"
    words = ["workload", "servegen", str(folder), "--out", str(out), "--time-unit", "0.5"]
    assert main([*words, "--from", "10min", "--for", "5min"]) == 2
    assert capsys.readouterr().err == (
        "serving-sim: error: begin=600.0, duration=300.0: no client sends a request then\n"
    )
    assert not out.exists()
