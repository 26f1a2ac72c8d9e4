"""What the command prints where: names as text, help without boxes, details for those who ask, progress."""

from __future__ import annotations

import io
import re
import sys
import time
from pathlib import Path

import pytest
from command_line import Command
from typer.main import get_command

import analysis
from analysis.cli.app import app
from analysis.cli.console import aligned, progress, say, show
from analysis.tables import Table

HOME = Path(analysis.__file__).parents[1]
HOSTILE = Table("\x1b[2J", ("a\x07", "b"), [("\x1b]0;owned\x07", "\x9b31m")], notes=["\r\x1b[A"])


class TerminalText(io.StringIO):
    """A text that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_tables_show_what_names_hold_and_obey_none_of_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        aligned(HOSTILE) == "\\x1b[2J\na\\x07                   b\n\\x1b]0;owned\\x07  \\x9b31m\n\\r\\x1b[A\n"
    )
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    show(Table("[bold]", ("[red]", "b"), [("[link=x]y[/link]", "1")], notes=["[x]"]))
    shown = capsys.readouterr().out
    for text in ("[bold]", "[red]", "[link=x]y[/link]", "[x]"):
        assert text in shown
    show(HOSTILE)
    assert "\\x1b]0;owned\\x07" in capsys.readouterr().out
    say("one\n\x1btwo", quiet=False)
    assert capsys.readouterr().err == "one\n\\x1btwo\n"


def test_help_is_plain_away_from_a_terminal(command: Command) -> None:
    code, out, _ = command("run --help")
    assert code == 0
    assert out.isascii()
    assert out.startswith("Usage: serving-sim run [OPTIONS]\n")
    assert re.search(r"^  -v, --verbose +Say on standard error what is being done\.$", out, re.MULTILINE)


def test_every_command_tells_details_to_those_who_ask() -> None:
    root = get_command(app)
    for command in root.commands.values():  # type: ignore[attr-defined]
        for each in getattr(command, "commands", {"": command}).values():
            assert "--verbose" in [name for option in each.params for name in option.opts], each.name


def test_verbose_tells_engine_and_files(command: Command, tmp_path: Path) -> None:
    words = ("run --policy fcfs --num-prompts 30 --csv --out", tmp_path)
    code, out, err = command(*words, "--verbose")
    lines = err.splitlines()
    assert code == 0
    assert re.fullmatch(r"serving-sim \S.*, Python 3\.\d+\.\d+\S*", lines[0])
    assert (
        lines.count("fcfs: simpy engine, the compiled one is for 100,000 requests or more") == 2
    )  # one for its capacity
    assert f"wrote {tmp_path / 'requests.csv'}" in lines
    assert f"wrote {tmp_path / 'summary.json'}" in lines
    assert command(*words)[1:] == (
        out,
        "\n".join(line for line in lines[1:] if " engine" not in line and "wrote" not in line) + "\n",
    )


def test_verbose_tells_of_every_cell(command: Command, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        'policy = ["fcfs", "sjf"]\nslots = 2\nlengths = "geometric:mean=9"\nload = 0.5\nnum-prompts = 20\n',
        encoding="utf-8",
    )
    _, _, err = command("study run --verbose --jobs 1", study)
    assert [line for line in err.splitlines() if line.endswith(": done")] == [
        "lengths=geometric:mean=9, arrivals=poisson, load=0.5, num_prompts=20, slots=2, step_time=base=1.0, "
        f"policy={policy}, replication=1: done"
        for policy in ("fcfs", "sjf")
    ]


def test_verbose_and_quiet_exclude_each_other(command: Command) -> None:
    assert command("run --policy fcfs --quiet -v") == (
        2,
        "",
        "serving-sim: error: --verbose: cannot go with --quiet\n",
    )


def bar(monkeypatch: pytest.MonkeyPatch, *, terminal: bool, quiet: bool, seconds: float) -> str:
    """What standard error gets of a bar over two tasks that take so long."""
    stderr = TerminalText() if terminal else io.StringIO()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr("analysis.cli.console._PATIENCE", 0.01)
    with progress(2, quiet=quiet) as begin:
        begin("first")
        time.sleep(seconds)
        begin("second")
        time.sleep(seconds)
    return stderr.getvalue()


def test_progress_tells_task_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", bar(monkeypatch, terminal=True, quiet=False, seconds=0.25))
    assert re.search(r"second .* 1/2 \d[\d.e+]*/s 0:00:\d\d left 0:0\d:\d\d", shown)


def test_progress_is_not_drawn_away_from_a_terminal_nor_for_the_quiet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert bar(monkeypatch, terminal=False, quiet=False, seconds=0.05) == ""
    assert bar(monkeypatch, terminal=True, quiet=True, seconds=0.05) == ""


def test_progress_has_no_colour_where_nobody_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert not re.search(r"\x1b\[(\d+;)*[34]\d", bar(monkeypatch, terminal=True, quiet=False, seconds=0.1))
