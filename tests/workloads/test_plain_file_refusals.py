"""Every refusal of the plain workload file, with its exact line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusal import refusal

from workloads import read_workload

NUMBER = "must be a number"
WHOLE = "must be a whole number"
LARGE = "must be at most 2**62"
BLURRED = "must not change as a float, as whole numbers beyond 2**53 can; subtract the first from all"


def said_of(path: Path) -> str:
    """The refusal, without the name of the file at its beginning."""
    message = refusal(lambda: read_workload(path))
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


def write(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "must not be empty"),
        ("\n\r\n \n", "must not be empty"),
        ("release,length", "must hold at least one request, found none"),
        ("release,length\r\n\r\n  \n", "must hold at least one request, found none"),
        ("release,size\n0,1\n", "column 'length' must be there, found 'release', 'size'"),
        ("when;size\n0;1\n", "columns 'release', 'length' must be there, found 'when;size'"),
        ("release,length,length\n0,1,1\n", "column 'length' must not appear twice"),
        ("release,length\n0,1\n0,2,3\n", "line 3: fields=3: must be 2, as in the header"),
        ("release,length\n0,1\n\n7\n", "line 4: fields=1: must be 2, as in the header"),
        (b"release,length\n0,1\n\xff,1\n", "line 3: byte=0xff: must be UTF-8 text"),
        (b"\xff\xfer\x00e\x00", "line 1: byte=0xff: must be UTF-8 text"),
        ("release,length\n0,1\nsoon,1\n", f"line 3: release='soon': {NUMBER}"),
        ("release,length\n,1\n", f"line 2: release='': {NUMBER}"),
        ("release,length\nnan,1\n", "line 2: release='nan': must be finite"),
        ("release,length\n-inf,1\n", "line 2: release='-inf': must be finite"),
        ("release,length\n1e999,1\n", "line 2: release='1e999': must be finite"),
        ("release,length\n-0.5,1\n", "line 2: release='-0.5': must not be negative"),
        (
            "release,length\n17e17,1\n1700000000000000010,1\n",
            f"line 3: release='1700000000000000010': {BLURRED}",
        ),
        ("release,length\n0,\n", f"line 2: length='': {NUMBER}"),
        ("release,length\n0,ten\n", f"line 2: length='ten': {NUMBER}"),
        ("release,length\n0,0\n", "line 2: length='0': must be >= 1"),
        ("release,length\n0,-3\n", "line 2: length='-3': must be >= 1"),
        ("release,length\n0,2.5\n", f"line 2: length='2.5': {WHOLE}"),
        ("release,length\n0,nan\n", f"line 2: length='nan': {WHOLE}"),
        ("release,length\n0,inf\n", f"line 2: length='inf': {LARGE}"),
        (f"release,length\n0,{2**62 + 1}\n", f"line 2: length='{2**62 + 1}': {LARGE}"),
        (f"release,length\n0,{2**70}\n", f"line 2: length='{2**70}': {LARGE}"),
        ("release,length,lower\n0,3,0\n", "line 2: lower='0': must be >= 1"),
        ("release,length,lower\n0,3,4\n", "line 2: lower='4': must not exceed the length"),
        ("release,length,prompt_steps\n0,3,4\n", "line 2: prompt_steps='4': must not exceed the length"),
        ("release,length,upper\n0,3,2\n", "line 2: upper='2': must not be below the length"),
        ("release,length,prompt_tokens\n0,3,-1\n", "line 2: prompt_tokens='-1': must be >= 0"),
        ("release,length,output_tokens\n0,3,x\n", f"line 2: output_tokens='x': {NUMBER}"),
        ("release,length,prompt_tokens\n0,3,\n0,3,1\n", f"line 2: prompt_tokens='': {NUMBER}"),
        (
            "request_id,release,length\na,1,1\nb,0,1\n\na,0,1\n",
            "line 5: request_id='a': must be unique, line 2 has it too",
        ),
    ],
)
def test_csv(tmp_path: Path, content: bytes | str, message: str) -> None:
    assert said_of(write(tmp_path / "w.csv", content)) == message


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"release": 0}', f"length=None: {NUMBER}"),
        ('{"release": 0, "length": null}', f"length=None: {NUMBER}"),
        ('{"release": 0, "length": true}', f"length='true': {NUMBER}"),
        ('{"release": 0, "length": [1]}', f"length='[1]': {NUMBER}"),
        ('{"release": 0, "length": 1.5}', f"length=1.5: {WHOLE}"),
        ('{"release": NaN, "length": 1}', "release=nan: must be finite"),
        ('{"release": 0, "length": 1', """text='{"release": 0, "length": 1': must be one JSON object"""),
        ("[0, 1]", "text='[0, 1]': must be one JSON object"),
        (
            f'{{"release": {"9" * 5000}, "length": 1}}',
            f"""text='{{"release": {"9" * 28}': must have no number of more than 4,300 digits""",
        ),
        ('{"release": 0, "length": "\\ud800"}', f"""length='"\\\\ud800"': {NUMBER}"""),
        ('{"release": 0, "length": 1, "release": 5}', "release=5: must not come twice in an object"),
        ('{"release": 0, "length": 1, "r\\u0065lease": 5}', "release=5: must not come twice in an object"),
        (
            '{"release": 0, "length": 1} {}',
            """text='{"release": 0, "length": 1} {}': must be one JSON object""",
        ),
    ],
)
def test_jsonl_names_the_line(tmp_path: Path, line: str, message: str) -> None:
    good = json.dumps({"release": 1, "length": 2})
    path = write(tmp_path / "w.jsonl", f"{good}\n\n{line}\n{good}")
    assert said_of(path) == f"line 3: {message}"


def test_csv_whose_lines_end_with_cr_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "w.csv", "release,length\r0,3\r")
    assert said_of(path) == "lines must end with LF or CRLF, found CR alone"


def test_jsonl_without_objects(tmp_path: Path) -> None:
    assert said_of(write(tmp_path / "w.jsonl", "3\n")) == ("line 1: text='3': must be one JSON object")
    assert said_of(write(tmp_path / "w.jsonl", "\n" + "[" * 100_000)) == (
        f"line 2: text='{'[' * 40}': must be one JSON object"
    )


def test_a_key_may_come_twice_where_nobody_reads_it(tmp_path: Path) -> None:
    line = '{"release": 0, "length": 1, "note": "length", "inner": {"length": 4}, "note": "release"}\n'
    workload, _ = read_workload(write(tmp_path / "w.jsonl", line))
    assert workload.length.tolist() == [1]


def test_parquet_names_the_row(tmp_path: Path) -> None:
    path = tmp_path / "w.parquet"
    pq.write_table(pa.table({"release": [0.0, 1.0], "length": [1.0, 1.5]}), path)
    assert said_of(path) == f"row 2: length=1.5: {WHOLE}"


def test_parquet_of_the_wrong_type(tmp_path: Path) -> None:
    path = tmp_path / "w.parquet"
    pq.write_table(pa.table({"release": [0.0], "length": [True]}), path)
    assert said_of(path) == f"row 1: length=True: {NUMBER}"


def test_parquet_of_names_that_are_no_texts(tmp_path: Path) -> None:
    path = tmp_path / "w.parquet"
    pq.write_table(pa.table({"request_id": [[1]], "release": [0.0], "length": [1]}), path)
    assert said_of(path) == "row 1: request_id=[1]: must be a text"


@pytest.mark.parametrize("part", [0.3, 0.9])
def test_truncated_parquet(tmp_path: Path, part: float) -> None:
    path = tmp_path / "w.parquet"
    pq.write_table(pa.table({"release": [0.0] * 500, "length": list(range(1, 501))}), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * part)])
    assert said_of(path) == (
        "cannot be read: Parquet magic bytes not found in footer. "
        "Either the file is corrupted or this is not a parquet file."
    )


def test_something_else_under_the_name_of_csv(tmp_path: Path) -> None:
    assert said_of(write(tmp_path / "w.csv", "x" * 200_000)) == (
        "line 1: must be a header: field larger than field limit (131072)"
    )


def test_no_file(tmp_path: Path) -> None:
    assert said_of(tmp_path / "w.csv") == "no such file"


def test_a_folder(tmp_path: Path) -> None:
    assert said_of(tmp_path) == "cannot be read: is a directory"


def test_unknown_word_for_bad_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "w.csv", "release,length\n0,1\n")
    message = refusal(lambda: read_workload(path, on_bad_row="skip"))  # type: ignore[arg-type]
    assert message == "on_bad_row='skip': must be 'error' or 'drop'"


def test_the_line_of_a_late_row_counts_quoted_line_ends_and_blank_lines(tmp_path: Path) -> None:
    rows = 'a\nb",0,1\n\n   \n'
    content = 'request_id,release,length\r\n"' + rows + "c,0,1\n" * 300_000 + "d,0,x\n"
    path = write(tmp_path / "w.csv", content)
    assert said_of(path) == f"line 300006: length='x': {NUMBER}"


def test_the_first_bad_row_is_named_whatever_its_column(tmp_path: Path) -> None:
    path = write(tmp_path / "w.csv", "release,length\n0,1\n0,0\nx,1\n")
    assert said_of(path) == "line 3: length='0': must be >= 1"


def test_bytes_that_end_in_mid_character(tmp_path: Path) -> None:
    path = write(tmp_path / "w.csv", b"release,length\n0,1\n" + b"\xc3")
    assert said_of(path) == "line 3: byte=0xc3: must be UTF-8 text"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            'release,length,tenant\n0,1,"lost\n' + "".join(f"{k},1,t{k}\n" for k in range(20)),
            "line 2: a quote is opened here and never closed",
        ),
        (  # two stray quotes: a parser takes what lies between them for one field, and joins three rows
            'release,length,tenant\n0,1,"a\n1,2,b\n2,3,"c\n',
            "line 2: a quote is opened here and closed on line 4, where its field does not end",
        ),
        (
            'release,length,tenant\n0,1,"a" \n',
            "line 2: a quote is opened here and closed on line 2, where its field does not end",
        ),
        (
            'release,length,tenant\n0,1,a"b"\n',
            "line 2: a quote must stand at the beginning of a field or be doubled inside a quoted one",
        ),
        (
            'release,length,tenant\n"0","1","a ""b"", c"\n0, "1",x\n',
            "line 3: a quote must stand at the beginning of a field or be doubled inside a quoted one",
        ),
        ('release,"length\n0,1\n', "line 1: must be a header: unexpected end of data"),
        ('release,"length"s\n0,1\n', "line 1: must be a header: ',' expected after '\"'"),
    ],
)
def test_stray_quotes_join_no_rows(tmp_path: Path, content: str, message: str) -> None:
    assert said_of(write(tmp_path / "quotes.csv", content)) == message


def test_a_stray_quote_is_found_behind_many_quoted_fields(tmp_path: Path) -> None:
    content = "release,length,tenant\n" + '0,3,"a"\n' * 2500 + '0,3,b"c\n'
    message = "line 2502: a quote must stand at the beginning of a field or be doubled inside a quoted one"
    assert said_of(write(tmp_path / "quotes.csv", content)) == message


def test_a_quoted_field_may_hold_a_line_end(tmp_path: Path) -> None:
    content = 'release,length,tenant\r\n0,1,"a\nb"\r\n1,2,""\r\n\n"2","3","say ""c"", d"'
    workload, _ = read_workload(write(tmp_path / "closed.csv", content))
    assert workload.tenant is not None
    assert workload.tenant.tolist() == ["a\nb", "", 'say "c", d']


def test_a_column_blank_for_long_must_stay_blank(tmp_path: Path) -> None:
    rows = "1,1,\n" * 1_000_000  # more than one batch
    file = write(tmp_path / "late.csv", f"release,length,prompt_tokens\n{rows}1,1,7\n")
    assert said_of(file) == "line 1000002: prompt_tokens='7': must be blank, as it is in the rows before"


def test_a_pipe_is_refused_before_anybody_waits_for_its_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    assert said_of(tmp_path / "pipe.csv") == "must be a file, found a pipe or a device"
