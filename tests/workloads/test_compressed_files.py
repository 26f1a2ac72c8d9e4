"""Files compressed with gzip or zstd read as what is in them, or are refused."""

from __future__ import annotations

import gc
import gzip
import tempfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from refusal import refusal

from serving_sim import Workload
from workloads import read_workload, write_workload

CSV = b"release,length\n0,3\n1,4\n"


def zstd(content: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def packed(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)  # the date would make test names that change by the second


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("w.csv.gz", packed(CSV)),
        ("w.CSV.zst", zstd(CSV)),
        ("w", packed(CSV)),
        ("w.csv", packed(CSV)),  # the first bytes tell, whatever the name
        ("w.csv.gz", packed(CSV[:15]) + packed(CSV[15:])),  # as ``cat a.gz b.gz`` makes it
        ("w.jsonl.gz", packed(b'{"release": 0, "length": 3}\n{"release": 1, "length": 4}\n')),
    ],
)
def test_what_is_in_it_is_read(tmp_path: Path, temporary: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    workload, report = read_workload(path)
    assert workload.length.tolist() == [3, 4]
    assert report.rows_read == 2
    gc.collect()
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (packed(CSV + b"2,0\n"), "line 4: length='0': must be >= 1"),
        (packed(CSV + b"\xff,0\n"), "line 4: byte=0xff: must be UTF-8 text"),
        (packed(CSV)[:-3], "cannot be read: Truncated compressed stream"),
        (zstd(CSV)[:-3], "cannot be read: Truncated compressed stream"),
        (packed(CSV)[:-8] + bytes(8), "cannot be read: zlib inflate failed: incorrect data check"),
        (packed(b""), "must not be empty"),
    ],
)
def test_refusals_name_the_file_and_the_line_in_it(
    tmp_path: Path, temporary: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "w.csv.gz"
    path.write_bytes(content)
    assert refusal(lambda: read_workload(path)) == f"{path}: {message}"
    gc.collect()
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("pack", [packed, zstd])
def test_what_unpacks_to_far_more_than_its_size_is_refused(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr("workloads.tables.source.MOST_UNPACKED", 1000)
    path = tmp_path / "w.csv.gz"
    path.write_bytes(pack(CSV + b"2,5\n" * 200_000))
    most = max(1000, 100 * path.stat().st_size)
    assert refusal(lambda: read_workload(path)) == (
        f"{path}: must hold at most {most:,} bytes once it is unpacked"
    )
    gc.collect()
    assert list(temporary.iterdir()) == []
    path.write_bytes(pack(CSV + b"2,5\n" * 200))  # beyond the one limit, within the other
    assert len(read_workload(path)[0]) == 202


def test_rows_that_no_memory_holds_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workloads.tables.parquet_table.MOST_ROWS", 4999)
    path = tmp_path / "w.parquet"
    write_workload(Workload([0] * 5000, [1] * 5000), path)
    assert refusal(lambda: read_workload(path)) == f"{path}: must have at most 4,999 rows, found 5,000"
