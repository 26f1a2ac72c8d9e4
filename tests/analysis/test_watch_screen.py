"""Watching on a terminal: keys, what is drawn, and the terminal afterwards."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO
from unittest import mock

import pytest
from fresh_process import command_line, environment

from analysis.watch import Observer, Recording, record
from policies import parse_policy
from serving_sim import Workload, simulate

termios = pytest.importorskip("termios")
from analysis.cli import keys, screen  # noqa: E402

ALTERNATE, NORMAL = "\x1b[?1049h", "\x1b[?1049l"
HIDDEN, SHOWN = "\x1b[?25l", "\x1b[?25h"
OWN_TERMINAL = """\
import os, sys
os.close(os.open(os.ttyname(0), os.O_RDWR))  # the first that a new session opens sends it Ctrl-C
from analysis.cli import main
sys.exit(main())
"""
RIGHT, LEFT, HOME, END = "\x1b[C", "\x1b[D", "\x1b[H", "\x1b[F"


class Terminal:
    """A terminal that types, and keeps what it is sent."""

    def __init__(self) -> None:
        self.outside, self.inside = os.openpty()
        termios.tcsetwinsize(self.inside, (24, 80))
        self.before = termios.tcgetattr(self.inside)
        self._sent = b""
        self._reader = threading.Thread(target=self._keep, daemon=True)
        self._reader.start()

    def _keep(self) -> None:
        with contextlib.suppress(OSError):  # the inside is closed
            while sent := os.read(self.outside, 4096):
                self._sent += sent

    @property
    def shown(self) -> str:
        return self._sent.decode()

    def type(self, text: str) -> None:
        os.write(self.outside, text.encode())

    def await_text(self, text: str) -> None:
        deadline = time.monotonic() + 60
        while text not in self.shown:
            assert time.monotonic() < deadline, self.shown[-2000:]
            time.sleep(0.01)

    def epochs(self) -> list[int]:
        """Numbers of the epochs that were drawn, in this order."""
        return [int(number) for number in re.findall(r"epoch (\d+) of", self.shown)]

    def close(self) -> None:
        os.close(self.inside)
        self._reader.join()  # else it would read what the next terminal is sent
        os.close(self.outside)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    made = Terminal()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("COLUMNS", "LINES", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)


@contextlib.contextmanager
def at(terminal: Terminal, **others: IO[str]) -> Iterator[None]:
    """The terminal is that of this process, but for ``others``."""
    with (
        open(terminal.inside, closefd=False, encoding="utf-8") as stdin,
        open(terminal.inside, "w", closefd=False, encoding="utf-8") as stdout,
        mock.patch.dict(vars(sys), {"stdin": stdin, "stdout": stdout, **others}),
    ):
        yield


@pytest.fixture(scope="module")
def recording() -> Recording:
    """Epochs at 0, 5, 7, 9, 14, 18: entries at 5 and 7 are beyond alpha = 3."""
    watched = Observer(parse_policy("fcfs"))
    workload = Workload([0] * 5, [9, 5, 2, 7, 9])
    return record(simulate(workload, watched, slots=2, alpha=3), watched)


def test_a_terminal_that_goes_in_the_middle_of_an_escape_quits() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"\x1b")
    os.close(writing)
    assert keys.Keys(reading).next(1) == "quit"
    os.close(reading)


def test_keys_lead_forward_back_to_the_ends_and_to_violations(
    terminal: Terminal, recording: Recording
) -> None:
    count = len(recording)
    assert recording.violations == (1, 2)
    alt_q = "\x1bq"
    terminal.type(f"{RIGHT} {LEFT}{END}{RIGHT}{HOME}{LEFT}vvv\x1b[99~x{alt_q}q")
    with at(terminal):
        screen.step_through(recording, "fcfs on 2 slots")
    terminal.await_text(NORMAL)
    assert terminal.epochs() == [1, 2, 3, 2, count, 1, 2, 3]
    assert "space, right: on  left: back  home, end  v: next of 2 violations  q: quit" in terminal.shown


def left_as_it_was(terminal: Terminal) -> bool:
    """Whether the screen and the cursor are back, and the terminal works as before."""
    terminal.await_text(NORMAL)
    terminal.await_text(SHOWN)
    shown = terminal.shown
    return (
        shown.index(ALTERNATE) < shown.rindex(NORMAL)
        and shown.rindex(HIDDEN) < shown.rindex(SHOWN)
        and termios.tcgetattr(terminal.inside) == terminal.before
    )


def test_terminal_is_left_as_it_was_after_q(terminal: Terminal, recording: Recording) -> None:
    terminal.type("q")
    with at(terminal):
        screen.step_through(recording, "")
    assert left_as_it_was(terminal)


def test_terminal_is_left_as_it_was_after_an_error(
    terminal: Terminal, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        assert not termios.tcgetattr(terminal.inside)[3] & termios.ECHO
        raise ZeroDivisionError

    monkeypatch.setattr(keys.Keys, "next", fails)
    with at(terminal), pytest.raises(ZeroDivisionError):
        screen.step_through(recording, "")
    assert left_as_it_was(terminal)


def test_a_terminal_that_is_resized_gets_a_new_drawing(terminal: Terminal, recording: Recording) -> None:
    def narrows() -> None:
        try:
            terminal.await_text("constraint")
            termios.tcsetwinsize(terminal.inside, (12, 20))
            terminal.await_text("epoch 2 of 6   tim..")
        finally:
            terminal.type("q")

    terminal.type("v")
    typist = threading.Thread(target=narrows)
    typist.start()
    with at(terminal):
        screen.step_through(recording, "")
    typist.join()
    assert terminal.epochs()[-2:] == [2, 2]


@pytest.mark.parametrize(("lines", "columns"), [(0, 0), (1, 1), (2, 10)])
def test_a_terminal_of_any_size_is_drawn_on(
    terminal: Terminal, recording: Recording, lines: int, columns: int
) -> None:
    termios.tcsetwinsize(terminal.inside, (lines, columns))
    terminal.type("v q")
    with at(terminal):
        screen.step_through(recording, "fcfs on 2 slots")
    terminal.await_text(NORMAL)
    assert ("epoch 2 of 6   time 5" in terminal.shown) == (lines == 0)


@pytest.mark.parametrize(("variable", "coloured"), [("TERM", True), ("NO_COLOR", False)])
def test_colours_are_drawn_unless_nobody_wants_them(
    terminal: Terminal,
    recording: Recording,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    *,
    coloured: bool,
) -> None:
    monkeypatch.setenv(variable, "xterm")
    terminal.type("vq")
    with at(terminal):
        screen.step_through(recording, "")
    terminal.await_text(NORMAL)
    assert bool(re.search(r"\x1b\[(\d;)*3\dm", terminal.shown)) == coloured


def test_a_screen_needs_terminals_that_can_draw(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    with at(terminal):
        assert screen.has_screen()
        monkeypatch.setenv("TERM", "dumb")
        assert not screen.has_screen()
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(screen, "HAS_KEYS", False)
        assert not screen.has_screen()


@pytest.mark.parametrize("stream", ["stdin", "stdout"])
def test_a_screen_needs_a_terminal_on_both_sides(terminal: Terminal, stream: str, tmp_path: Path) -> None:
    with (tmp_path / "file").open("w+", encoding="utf-8") as file, at(terminal, **{stream: file}):
        assert not screen.has_screen()


def test_a_screen_needs_a_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert not screen.has_screen()


def test_a_key_in_pieces_is_one_key_and_a_lone_escape_is_none(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    pressed = keys.Keys(terminal.inside)
    attributes = termios.tcgetattr(terminal.inside)
    attributes[3] &= ~(termios.ICANON | termios.ECHO)
    termios.tcsetattr(terminal.inside, termios.TCSANOW, attributes)
    monkeypatch.setattr(keys, "_PATIENCE", 60)
    terminal.type("\x1b")
    threading.Timer(0.01, terminal.type, ["[D"]).start()
    assert pressed.next(60) == "left"
    monkeypatch.setattr(keys, "_PATIENCE", 0.01)
    terminal.type("\x1b")
    assert pressed.next(60) is None
    terminal.type("\x1bOC\x7f\x1b[4~")
    assert [pressed.next(60) for _ in range(3)] == ["right", "left", "end"]
    assert pressed.next(0) is None


@pytest.mark.parametrize(("how", "code"), [("\x03", 130), (signal.SIGTERM, 143)])
def test_a_stopped_process_leaves_the_terminal_as_it_was(
    terminal: Terminal, how: str | signal.Signals, code: int
) -> None:
    process = subprocess.Popen(
        command_line("watch", "--policy", "isjl:alpha=20", script=OWN_TERMINAL),
        stdin=terminal.inside,
        stdout=terminal.inside,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        start_new_session=True,
    )
    terminal.await_text("epoch 1 of")
    if isinstance(how, str):
        terminal.type(how)
    else:
        process.send_signal(how)
    _, err = process.communicate(timeout=60)
    word = "interrupted" if code == 130 else "terminated"
    assert (process.returncode, err) == (code, f"serving-sim: error: {word}\n")
    assert left_as_it_was(terminal)
