"""Paths are bytes: names that are no UTF-8, or that the locale cannot tell, are written, read and shown."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Command
from fresh_process import command_line, environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems want names in UTF-8")

LATIN = os.fsdecode(b"ol\xe4")
C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_workload_goes_to_such_a_file_and_comes_back(suffix: str, command: Command) -> None:
    assert command("workload make --num-prompts 30 --quiet --out", f"{LATIN}{suffix}") == (0, "", "")
    code, out, err = command("workload inspect --quiet --requests", f"{LATIN}{suffix}")
    assert (code, err) == (0, "")
    assert out.startswith("rows out of order in the file: 0\n")


def test_a_comparison_goes_to_such_a_folder_and_its_page_is_utf8(command: Command) -> None:
    words = "compare --policy fcfs --policy sjf --slots 2 --alpha 9 --num-prompts 20 --quiet --out"
    code, _, err = command(words, LATIN)
    assert (code, err) == (0, "")
    folder = Path(LATIN)
    assert (folder / "fcfs" / "requests.parquet").is_file()
    assert r"--out &#39;ol\udce4&#39;" in (folder / "report.html").read_text(encoding="utf-8")


def test_a_locale_without_the_letter_keeps_the_name(tmp_path: Path) -> None:
    words = ("run", "--policy", "fcfs", "--num-prompts", "9", "--slots", "2", "--quiet", "--out", "olä")
    done = subprocess.run(
        command_line(*words), env=environment() | C_LOCALE, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in (tmp_path / "olä").iterdir()) == ["requests.parquet", "summary.json"]
