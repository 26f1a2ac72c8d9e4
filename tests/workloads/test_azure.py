"""The Azure traces: stamps to the nanosecond, the traps of both years, and the real files."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet
from refusal import refusal

from serving_sim import Workload
from workloads import ReadReport, read_requests
from workloads.tables import Batch
from workloads.traces.stamps import Stamps

HEADER = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
IN_2023 = HEADER + (
    "2023-11-16 18:17:03.9799600,374,44\r\n"
    "2023-11-16 18:17:04,12,9\r\n"
    "2023-11-16 18:17:04.0000001,5,1\r\n"
    "2023-11-17 18:17:04.0000001,8,2"
)
IN_2024 = (
    "TIMESTAMP,ContextTokens,GeneratedTokens\n"
    "2024-05-10 00:00:00.009930+00:00,2162,5\n"
    "2024-05-10 00:00:01+00:00,10,6\n"
    "2024-05-10 02:00:01.5+02:00,11,7\n"
)


def write(path: Path, content: str) -> Path:
    path.write_bytes(content.encode())
    return path


def read(path: Path, content: str, **options: object) -> tuple[Workload, ReadReport]:
    return read_requests(write(path, content), "azure", **{"time_unit": 1.0, **options})  # type: ignore[arg-type]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "azure.csv"


def test_2023_seven_digits_crlf_and_no_last_newline(path: Path) -> None:
    workload, report = read(path, IN_2023)
    assert workload.release.tolist() == [0.0, 0.02004, 0.0200401, 86400.0200401]
    assert workload.length.tolist() == [418, 21, 6, 10]
    assert workload.prompt_tokens is not None
    assert workload.output_tokens is not None
    assert workload.prompt_tokens.tolist() == [374, 12, 5, 8]
    assert workload.output_tokens.tolist() == [44, 9, 1, 2]
    assert (report.format, report.rows_read, report.kept, report.notes) == ("azure", 4, 4, ())


def test_2024_offsets_and_a_whole_second(path: Path) -> None:
    workload, _ = read(path, IN_2024)
    assert workload.release.tolist() == [0.0, 0.99007, 1.49007]


@pytest.mark.parametrize(
    ("kind", "lengths"), [("total", [418, 21, 6, 10]), ("prompt", [374, 12, 5, 8]), ("output", [44, 9, 1, 2])]
)
def test_what_counts_as_length(path: Path, kind: str, lengths: list[int]) -> None:
    workload, _ = read(path, IN_2023, length=kind)
    assert workload.length.tolist() == lengths


@pytest.mark.parametrize(("kind", "first"), [("total", [375, 13, 6, 9]), ("output", [1, 1, 1, 1])])
def test_the_first_token_follows_the_prompt_where_the_prompt_counts(
    path: Path, kind: str, first: list[int]
) -> None:
    workload, _ = read(path, IN_2023, length=kind)
    assert workload.first_token_step is not None
    assert workload.first_token_step.tolist() == first


def test_seconds_become_time_units(path: Path) -> None:
    workload, _ = read(path, IN_2023, time_unit=0.02)
    np.testing.assert_allclose(workload.release, [0, 1.002, 1.002005, 4320001.002005], rtol=1e-15)


def test_equal_stamps_keep_the_order_of_the_file_when_sorted(path: Path) -> None:
    late, early = "2023-11-16 18:00:01.0000000", "2023-11-16 18:00:00.0000000"
    workload, report = read(path, HEADER + f"{late},1,1\r\n{early},2,1\r\n{late},3,1\r\n{early},4,1\r\n")
    assert workload.release.tolist() == [0, 0, 1, 1]
    assert workload.length.tolist() == [3, 5, 2, 4]
    assert report.notes == (
        "2 rows are earlier than the row before; sorted, equal times in the file's order",
    )


@pytest.mark.parametrize(
    ("kind", "stamps"),
    [
        (pa.timestamp("ns"), [1_700_158_546_000_000_001, 1_700_158_546_000_000_004]),
        (pa.timestamp("us", "UTC"), [1_700_158_546_000_000, 1_700_158_546_000_001]),
        (pa.timestamp("s", "Europe/Berlin"), [1_700_158_546, 1_700_158_547]),
    ],
)
def test_parquet_may_hold_dates_of_its_own_kind(tmp_path: Path, kind: pa.DataType, stamps: list[int]) -> None:
    path = tmp_path / "azure.parquet"
    columns = {"TIMESTAMP": pa.array(stamps, kind), "ContextTokens": [1, 2], "GeneratedTokens": [3, 4]}
    parquet.write_table(pa.table(columns), path)
    workload, _ = read_requests(path, time_unit=1)
    ticks = {"s": 1, "us": 10**6, "ns": 10**9}[kind.unit]
    assert workload.release.tolist() == [0, (stamps[1] - stamps[0]) / ticks]


STAMP = "2023-11-16 18:00:00.0000000"


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (
            "2023-11-16 18:00:00,1,1\n2023-11-16 18:00:01+00:00,1,1",
            {},
            (
                "line 3: TIMESTAMP='2023-11-16 18:00:01+00:00': "
                "must have no offset from UTC, as the first stamp has none"
            ),
        ),
        (
            "2023-11-16 18:00:00Z,1,1\n\n2023-11-16 18:00:01,1,1",
            {},
            "line 4: TIMESTAMP='2023-11-16 18:00:01': must have an offset from UTC, as the first stamp has",
        ),
        (
            "15:46.7,1,1",
            {},
            "line 2: TIMESTAMP='15:46.7': must hold date and hour, which a spreadsheet program has cut off",
        ),
        (
            "2023-13-16 18:00:00,1,1",
            {},
            (
                "line 2: TIMESTAMP='2023-13-16 18:00:00': "
                "must be a date and time such as 2023-11-16 18:15:46.6805900"
            ),
        ),
        (
            "1700158546,1,1",
            {},
            "line 2: TIMESTAMP='1700158546': must be a date and time such as 2023-11-16 18:15:46.6805900",
        ),
        (f"{STAMP},-1,5", {}, "line 2: ContextTokens='-1': must be >= 0"),
        (f"{STAMP},1,x", {}, "line 2: GeneratedTokens='x': must be a number"),
        (
            f"{STAMP},7,1\n{STAMP},7,0",
            {"length": "output"},
            "line 3: length=0: must be from 1 to 2**62, counting output tokens",
        ),
        (
            f"{STAMP},0,7",
            {"length": "prompt"},
            "line 2: length=0: must be from 1 to 2**62, counting prompt tokens",
        ),
        (
            f"{STAMP},{2**62},{2**62}",
            {},
            f"line 2: length={2**63}: must be from 1 to 2**62, counting prompt and output tokens",
        ),
        (f"{STAMP},1", {}, "line 2: fields=2: must be 3, as in the header"),
    ],
)
def test_refused_rows(path: Path, rows: str, options: dict[str, str], message: str) -> None:
    assert refusal(lambda: read(path, HEADER + rows, **options)) == f"{path}: {message}"


def test_refused_columns(path: Path) -> None:
    assert refusal(lambda: read(path, "TIMESTAMP,Tokens\n")) == (
        f"{path}: columns 'ContextTokens', 'GeneratedTokens' must be there, found 'TIMESTAMP', 'Tokens'"
    )


def test_dropped_rows_leave_time_zero_to_the_first_row_kept(path: Path) -> None:
    rows = (
        "2023-11-16 18:00:00,1,0\n"
        "15:46.7,1,1\n"
        "2023-11-16 18:00:01,1,3\n"
        "2023-11-16 18:00:02+00:00,1,3\n"
        "2023-11-16 18:00:04,1,4\n"
    )
    workload, report = read(path, HEADER + rows, length="output", on_bad_row="drop")
    assert workload.release.tolist() == [0, 3]
    assert workload.length.tolist() == [3, 4]
    assert report.dropped == {
        "TIMESTAMP: must hold date and hour, which a spreadsheet program has cut off": 1,
        "TIMESTAMP: must have no offset from UTC, as the first stamp has none": 1,
        "length: must be from 1 to 2**62, counting output tokens": 1,
    }
    assert report.rows_read == report.kept + sum(report.dropped.values())


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@given(
    st.lists(st.integers(0, 46 * 10**15), min_size=1),  # 100 ns each, to the year 2115
    st.integers(-14 * 60, 14 * 60) | st.none(),
)
def test_stamps_are_exact(stamps: list[int], offset: int | None) -> None:
    zone = ""
    if offset is not None:
        zone = f"{'-' if offset < 0 else '+'}{abs(offset) // 60:02}:{abs(offset) % 60:02}"

    def text(stamp: int) -> str:
        second, fraction = divmod(stamp, 10**7)
        digits = f".{fraction:07}" if fraction else ""
        return f"{EPOCH + timedelta(seconds=second):%Y-%m-%d %H:%M:%S}{digits}{zone}"

    batch = Batch({"stamp": pa.array([text(stamp) for stamp in stamps])})
    minutes = 0 if offset is None else offset
    expected = [100 * stamp - minutes * 60 * 10**9 for stamp in stamps]
    assert Stamps().read(batch, "stamp").tolist() == expected
    assert (batch.broken < 0).all()


class Facts(NamedTuple):
    """What is known of a trace from elsewhere; means and gaps in tokens and seconds."""

    name: str
    rows: int
    first: str
    span: float
    prompt: float
    output: float
    longest_gap: float


@pytest.mark.parametrize(
    "facts",
    [
        Facts("code", 8819, "2023-11-16 18:17:03.9799600", 3435.95, 2047.85, 27.88, 217.169),
        Facts("conv", 19366, "2023-11-16 18:15:46.6805900", 3501.72, 1154.70, 211.13, 4.315),
    ],
    ids=lambda facts: facts.name,
)
def test_the_traces_of_2023(shared: Path, facts: Facts) -> None:
    path = shared / "traces" / "azure2023" / f"AzureLLMInferenceTrace_{facts.name}.csv"
    if not path.exists():
        pytest.skip(f"no {path}")
    workload, report = read_requests(path, length="output", time_unit=1.0)
    assert (report.rows_read, report.kept) == (facts.rows, facts.rows)
    assert report.notes == (
        "taken for azure (Azure LLM inference traces 2023 and 2024 (CSV)) by its columns",
    )
    assert workload.release[-1] == pytest.approx(facts.span, abs=0.005)
    assert workload.prompt_tokens is not None
    assert workload.prompt_tokens.mean() == pytest.approx(facts.prompt, abs=0.005)
    assert workload.length.mean() == pytest.approx(facts.output, abs=0.005)
    assert np.diff(workload.release).max() == pytest.approx(facts.longest_gap, abs=0.0005)
    # Every release against a slow reading of the file: the seventh digit is always 0.
    stamps = [line.split(",")[0][:-1] for line in path.read_text(encoding="utf-8").split("\n")[1:]]
    exact = [datetime.fromisoformat(stamp).replace(tzinfo=UTC) for stamp in stamps]
    assert f"{exact[0]:%Y-%m-%d %H:%M:%S.%f}0" == facts.first
    seconds = [(stamp - exact[0]) // timedelta(microseconds=1) / 10**6 for stamp in exact]
    assert workload.release.tolist() == seconds
