"""Files of a run: the columns of the table, whole or absent, the same bytes every time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from made_runs import small_run, with_requests
from refusal import refusal

import analysis
from analysis.columns import BATCH_COLUMNS, MODEL, REQUEST_COLUMNS, TENANT
from analysis.frames import batch_frame, to_frame
from analysis.latency import served_requests
from analysis.output import RequestFile, write_batches, write_run, write_text
from policies import make_policy
from serving_sim import Batches, Served, Workload, simulate
from serving_sim.compiled.choice import Engine
from workloads import read_requests, write_workload
from workloads.whole_file import replacing

HOME = Path(analysis.__file__).parents[1]
KINDS = {"float64": "float", "int64": "int", "Int64": "int", "str": "text"}


@dataclass
class Parts:
    """An open stream in blocks of two requests."""

    whole: Workload

    def blocks(self) -> Iterator[Workload]:
        for start in range(0, len(self.whole), 2):
            yield self.whole.take(np.arange(start, min(start + 2, len(self.whole))))


def spans() -> Batches:
    return Batches(
        time=np.array([0.5, 1.5, 9.0]),
        steps=np.array([1, 2, 1]),
        active=np.array([1, 2, 1]),
        waiting=np.array([0, 0, 0]),
        max_progress=np.array([0, 1, 0]),
        min_progress=np.array([0, 0, 0]),
    )


def test_requests_csv_by_hand(tmp_path: Path) -> None:
    write_run(tmp_path, small_run(), {}, csv=True)
    assert (tmp_path / "requests.csv").read_text(encoding="utf-8") == (
        "request_id,release,length,prompt_tokens,output_tokens,start,first_token,finish,slot,"
        "queue_time,ttft,e2el\n"
        "0,0.5,3,,,0.5,1.5,3.5,0,0.0,1.0,3.0\n"
        "1,1.25,2,,,1.5,2.5,3.5,1,0.25,1.25,2.25\n"
        "2,9.0,1,,,9.0,10.0,10.0,0,0.0,1.0,1.0\n"
    )


def test_batches_csv_by_hand(tmp_path: Path) -> None:
    write_run(tmp_path, replace(small_run(), batches=spans()), {}, csv=True)
    assert (tmp_path / "batches.csv").read_text(encoding="utf-8") == (
        "time,steps,active,waiting,max_progress,min_progress\n0.5,1,1,0,0,0\n1.5,2,2,0,1,0\n9.0,1,1,0,0,0\n"
    )


def test_columns_and_types_are_those_of_the_table() -> None:
    full = Workload(
        [0.5, 1.25, 9.0],
        [3, 2, 1],
        request_id=["a", "b", "c"],
        prompt_tokens=[1, 1, 0],
        output_tokens=[2, 1, 1],
        tenant=["x", "y", "x"],
        model=["m", "m", "n"],
    )
    for run, columns in (
        (small_run(), REQUEST_COLUMNS),
        (with_requests(small_run(), full), (*REQUEST_COLUMNS, TENANT, MODEL)),
    ):
        frame = to_frame(run)
        assert [(name, KINDS[str(dtype)]) for name, dtype in frame.dtypes.items()] == [
            (column.name, column.kind) for column in columns
        ]
    frame = batch_frame(spans())
    assert [(name, KINDS[str(dtype)]) for name, dtype in frame.dtypes.items()] == [
        (column.name, column.kind) for column in BATCH_COLUMNS
    ]


def test_parquet_and_csv_hold_the_same(tmp_path: Path) -> None:
    for csv in (True, False):
        write_run(tmp_path, replace(small_run(), batches=spans()), {}, csv=csv)
    for name in ("requests", "batches"):
        as_csv = pd.read_csv(tmp_path / f"{name}.csv")
        as_parquet = pd.read_parquet(tmp_path / f"{name}.parquet")
        assert list(as_csv) == list(as_parquet)
        for column in as_csv:
            np.testing.assert_array_equal(
                as_csv[column].to_numpy(dtype=float),
                as_parquet[column].to_numpy(dtype=float, na_value=np.nan),
            )


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_a_stream_writes_what_a_run_in_memory_writes(tmp_path: Path, suffix: str, engine: Engine) -> None:
    if engine == "compiled":
        pytest.importorskip("numba", reason="an optional extra")
    rng = np.random.default_rng(0)
    workload = Workload(np.cumsum(rng.exponential(3.0, 9)), rng.integers(1, 9, 9))
    with RequestFile(tmp_path / f"stream{suffix}") as file:
        run = simulate(Parts(workload), make_policy("fcfs"), slots=2, sink=file, engine=engine)
    assert run.requests is None
    with RequestFile(tmp_path / f"memory{suffix}") as file:
        file.write(served_requests(simulate(workload, make_policy("fcfs"), slots=2)))
    if suffix == ".csv":
        assert (tmp_path / "stream.csv").read_bytes() == (tmp_path / "memory.csv").read_bytes()
    else:
        stream = pq.read_table(tmp_path / "stream.parquet")
        assert stream.equals(pq.read_table(tmp_path / "memory.parquet"))
        assert pq.ParquetFile(tmp_path / "stream.parquet").num_row_groups > 1


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("failure", [KeyboardInterrupt, SystemExit, ValueError])
def test_an_interrupted_file_leaves_nothing(
    tmp_path: Path, suffix: str, failure: type[BaseException]
) -> None:
    served = served_requests(small_run())

    def interrupted() -> None:
        with RequestFile(tmp_path / f"requests{suffix}") as file:
            file.write(served)
            assert len(list(tmp_path.iterdir())) == 1  # the temporary file
            raise failure

    with pytest.raises(failure):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_finished_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "summary.json"
    write_text(path, "old")

    def failing() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half", encoding="utf-8")
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        failing()
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_unknown_suffix_is_refused() -> None:
    assert refusal(lambda: RequestFile(Path("requests.txt"))) == (
        "path='requests.txt': the name must end in .csv or .parquet"
    )


def test_a_frame_of_rows_from_a_stream_keeps_counting(tmp_path: Path) -> None:
    served = served_requests(small_run())
    with RequestFile(tmp_path / "requests.csv") as file:
        file.write(served)
        file.write(Served(served.requests, served.start, served.first_token, served.finish, served.slot))
    assert list(pd.read_csv(tmp_path / "requests.csv")["request_id"]) == [0, 1, 2, 3, 4, 5]


def test_batches_alone(tmp_path: Path) -> None:
    write_batches(tmp_path / "batches.parquet", spans())
    assert pq.read_table(tmp_path / "batches.parquet")["steps"].to_pylist() == [1, 2, 1]


@pytest.mark.parametrize(("process", "serial"), [(2, 0), (1, 1)], ids=["processes", "threads"])
def test_two_writers_do_not_share_a_temporary_file(
    process: int, serial: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "requests.csv"
    monkeypatch.setattr("os.getpid", iter([1, process]).__next__)
    monkeypatch.setattr("workloads.whole_file._serial", iter([0, serial]))
    with replacing(path) as ours:
        ours.write_text("ours", encoding="utf-8")
        with replacing(path) as theirs:
            theirs.write_text("theirs", encoding="utf-8")
        assert path.read_text(encoding="utf-8") == "theirs"
    assert path.read_text(encoding="utf-8") == "ours"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="no locks that a killed process gives back")
def test_what_a_killed_run_has_left_goes_and_what_a_running_one_writes_stays(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys; from pathlib import Path; from workloads.whole_file import replacing\n"
        "with replacing(Path(sys.argv[1])) as part:\n    part.write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)"
    )
    path, other = tmp_path / "a[1].csv", tmp_path / "of another name.csv"
    # of the user, and of a process that lives
    others = [".notes.part", ".notes.1.part", f".notes.{os.getpid()}-0.part"]
    for killed in (path, other):
        subprocess.run([sys.executable, "-c", script, str(killed)], check=False, cwd=HOME)
        assert len(list(tmp_path.iterdir())) == 1  # the second writer has swept the first one's away
    for name in others:
        (tmp_path / name).touch()
    running = subprocess.Popen(
        [sys.executable, "-c", script.replace("os.kill", "input(); os.kill"), str(path)],
        cwd=HOME,
        stdin=subprocess.PIPE,
    )
    theirs = tmp_path / f".{path.name}.{running.pid}-0.part"
    while not (theirs.exists() and theirs.read_text(encoding="utf-8")):
        assert running.poll() is None
    write_text(path, "whole")
    left = {each.name for each in tmp_path.iterdir() if each.suffix == ".part"}
    running.communicate(b"\n")
    assert left == {theirs.name, *others}


def test_an_error_names_the_file_and_not_its_temporary_name(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    (path / "within").mkdir(parents=True)
    with pytest.raises(OSError, match="irectory") as caught:
        write_text(path, "a file cannot take its place")
    assert (caught.value.filename, caught.value.filename2) == (str(path), None)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("prompts", [None, [1, 1, 0]])
def test_a_requests_file_is_a_workload_file(tmp_path: Path, suffix: str, prompts: list[int] | None) -> None:
    workload = Workload([0.5, 1.25, 9.0], [3, 2, 1], prompt_tokens=prompts)
    write_run(tmp_path, simulate(workload, make_policy("fcfs"), slots=2), {}, csv=suffix == ".csv")
    back, _ = read_requests(tmp_path / f"requests{suffix}")
    assert back.release.tolist() == [0.5, 1.25, 9.0]
    assert back.length.tolist() == [3, 2, 1]
    assert (None if back.prompt_tokens is None else back.prompt_tokens.tolist()) == prompts
    assert back.output_tokens is None


def test_a_colon_in_a_path_makes_no_address_of_it(tmp_path: Path) -> None:
    folder = tmp_path / "memory:" / "12:30"
    write_run(folder, small_run(), {})
    assert len(pq.ParquetFile(pa.OSFile(str(folder / "requests.parquet"))).read()) == 3
    for suffix in (".csv", ".parquet"):
        write_workload(Workload([0.0], [1]), folder / f"a:b{suffix}")
        assert len(read_requests(folder / f"a:b{suffix}")[0]) == 1
