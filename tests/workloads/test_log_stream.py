"""A log read as a stream gives the requests that reading it whole gives, a block at a time."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from refusal import refusal

from policies import make_policy
from serving_sim import Workload, simulate
from serving_sim.record import Served
from serving_sim.request import FloatArray
from workloads import LogStream, read_requests
from workloads.tables import csv_table

HEADER = "TIMESTAMP,ContextTokens,GeneratedTokens\n"


def azure(path: Path, rows: int, *, gap_ms: int = 40, begin: int = 0) -> Path:
    rng = np.random.default_rng(rows)
    stamps = np.datetime64("2024-05-10T00:00:00", "us") + gap_ms * 1000 * np.arange(begin, begin + rows)
    counts = rng.integers(1, 60, (rows, 2))
    lines = (
        f"{str(stamp).replace('T', ' ')}+00:00,{prompt},{output}\n"
        for stamp, (prompt, output) in zip(stamps, counts.tolist(), strict=True)
    )
    path.write_text(HEADER + "".join(lines), encoding="utf-8")
    return path


def columns(workload: Workload) -> list[NDArray[Any]]:
    assert workload.prompt_tokens is not None
    return [workload.release, workload.length, workload.prompt_tokens]


def test_blocks_are_what_is_read_whole(tmp_path: Path) -> None:
    path = azure(tmp_path / "log.csv", 130_000)
    stream = LogStream(path, time_unit=0.03)
    whole, _ = read_requests(path, time_unit=0.03)
    for _ in range(2):  # each pass reads anew
        blocks = list(stream.blocks())
        assert len(blocks) > 1
        assert [np.concatenate(parts).tolist() for parts in zip(*map(columns, blocks), strict=True)] == [
            column.tolist() for column in columns(whole)
        ]


def test_a_plain_file_and_several_files_stream_too(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("release,length\n0,3\n1.5,2\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("release,length\n1.5,4\n9,1\n", encoding="utf-8")
    blocks = list(LogStream(tmp_path / "*.csv").blocks())
    assert [block.release.tolist() for block in blocks] == [[0, 1.5], [1.5, 9]]


def test_it_is_simulated_like_the_workload(tmp_path: Path) -> None:
    path = azure(tmp_path / "log.csv", 3_000)
    whole, _ = read_requests(path, time_unit=0.03)
    policy = make_policy("isjl", alpha=20)
    kept = simulate(whole, policy, slots=64)

    class Finishes:
        blocks: list[FloatArray]

        def __init__(self) -> None:
            self.blocks = []

        def write(self, served: Served) -> None:
            self.blocks.append(served.finish.copy())

    sink = Finishes()
    run = simulate(LogStream(path, time_unit=0.03), policy, slots=64, sink=sink)
    assert np.concatenate(sink.blocks).tolist() == kept.finish.tolist()
    assert run.totals.externality == kept.totals.externality


def test_memory_does_not_grow_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_table, "_BLOCK", 1 << 16)  # Arrow reads up to 32 blocks ahead
    row = f"{0:.90f},3\n"

    def peak(rows: int) -> int:
        path = tmp_path / f"{rows}.csv"
        path.write_text("release,length\n" + rows * row, encoding="utf-8")
        stream = LogStream(path)
        tracemalloc.start()
        assert sum(len(block) for block in stream.blocks()) == rows
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    assert peak(160_000) < 1.1 * peak(80_000)  # 15 and 8 MB


def test_a_row_out_of_order_is_named_with_its_file_and_line(tmp_path: Path) -> None:
    azure(tmp_path / "a.csv", 3)
    azure(tmp_path / "b.csv", 2, begin=-1)
    stream = LogStream(tmp_path / "*.csv", time_unit=0.03)
    found = refusal(lambda: list(stream.blocks()))
    assert found.startswith(f"{tmp_path / 'b.csv'}: line 2: time=")
    assert found.endswith(": must not be earlier than the row before, in a file that is read as a stream")


def test_dropped_rows_do_not_move_the_line_that_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("release,length\n0,3\n1,0\n2,1\n1,1\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"log.csv: line 5: release=1.0: must not be earlier") as caught:
        list(LogStream(path, on_bad_row="drop").blocks())
    assert "stream" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("release,length\n0,0\n", {}, "line 2: length='0': must be >= 1"),
        ("release,length\n", {}, "must hold at least one request, found none"),
        ("a,b\n1,2\n", {}, "format must be one of"),
        ("release,length\n0,1\n", {"time_unit": 2.0}, "a plain workload file is in time units"),
    ],
)
def test_refusals(content: str, options: dict[str, float], message: str, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        list(LogStream(path, time_unit=options.get("time_unit")).blocks())
