"""The trace of the VTC paper: clients become tenants, seconds keep their nanoseconds."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from refusal import refusal

from serving_sim import Workload
from workloads import ReadReport, read_requests

HEADER = "req_time_s,client,prompt_tokens,output_tokens\n"
ROWS = "0.0,lora-8-13,13,199\n0.20793754160099873,lora-8-2,36,137\n2e0, lora-8-13,456,0\n"


def read(folder: Path, content: str, **options: object) -> tuple[Workload, ReadReport]:
    path = folder / "arena.csv"
    path.write_bytes(content.encode())
    return read_requests(path, **{"time_unit": 1, **options})  # type: ignore[arg-type]


def test_clients_are_tenants_and_times_are_whole_nanoseconds(tmp_path: Path) -> None:
    workload, report = read(tmp_path, "\ufeff" + HEADER.replace("\n", "\r\n") + ROWS)
    assert workload.release.tolist() == [0, 0.207937542, 2]
    assert workload.length.tolist() == [212, 173, 456]
    assert workload.tenant is not None
    assert workload.tenant.tolist() == ["lora-8-13", "lora-8-2", "lora-8-13"]
    assert (report.format, report.rows_read, report.kept) == ("arena", 3, 3)


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    content = "output_tokens,prompt_tokens,client,note,req_time_s\n199,13,a,x,5\n137,36,b,y,5.5\n"
    workload, _ = read(tmp_path, content)
    assert workload.release.tolist() == [0, 0.5]
    assert workload.length.tolist() == [212, 173]


def test_gaps_of_seconds_since_1970_are_exact(tmp_path: Path) -> None:
    """As floats, these stamps would stand 0.24 microseconds apart."""
    rows = "1700158546.000000001,a,1,1\n1700158546.000000003,a,1,1\n"
    workload, _ = read(tmp_path, HEADER + rows, time_unit=1e-9)
    np.testing.assert_allclose(workload.release, [0, 2], rtol=1e-15)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("soon,a,1,1", "req_time_s='soon': must be a number"),
        ("nan,a,1,1", "req_time_s='nan': must be finite"),
        ("1e300,a,1,1", "req_time_s='1e300': must be within 2**62 nanoseconds (146 years) of 0"),
        ("1,a,,1", "prompt_tokens='': must be a number"),
        ("1,a,1.5,1", "prompt_tokens='1.5': must be a whole number"),
        ("1,a,1,-1", "output_tokens='-1': must be >= 0"),
        ("1,a,0,0", "length=0: must be from 1 to 2**62, counting prompt and output tokens"),
        ("1,a,1", "fields=3: must be 4, as in the header"),
    ],
)
def test_refused_rows(tmp_path: Path, row: str, message: str) -> None:
    path = tmp_path / "arena.csv"
    assert refusal(lambda: read(tmp_path, HEADER + ROWS + row)) == f"{path}: line 5: {message}"


def test_times_of_32_bits_are_read_only_where_they_tell_milliseconds_apart(tmp_path: Path) -> None:
    path = tmp_path / "arena.parquet"
    tokens = {"client": ["a", "b"], "prompt_tokens": [1, 1], "output_tokens": [1, 1]}
    times = pa.array([0.5, 1000.25], pa.float32())
    parquet.write_table(pa.table({"req_time_s": times, **tokens}), path)
    workload, _ = read_requests(path, time_unit=1)
    assert workload.release.tolist() == [0, 999.75]
    coarse = "must have 64 bits, as with 32 such times are more than 1 ms apart"
    for time, rule in ((1.7e9, coarse), (-(2.0**127), coarse), (math.inf, "must be finite")):
        parquet.write_table(pa.table({"req_time_s": pa.array([0.5, time], pa.float32()), **tokens}), path)
        said = refusal(lambda: read_requests(path, time_unit=1))
        assert said == f"{path}: row 2: req_time_s={time!r}: {rule}"
