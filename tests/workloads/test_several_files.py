"""Several files of one log, merged in the order of their times."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from refusal import refusal

from workloads import read_requests

HEADER = "TIMESTAMP,ContextTokens,GeneratedTokens\n"


def azure(second: int, prompt: int) -> str:
    return f"2024-05-10 00:00:{second:02}+00:00,{prompt},1\n"


def write(folder: Path, **contents: str) -> None:
    for name, content in contents.items():
        (folder / f"{name}.csv").write_text(content, encoding="utf-8")


def test_they_are_merged_by_time_and_equal_times_go_by_file_and_row(tmp_path: Path) -> None:
    write(
        tmp_path,
        part_1=HEADER + azure(7, 10) + azure(9, 11),
        part_2=HEADER + azure(7, 20) + azure(7, 21) + azure(8, 22),
        other="a,b\n",
    )
    (tmp_path / "part_3.csv.gz").write_bytes(gzip.compress((HEADER + azure(5, 30)).encode()))
    pattern = tmp_path / "part_*.csv*"
    workload, report = read_requests(pattern, time_unit=1)
    assert workload.prompt_tokens is not None
    assert workload.prompt_tokens.tolist() == [30, 10, 20, 21, 22, 11]
    assert workload.release.tolist() == [0, 2, 2, 2, 3, 4]
    assert (report.path, report.rows_read, report.kept) == (pattern, 6, 6)
    assert report.notes[:2] == (
        "taken for azure (Azure LLM inference traces 2023 and 2024 (CSV)) by its columns",
        "3 files merged: part_1.csv .. part_3.csv.gz",
    )


def test_a_pattern_may_be_relative_and_span_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        write(tmp_path / name, log="release,length\n1,2\n")
    monkeypatch.chdir(tmp_path)
    workload, _ = read_requests("*/log.csv")
    assert workload.length.tolist() == [2, 2]


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    write(tmp_path, **{"log[1]": "release,length\n1,2\n", "log1": "release,length\n1,9\n"})
    workload, _ = read_requests(tmp_path / "log[1].csv")
    assert workload.length.tolist() == [2]


def test_a_bad_row_is_named_with_its_own_file_and_line(tmp_path: Path) -> None:
    write(tmp_path, a=HEADER + azure(1, 1) + azure(2, 1), b=HEADER + azure(1, 1) + azure(2, -1))
    assert refusal(lambda: read_requests(tmp_path / "*.csv", time_unit=1)) == (
        f"{tmp_path / 'b.csv'}: line 3: ContextTokens='-1': must be >= 0"
    )


def test_rows_of_all_files_are_counted(tmp_path: Path) -> None:
    write(tmp_path, a=HEADER + azure(1, 1) + "x\n", b=HEADER + "y\n" + azure(1, 1) + azure(2, -1))
    _, report = read_requests(tmp_path / "*.csv", time_unit=1, on_bad_row="drop")
    assert (report.rows_read, report.kept) == (5, 2)
    assert report.dropped == {"fields: must be 3, as in the header": 2, "ContextTokens: must be >= 0": 1}


def test_ids_must_differ_across_files(tmp_path: Path) -> None:
    header = "request_id,release,length\n"
    write(tmp_path, a=f"{header}p,0,1\nq,0,1\n", b=f"{header}r,0,1\nq,0,1\n")
    pattern, first, second = tmp_path / "*.csv", tmp_path / "a.csv", tmp_path / "b.csv"
    assert refusal(lambda: read_requests(pattern)) == (
        f"{second}: line 3: request_id='q': must be unique, {first} line 3 has it too"
    )
    workload, report = read_requests(pattern, on_bad_row="drop")
    assert len(workload) == 3
    assert report.dropped == {"request_id: must be unique": 1}


def test_all_must_have_one_format(tmp_path: Path) -> None:
    write(tmp_path, a=HEADER + azure(1, 1), b="release,length\n1,2\n")
    assert refusal(lambda: read_requests(tmp_path / "*.csv", time_unit=1)) == (
        f"{tmp_path / 'b.csv'}: must be azure, as {tmp_path / 'a.csv'} is, found plain"
    )


def test_all_must_have_the_same_optional_columns(tmp_path: Path) -> None:
    write(tmp_path, a="release,length,tenant\n1,2,x\n", b="release,length\n1,2\n")
    assert refusal(lambda: read_requests(tmp_path / "*.csv")) == (
        f"{tmp_path / 'b.csv'}: column 'tenant' must be there, found 'release', 'length'"
    )


def test_a_pattern_without_files(tmp_path: Path) -> None:
    assert (
        refusal(lambda: read_requests(tmp_path / "*.csv")) == f"{tmp_path / '*.csv'}: no file has such a name"
    )


def test_folders_at_any_depth_are_not_looked_through(tmp_path: Path) -> None:
    pattern = tmp_path / "**" / "*.csv"
    assert refusal(lambda: read_requests(pattern)) == f"{pattern}: must name its folders, found **"
