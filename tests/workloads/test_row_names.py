"""Whatever is left out of a log, a request can be joined back to the row it came from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from serving_sim import Workload
from workloads import LogStream, read_requests, write_workload
from workloads.shaping import (
    ContextLimit,
    Head,
    Only,
    PromptChunks,
    Rate,
    Repeat,
    Shaping,
    ShuffleGaps,
    Thin,
    Window,
    shape,
    split,
)
from workloads.tables import csv_table

HEADER = "arrival_s,input_tokens,output_tokens\n"


def log(path: Path, prompts: Sequence[int | str], times: Sequence[float] | None = None) -> Path:
    """A log of one row a second; a prompt that is a text is a whole line."""
    stamps = range(len(prompts)) if times is None else times
    rows = [
        each if isinstance(each, str) else f"{time},{each},5"
        for time, each in zip(stamps, prompts, strict=True)
    ]
    path.write_text(HEADER + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def ids(workload: Workload) -> list[str] | None:
    return None if workload.request_id is None else workload.request_id.tolist()


def read(path: Path) -> Workload:
    return read_requests(path, time_unit=1.0, on_bad_row="drop")[0]


def streamed(path: Path) -> list[str]:
    blocks = LogStream(path, time_unit=1.0, on_bad_row="drop").blocks()
    return [name for block in blocks for name in ids(block) or []]


def test_rows_that_all_stay_in_their_places_carry_no_names(tmp_path: Path) -> None:
    path = log(tmp_path / "log.csv", [10, 11, 12])
    assert ids(read(path)) is None
    assert [ids(block) for block in LogStream(path, time_unit=1.0).blocks()] == [None]
    for chain in ([Head(2)], [Window(0.0, 2.0)], [PromptChunks(4)], [Rate(2.0)], [ContextLimit(99, "drop")]):
        assert ids(shape(read(path), chain, 0)[0]) is None


def test_dropped_rows_of_every_kind_count(tmp_path: Path) -> None:
    # a bad value, a line with too few fields, one of spaces (no row), a blank one (no row)
    path = log(tmp_path / "log.csv", [10, -1, "6,7", 13, "   ", "", 14, "x", "y", 17, -1])
    assert ids(read(path)) == ["0", "3", "4", "7"]
    assert streamed(path) == ["0", "3", "4", "7"]


def test_the_first_rows_may_be_the_bad_ones_and_the_whole_of_a_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_table, "_BLOCK", 64)
    kinds: list[int | str] = [5, "short", -1, " "]
    chance = np.random.default_rng(3).integers(4, size=400)
    chance[:40] = 1
    path = log(tmp_path / "log.csv", [kinds[kind] for kind in chance])
    expected = [str(row) for row, kind in enumerate(chance[chance != 3]) if kind == 0]
    assert ids(read(path)) == expected
    assert streamed(path) == expected


def test_json_lines_count_those_that_are_no_objects(tmp_path: Path) -> None:
    rows = [json.dumps({"release": row, "length": 1}) for row in range(5)]
    rows[1], rows[3] = "{", '{"release": 3, "length": 0}'
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(rows), encoding="utf-8")
    assert ids(read_requests(path, on_bad_row="drop")[0]) == ["0", "2", "4"]


def test_sorted_rows_keep_the_numbers_of_the_file(tmp_path: Path) -> None:
    assert ids(read(log(tmp_path / "log.csv", [10, 11, 12], times=[5, 1, 3]))) == ["1", "2", "0"]
    assert ids(read(log(tmp_path / "log.csv", [10, -1, 12, 13], times=[5, 1, 3, 4]))) == ["2", "3", "0"]


def test_rows_of_several_files_are_counted_on(tmp_path: Path) -> None:
    log(tmp_path / "a.csv", [10, "bad", 12], times=[0, 1, 2])
    log(tmp_path / "b.csv", ["bad", 21], times=[0, 9])
    assert ids(read(tmp_path / "*.csv")) == ["0", "2", "4"]
    blocks = LogStream(tmp_path / "*.csv", time_unit=1.0, on_bad_row="drop").blocks()
    assert [ids(block) for block in blocks] == [["0", "2"], ["4"]]


def test_names_that_the_file_gives_stay(tmp_path: Path) -> None:
    path = tmp_path / "named.csv"
    path.write_text("request_id,release,length\na,0,1\nb,1,0\nc,2,1\n", encoding="utf-8")
    workload = read_requests(path, on_bad_row="drop")[0]
    assert ids(workload) == ["a", "c"]
    assert ids(shape(workload, [Window(1.0)], 0)[0]) == ["c"]


@pytest.mark.parametrize(
    "chain",
    [
        [Window(2.0, 5.0)],
        [Thin(0.5)],
        [Only("tenant", "b")],
        [ContextLimit(17, "drop")],
        [ContextLimit(17, "cap"), PromptChunks(4)],
        [Window(1.0), Only("tenant", "a"), Head(2), Rate(3.0)],
        [Thin(0.7), ShuffleGaps()],
    ],
    ids=lambda chain: "+".join(type(each).__name__ for each in chain),
)
def test_every_shaping_keeps_requests_with_their_rows(chain: list[Shaping]) -> None:
    prompts = np.array([14, 10, 13, 11, 30, 12, 15, 9])
    release = np.array([0.0, 2, 1, 3, 4, 4, 6, 5])  # out of order in memory
    whole = Workload(
        release, prompts + 5, prompt_tokens=prompts, output_tokens=[5] * 8, tenant=list("abababab")
    )
    shaped, _ = shape(whole, chain, seed=1)
    assert shaped.prompt_tokens is not None
    rows = range(len(shaped)) if shaped.request_id is None else map(int, shaped.request_id)
    assert prompts[list(rows)].tolist() == shaped.prompt_tokens.tolist()


def test_a_request_of_a_later_pass_says_its_row_and_its_pass() -> None:
    log_ = Workload([0.0, 1.0, 2.0], [7, 8, 9])
    played, _ = shape(log_, [Repeat(2)], seed=0)
    assert played.request_id is not None
    rows = [int(name.partition("~")[0]) for name in played.request_id]
    assert log_.length[rows].tolist() == played.length.tolist()
    assert [name.partition("~")[2] for name in played.request_id] == [""] * 3 + ["2"] * 3


def test_parts_of_a_split_and_a_converted_file_say_the_rows_of_the_log(tmp_path: Path) -> None:
    whole = Workload([0.0, 1.0, 2.0], [7, 8, 9], tenant=["b", "a", "b"])
    assert {name: ids(part) for name, part in split(whole, "tenant").items()} == {"b": ["0", "2"], "a": ["1"]}
    write_workload(split(whole, "tenant")["b"], tmp_path / "part.csv")
    assert ids(read_requests(tmp_path / "part.csv")[0]) == ["0", "2"]
