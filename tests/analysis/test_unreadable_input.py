"""A file that may not be read, or is a folder: every command that reads says so in a line that names it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command_line import Command

READING = (
    "run --policy fcfs --requests secret.csv --quiet",
    "compare --policy fcfs --policy sjf --requests secret.csv --quiet",
    "run --policy fcfs --clients secret.toml --quiet",
    "run --policy fcfs --workload secret.toml --quiet",
    "run --policy fcfs --lengths empirical:file=secret.csv --quiet",
    "calibrate secret.csv --alpha 5 --slots 2 --quiet",
    "steptime fit secret.csv --quiet",
    "study secret.toml --quiet",
    "study status secret.toml",
    "workload inspect --requests secret.csv --quiet",
    "workload fit secret.csv --out fitted.toml --quiet",
    "workload convert secret.csv --out again.csv --quiet",
)


def line(words: str, command: Command) -> str:
    code, out, err = command(words)
    assert (code, out) == (2, "")
    (said,) = err.splitlines()
    assert said.startswith("serving-sim: error: ")
    assert "secret." in said
    return said.lower()


@pytest.mark.parametrize("words", READING)
def test_a_file_that_may_not_be_read(
    words: str, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.csv").write_text("release,length\n0,1\n", encoding="utf-8")
    (tmp_path / "secret.toml").touch()
    opened = Path.open

    def refuse(path: Path, *how: Any, **more: Any) -> Any:  # noqa: ANN401  (as Path.open; root may read all)
        if path.name.startswith("secret"):
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *how, **more)

    monkeypatch.setattr(Path, "open", refuse)
    assert "permission denied" in line(words, command)


@pytest.mark.parametrize("words", READING)
def test_a_folder_in_the_place_of_a_file(
    words: str, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.csv").mkdir()
    (tmp_path / "secret.toml").mkdir()
    assert "directory" in line(words, command)
