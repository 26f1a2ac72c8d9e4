"""JSON files that are one array, or objects over many lines, read item by item."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusal import refusal

from workloads import read_requests, read_workload
from workloads.tables import json_stream
from workloads.tables.json_stream import Broken, items

ON = "must go on as JSON objects"
EARLY = "must go on, the file ends early"


def write(folder: Path, content: str) -> Path:
    path = folder / "w.json"
    path.write_text(content, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "content",
    [
        '[{"release": 0, "length": 3}, {"release": 1, "length": 4}]',
        '\n {\n "release": 0,\n "length": 3}\n{"release": 1\n,"length": 4}\n',
        '\ufeff \n[\r\n{"length": 3, "release": 0, "text": "]}"}\n,{"release": 1.0, "length": "4"}]\n\n',
    ],
)
def test_a_workload_as_an_array(tmp_path: Path, content: str) -> None:
    workload, report = read_workload(write(tmp_path, content))
    assert workload.release.tolist() == [0, 1]
    assert workload.length.tolist() == [3, 4]
    assert report.rows_read == 2


@pytest.mark.parametrize(
    ("after", "message"),
    [
        (', {"release": 1, "length": "fo', f"""item 3: text='{{"release": 1, "length": "fo': {EARLY}"""),
        ("", f"item 3: text='': {EARLY}"),
        (", ]", f"item 3: text=']': {ON}"),
        ("} ]", f"item 3: text='}} ]': {ON}"),
        ("] ]", f"item 3: text=']': {ON}"),
        (", 7]", "item 3: item=7: must be a JSON object"),
        (', {"release": 1}]', "item 3: length=None: must be a number"),
        (
            ', {"release": 1, "length": "\\ud800"}]',
            """item 3: length='"\\\\ud800"': must be a number""",
        ),
        (
            ', {"release": 1, "length": 3, "release": 2}]',
            "item 3: release=2: must not come twice in an object",
        ),
    ],
)
def test_refusals_name_the_item(tmp_path: Path, after: str, message: str) -> None:
    path = write(tmp_path, '[{"release": 0, "length": 3}, {"release": 0, "length": 3}' + after)
    assert refusal(lambda: read_workload(path)) == f"{path}: {message}"


def test_a_file_that_is_broken_from_the_start(tmp_path: Path) -> None:
    early = write(tmp_path, '{"start_times": [1, 2], "input_lens": [3, 4], "output_lens": [5, 6]')
    said = """item 1: text='{"start_times": [1, 2], "input_lens": [3': must go on, the file ends early"""
    assert refusal(lambda: read_requests(early, time_unit=1.0)) == f"{early}: {said}"
    deep = write(tmp_path, '{"release": ' + "[" * 100_000)
    said = """item 1: text='{"release": [[[[[[[[[[[[[[[[[[[[[[[[[[[[': must go on as JSON objects"""
    assert refusal(lambda: read_workload(deep)) == f"{deep}: {said}"


def test_what_cannot_be_read_can_be_dropped_and_is_counted(tmp_path: Path) -> None:
    path = write(tmp_path, '[7, {"release": 0, "length": 0}, {"release": 0, "length": 3}, {"rel')
    workload, report = read_workload(path, on_bad_row="drop")
    assert workload.length.tolist() == [3]
    assert (report.rows_read, report.kept) == (4, 1)
    assert report.dropped == {
        "item: must be a JSON object": 1,
        "length: must be >= 1": 1,
        f"text: {EARLY}": 1,
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '{\n"release": 0, "length": 3}\n{"release": 0, "leng',
            f"""item 2: text='{{"release": 0, "leng': {EARLY}""",
        ),
        (
            '{\n"release": 0, "length": 3},\n{"release": 0}',
            f"""item 2: text=',\\n{{"release": 0}}': {ON}""",
        ),
    ],
)
def test_objects_over_many_lines(tmp_path: Path, content: str, message: str) -> None:
    path = write(tmp_path, content)
    assert refusal(lambda: read_workload(path)) == f"{path}: {message}"


def test_an_empty_array(tmp_path: Path) -> None:
    path = write(tmp_path, " [ ] ")
    assert refusal(lambda: read_workload(path)) == (
        f"{path}: columns 'release', 'length' must be there, found none"
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(values=st.lists(JSON, max_size=6), block=st.integers(1, 9), indent=st.sampled_from([None, 1]))
def test_items_are_what_json_says_wherever_blocks_end(
    values: list[object], block: int, indent: int | None
) -> None:
    text = json.dumps(values, indent=indent)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "_BLOCK", block)
        assert list(items(StringIO(text))) == values
        for end in range(len(text)):
            *_, last = items(StringIO(text[:end]))
            assert isinstance(last, Broken)
