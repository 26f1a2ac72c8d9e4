"""Refusals that say how to go on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command_line import Command

BURST = (
    "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
    "5,ChatGPT,10,3,13,Conversation log\n"
    "6,ChatGPT,10,0,10,Conversation log\n"
)
DROP = "; --on-bad-row drop leaves such rows out and counts them\n"


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def refused(words: str, command: Command) -> str:
    code, out, err = command(words)
    assert (code, out) == (2, "")
    return err.removeprefix("serving-sim: error: ")


def test_a_bad_row_may_be_dropped(command: Command) -> None:
    Path("burst.csv").write_text(BURST, encoding="utf-8")
    words = "run --requests burst.csv --time-unit 1 --policy fcfs --slots 1"
    assert refused(words, command) == (
        "burst.csv: line 3: Response tokens='0': must be >= 1, a request without an answer failed" + DROP
    )
    code, _, err = command(f"{words} --on-bad-row drop")
    assert code == 0
    assert "burst.csv (burstgpt): 2 rows = 1 kept + 1 dropped" in err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("release,length\n0,0\n1,2\n", "workload fit log.csv --out out.toml"),
        ("release,length,request_id\n0,1,a\n1,2,a\n", "workload inspect --requests log.csv"),
        ("batch_size,max_kv_tokens,sum_kv_tokens,milliseconds\n1,0,1,1\n", "steptime fit log.csv"),
    ],
)
def test_so_it_may_in_every_command_that_has_the_option(text: str, words: str, command: Command) -> None:
    Path("log.csv").write_text(text, encoding="utf-8")
    assert refused(words, command).endswith(DROP)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("release,size\n0,1\n", "run --policy fcfs --requests log.csv"),  # a column, not a row
        ("length\n0\n", "run --policy fcfs --lengths empirical:file=log.csv"),  # has no such option
    ],
)
def test_dropping_is_not_offered_where_it_does_not_help(text: str, words: str, command: Command) -> None:
    Path("log.csv").write_text(text, encoding="utf-8")
    assert "on-bad-row" not in refused(words, command)


def test_names_that_share_a_file_are_told(command: Command) -> None:
    rows = "".join(f"{row},1,{name}\n" for row, name in enumerate(["a/b", "c", "a:b", "d.", "a?b"]))
    Path("log.csv").write_text(f"release,length,tenant\n{rows}", encoding="utf-8")
    assert refused("workload convert log.csv --split-by tenant --out part.csv --quiet", command) == (
        "--split-by=tenant: 'a/b' and 'a:b' would both be part-a-b.csv, and 3 names in all share a file; "
        "write each of them by itself, with --tenant NAME --out FILE\n"
    )
    assert list(Path().iterdir()) == [Path("log.csv")]


def test_one_of_a_thing_is_singular(command: Command) -> None:
    Path("log.csv").write_text("release,length\n0,1\n", encoding="utf-8")
    code, _, err = command("workload convert log.csv --out out.csv")
    assert code == 0
    assert "log.csv (plain): 1 row = 1 kept\n" in err
    assert "\n1 request written to out.csv\n" in err


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="rights of folders as Unix has them")
def test_a_study_in_a_folder_that_may_not_be_written_to(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = 'policy = "fcfs"\nslots = 2\nload = 0.5\nlengths = "fixed:length=5"\nnum-prompts = 9\n'
    Path("grid.toml").write_text(grid, encoding="utf-8")
    Path("grid.sqlite-lock").mkdir()  # what SQLite cannot open, whoever runs the test
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK and may(path, mode))
    assert refused("study run grid.toml", command) == "grid.sqlite-lock may not be written to\n"
