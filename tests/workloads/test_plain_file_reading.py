"""What the plain workload file forgives, and what it says about it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from refusal import refusal

from serving_sim import Workload
from workloads import read_workload, write_workload
from workloads.tables.source import Source
from workloads.tables.text import check_encoding


def write(path: Path, content: str) -> Path:
    path.write_bytes(content.encode())
    return path


@pytest.mark.parametrize(
    "content",
    [
        "release,length\n0.5,3\n2,4\n",
        "release,length\r\n0.5,3\r\n2,4\r\n",
        "release,length\n0.5,3\n2,4",
        "\ufeffrelease,length\n0.5,3\n2,4\n",
        "\n release , length \n\n0.5, 3\n   \n 2 ,4.0\n\n",
        "length,release\n3,5e-1\n4,2\n",
        '"release","length"\n"0.5","3"\n"2","4"\n',
    ],
)
def test_csv_dialects(tmp_path: Path, content: str) -> None:
    workload, report = read_workload(write(tmp_path / "w.csv", content))
    assert workload.release.tolist() == [0.5, 2.0]
    assert workload.length.tolist() == [3, 4]
    assert (report.rows_read, report.kept, report.dropped, report.notes) == (2, 2, {}, ())


def test_jsonl_dialects(tmp_path: Path) -> None:
    content = '\ufeff\n{"length": 3, "release": 0.5}\r\n\n {"release": "2", "length": 4.0} '
    workload, _ = read_workload(write(tmp_path / "w.jsonl", content))
    assert workload.release.tolist() == [0.5, 2.0]
    assert workload.length.tolist() == [3, 4]


def test_a_file_without_suffix_is_known_by_its_start(tmp_path: Path) -> None:
    workload, _ = read_workload(write(tmp_path / "w", '{"release": 0, "length": 3}\n'))
    assert workload.length.tolist() == [3]


def test_unsorted_rows_are_sorted_stably_and_noted(tmp_path: Path) -> None:
    content = "release,length,request_id\n2,1,a\n1,2,b\n2,3,c\n1,4,d\n"
    workload, report = read_workload(write(tmp_path / "w.csv", content))
    assert workload.request_id is not None
    assert workload.request_id.tolist() == ["b", "d", "a", "c"]
    assert report.notes == (
        "2 rows are earlier than the row before; sorted, equal times in the file's order",
    )


def test_other_columns_are_ignored_and_noted(tmp_path: Path) -> None:
    _, report = read_workload(write(tmp_path / "w.csv", "engine,release,length,note\nx,0,1,\n"))
    assert report.notes == ("ignored columns: engine, note",)


@pytest.mark.parametrize("others", ["", "1,2.0\n", "1,1e3\n"])
def test_large_integers_keep_every_digit(tmp_path: Path, others: str) -> None:
    largest = [2**53 + 1, 2**62 - 1, 2**62]
    rows = "".join(f"0,{length}\n" for length in largest)
    workload, _ = read_workload(write(tmp_path / "w.csv", f"release,length\n{rows}{others}"))
    assert workload.length.tolist()[:3] == largest


def test_large_integers_among_floats_in_jsonl(tmp_path: Path) -> None:
    content = f'{{"release": 0, "length": {2**53 + 1}}}\n{{"release": 0, "length": 2.0}}\n'
    workload, _ = read_workload(write(tmp_path / "w.jsonl", content))
    assert workload.length.tolist() == [2**53 + 1, 2]


def test_dropped_rows_are_counted_by_their_first_reason(tmp_path: Path) -> None:
    content = (
        "request_id,release,length,lower,upper\n"
        "a,0,5,5,5\n"
        "b,x,0,5,5\n"
        "c,0,0,1,1\n"
        "d,0,0,1,1\n"
        "e,0,5,6,6\n"
        "f,0,5,6,4\n"
        "g,0,5\n"
        "a,1,5,5,5\n"
        "h,-1,5,5,5\n"
        "i,1,5,1,9\n"
    )
    workload, report = read_workload(write(tmp_path / "w.csv", content), on_bad_row="drop")
    assert workload.request_id is not None
    assert workload.request_id.tolist() == ["a", "i"]
    assert report.dropped == {
        "release: must be a number": 1,
        "release: must not be negative": 1,
        "length: must be >= 1": 2,
        "lower: must not exceed the length": 2,
        "fields: must be 5, as in the header": 1,
        "request_id: must be unique": 1,
    }
    assert report.rows_read == 10
    assert report.kept == 2
    assert report.rows_read == report.kept + sum(report.dropped.values())


def test_dropped_lines_of_jsonl_are_counted(tmp_path: Path) -> None:
    content = '{"release": 0, "length": 1}\nnot json\n[]\n{"release": 0, "length": 0}\n'
    workload, report = read_workload(write(tmp_path / "w.jsonl", content), on_bad_row="drop")
    assert len(workload) == 1
    assert report.dropped == {"text: must be one JSON object": 2, "length: must be >= 1": 1}
    assert report.rows_read == 4


def test_a_long_stretch_of_junk_is_counted_like_any_other(tmp_path: Path) -> None:
    good = '{"release": 0, "length": 1}\n'
    content = good * 10_000 + "junk\n" * 10_000 + good
    workload, report = read_workload(write(tmp_path / "w.jsonl", content), on_bad_row="drop")
    assert len(workload) == 10_001
    assert report.dropped == {"text: must be one JSON object": 10_000}


def test_nothing_left_is_refused_with_the_reasons(tmp_path: Path) -> None:
    path = write(tmp_path / "w.csv", "release,length\n0,0\n0,0\n1\n")
    assert refusal(lambda: read_workload(path, on_bad_row="drop")) == (
        f"{path}: must hold at least one request, found none"
        "; 1 x fields: must be 2, as in the header; 2 x length: must be >= 1"
    )


def test_bad_rows_are_found_in_every_block(tmp_path: Path) -> None:
    n = 400_000  # several blocks of 4 MiB
    rows = [f"{i}.125,{i % 900 + 1}" for i in range(n)]
    bad = [7, n // 2, n - 1]
    for i in bad:
        rows[i] = f"{i}.125,none"
    content = "release,length\n" + "\n".join(rows)
    workload, report = read_workload(write(tmp_path / "w.csv", content), on_bad_row="drop")
    kept = np.delete(np.arange(n), bad)
    assert report.dropped == {"length: must be a number": 3}
    np.testing.assert_array_equal(workload.release, kept + 0.125)
    np.testing.assert_array_equal(workload.length, kept % 900 + 1)


@pytest.mark.parametrize(
    ("kind", "header", "row"),
    [("csv", "release,length\n", "{},10\n"), ("jsonl", "", '{{"release": {}, "length": 10}}\n')],
)
@pytest.mark.parametrize("whole", [True, False])
def test_a_file_that_grows_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, header: str, row: str, *, whole: bool
) -> None:
    # its writer comes to the end of a row, or to the middle of one, after the first look at the file
    path = tmp_path / f"log.{kind}"
    path.write_text(header + row.format(0), encoding="utf-8")
    more = row.format(1) if whole else row.format(1)[:-4]

    def grow(source: Source) -> None:
        check_encoding(source)
        path.write_text(source.content.read_text(encoding="utf-8") + more, encoding="utf-8")

    monkeypatch.setattr(f"workloads.tables.{kind}_table.check_encoding", grow)
    if whole:
        workload, report = read_workload(path)
        assert len(workload) == report.rows_read == 2
    else:
        assert re.search(r": line [23]: (text|fields)=", refusal(lambda: read_workload(path)))


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_how_long_a_time_unit_is_comes_back(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"w{suffix}"
    write_workload(Workload([0.0, 1.5], [2, 3]), path, time_unit=0.03)
    workload, report = read_workload(path)
    assert (workload.release.tolist(), workload.columns) == ([0.0, 1.5], ("release", "length"))
    assert (report.time_unit, report.notes) == (0.03, ())


def test_a_time_unit_is_the_same_in_every_row(tmp_path: Path) -> None:
    path = tmp_path / "w.csv"
    path.write_text("release,length,time_unit\n0,1,-1\n1,1,0.5\n2,1,0.25\n3,1,0.5\n", encoding="utf-8")
    workload, report = read_workload(path, on_bad_row="drop")
    assert (workload.release.tolist(), report.time_unit) == ([1, 3], 0.5)
    assert report.dropped == {"time_unit: must be above 0": 1, "time_unit: must be the same in every row": 1}
    path.write_text("release,length,time_unit\n0,1,\n1,1,\n", encoding="utf-8")
    assert read_workload(path)[1].time_unit is None
