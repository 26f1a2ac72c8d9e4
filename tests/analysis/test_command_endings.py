"""How the command ends, whatever ends it: one line, the exit code, no traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import typer
from command_line import Command
from fresh_process import COMMAND, command_line, environment

from analysis.cli import main
from analysis.cli.console import complain, say
from analysis.cli.ending import CheckFailedError, heeding_signals, last_words
from serving_sim.errors import PolicyError
from serving_sim.testing import BreachError

KEPT = "files written so far are complete"


def start(
    *words: str, script: str = COMMAND, inherited: Mapping[str, str] | None = None, **changes: str
) -> subprocess.Popen[str]:
    """The command in a process of its own, both streams piped."""
    return subprocess.Popen(
        command_line(*words, script=script),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=(environment() if inherited is None else dict(inherited)) | changes,
    )


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (BrokenPipeError(32, "Broken pipe"), 2, "BrokenPipeError: [Errno 32] Broken pipe"),
        (PermissionError(13, "Permission denied", "A/Bc.csv"), 2, "A/Bc.csv: Permission denied"),
        (OSError(28, "No space left on device"), 2, "standard output: No space left on device"),
        (OSError("not a system error"), 2, "not a system error"),
        (ValueError("alpha=-1: must be >= 0"), 2, "alpha=-1: must be >= 0"),
        (PolicyError("policy x at time 1"), 2, "policy x at time 1"),
        (BreachError("a broken rule"), 1, "a broken rule"),
        (ImportError("the solver needs an extra"), 2, "the solver needs an extra"),
        (MemoryError(), 2, "out of memory"),
        (MemoryError("Unable to allocate 9 TiB"), 2, "out of memory: Unable to allocate 9 TiB"),
        (
            OverflowError("int too large to convert to float"),
            2,
            "a number is too large to compute with: int too large to convert to float",
        ),
        (RecursionError("maximum recursion depth exceeded"), 2, "something is nested too deeply"),
        (KeyError("x"), 2, "KeyError: 'x'"),
        (ValueError(), 2, "ValueError"),
        (typer.Exit(1), 1, ""),
        (CheckFailedError(), 1, ""),
        (typer.BadParameter("Must be 1"), 2, "invalid value: Must be 1"),
        (SystemExit(), 2, "SystemExit"),
        (SystemExit(0), 2, "SystemExit: 0"),
        (GeneratorExit(), 2, "GeneratorExit"),
    ],
)  # fmt: skip
def test_every_error_has_a_code_and_a_line(error: BaseException, code: int, message: str) -> None:
    assert last_words(error) == (code, message)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ImportError("initialization failed"), SystemExit(1)])
def test_a_signal_is_told_whatever_it_has_become(error: BaseException) -> None:
    assert last_words(error, [signal.SIGINT], files=1) == (130, f"interrupted, {KEPT}")
    assert last_words(error, [signal.SIGINT, signal.SIGTERM], files=1) == (143, f"terminated, {KEPT}")
    assert last_words(error, [signal.SIGHUP]) == (129, "terminated")


def test_signals_are_as_before_once_the_command_has_ended() -> None:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before, hook = [signal.getsignal(number) for number in numbers], sys.unraisablehook
    assert main(["policies", "--no-such"]) == 2
    assert [signal.getsignal(number) for number in numbers] == before
    assert sys.unraisablehook is hook


def test_a_signal_that_comes_where_errors_are_dropped_comes_again() -> None:
    class Leaving:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    def work() -> None:
        Leaving()  # and gone
        for _ in range(10_000):
            time.sleep(0.001)

    with heeding_signals() as heard, pytest.raises(KeyboardInterrupt):
        work()
    assert heard == [signal.SIGINT] * 2


def test_an_error_nobody_foresaw_names_its_place() -> None:
    def fails() -> None:
        raise ZeroDivisionError("division by zero")

    with pytest.raises(ZeroDivisionError) as caught:
        fails()
    line = fails.__code__.co_firstlineno + 1
    assert last_words(caught.value) == (
        2,
        f"ZeroDivisionError: division by zero ({__file__}, line {line}, in fails)",
    )


QUITTER = """\
import typer
from policies import FCFS

class Leave(BaseException):
    def __init__(self, one, two):
        super().__init__(f"{one}{two}")

class Quitter(FCFS):
    def __init__(self, how: str = "decide"):
        if how == "init":
            raise SystemExit(0)
        self.how = how

    def decide(self, epoch):
        raise {
            "decide": SystemExit(0),
            "generator": GeneratorExit(),
            "own": Leave(4, 2),
            "exit": typer.Exit(0),
            "usage": typer.BadParameter("must be 1"),
        }[self.how]
"""


@pytest.fixture
def quitter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The module of a policy that leaves, in the current folder; it is forgotten afterwards."""
    module = tmp_path / "quitter.py"
    module.write_text(QUITTER, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "quitter", None)
    monkeypatch.delitem(sys.modules, "quitter")
    return module


@pytest.mark.parametrize(
    ("words", "how", "said"),
    [
        ("run --out out", "decide", "SystemExit: 0 ({}, line 15, in decide)"),
        ("run --out out", "exit", "Exit: 0 ({}, line 15, in decide)"),
        ("run --out out --verbose", "exit", "Exit: 0 ({}, line 15, in decide)"),
        ("run --out out", "usage", "BadParameter: must be 1 ({}, line 15, in decide)"),
        ("run --out out", "generator", "GeneratorExit"),
        ("run --out out", "own", "Leave: 42 ({}, line 15, in decide)"),
        ("run --out out", "init", "policy 'quitter:Quitter': cannot be made: SystemExit: 0"),
        ("compare --policy fcfs --out out", "decide", "SystemExit: 0 ({}, line 15, in decide)"),
        ("watch", "exit", "Exit: 0 ({}, line 15, in decide)"),
        ("capacity --json --jobs 2", "exit", "Exit: 0 ("),
        ("capacity --json --jobs 2", "decide", "SystemExit: 0 ("),  # as joblib raises it again
    ],
)
def test_a_policy_that_leaves_is_no_success(
    words: str, how: str, said: str, quitter: Path, command: Command
) -> None:
    code, out, err = command(f"{words} --policy quitter:Quitter:how={how} --num-prompts 50")
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith(f"serving-sim: error: {said.format(quitter)}")
    assert [path.name for path in quitter.parent.iterdir() if path.suffix] == ["quitter.py"]


def test_the_middle_of_a_long_message_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    complain(f"file.csv: line 2: length='{'9' * 100_000}': must be a whole number")
    said = capsys.readouterr().err
    assert len(said) < 1050
    assert said.startswith("serving-sim: error: file.csv: line 2: length='999")
    assert said.endswith("999': must be a whole number\n")
    assert " ... " in said


def test_orders_to_the_terminal_are_spelled(capsys: pytest.CaptureFixture[str]) -> None:
    complain("a\x1b[2Jb\r\nc.csv: line 2: length='\u202e9'")
    assert capsys.readouterr().err == "serving-sim: error: a\\x1b[2Jb c.csv: line 2: length='\\u202e9'\n"
    say("c\x07.csv: 4 rows\nand a note", quiet=False)
    assert capsys.readouterr().err == "c\\x07.csv: 4 rows\nand a note\n"


def script_that(does: str) -> str:
    """The command, with something that happens while its libraries load."""
    return (
        "import signal, sys\n"
        "class Loader:\n"
        "    def find_spec(self, name, *others):\n"
        "        if name == 'typer':\n"
        f"            {does}\n"
        "sys.meta_path.insert(0, Loader())\n" + COMMAND
    )


def test_an_interruption_while_libraries_load() -> None:
    with start("policies", script=script_that("raise KeyboardInterrupt")) as process:
        out, err = process.communicate()
    assert (process.returncode, out) == (130, "")
    assert err == "serving-sim: error: interrupted\n"


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("name", ["SIGINT", "SIGHUP"])
def test_a_signal_that_is_ignored_when_the_command_begins_stays_ignored(name: str) -> None:
    ignoring = f"import signal; signal.signal(signal.{name}, signal.SIG_IGN)\n"  # as nohup does
    script = ignoring + script_that(f"signal.raise_signal(signal.{name})")
    with start("policies", script=script) as process:
        _, err = process.communicate()
    assert (process.returncode, err) == (0, "")


def finish(
    stdout: int | None, *, closed: tuple[int, ...] = (), words: Sequence[str] = ("policies",)
) -> tuple[int, bytes]:
    """Exit code and standard error of a command with streams that the caller has spoilt."""
    closing = f"import os; [os.close(stream) for stream in {closed}]; os.execv(sys.executable, sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {closing}", *command_line(*words)],
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=environment(),
        check=False,
    )
    return done.returncode, done.stderr


def test_output_that_nobody_reads_ends_quietly() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    assert finish(writer) == (141, b"")
    os.close(writer)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_output_that_cannot_be_written_is_an_error() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        said = b"serving-sim: error: standard output: No space left on device\n"
        assert finish(full.fileno()) == (2, said)


def test_a_closed_stream_for_errors_is_no_error() -> None:
    assert finish(subprocess.DEVNULL, closed=(2,)) == (0, b"")


def test_a_result_for_a_closed_stream_is_lost_and_no_success() -> None:
    said = b"serving-sim: error: standard output: is closed\n"
    assert finish(subprocess.DEVNULL, closed=(1,)) == (2, said)
    assert finish(subprocess.DEVNULL, closed=(1, 2)) == (2, b"")


def test_a_command_without_a_result_needs_no_output(tmp_path: Path) -> None:
    made = tmp_path / "made.csv"
    words = ("workload", "make", "--num-prompts", "3", "--quiet", "--out", str(made))
    assert finish(subprocess.DEVNULL, closed=(1,), words=words) == (0, b"")
    assert len(made.read_text(encoding="utf-8").splitlines()) == 4


PIPING = """
from serving_sim import Policy


class Piping(Policy):
    name = "piping"

    def begin(self, slots):
        pass

    def join(self, request, size, release):
        raise BrokenPipeError(32, "Broken pipe")

    def decide(self, epoch):
        return []
"""


def test_a_broken_pipe_of_a_policy_is_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    (tmp_path / "piping.py").write_text(PIPING, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    code, out, err = command("run --policy piping:Piping --num-prompts 5 --slots 2 --quiet")
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert line.startswith("serving-sim: error: BrokenPipeError: [Errno 32] Broken pipe (")
    assert line.endswith(", in join)")


@pytest.mark.parametrize("encoding", ["ascii", "ascii:surrogateescape"])
def test_letters_that_an_encoding_lacks_are_spelled(encoding: str) -> None:
    script = (
        "from analysis.cli.streams import ready_streams; from analysis.json_text import to_json\n"
        r"ready_streams(); print('12.3 \xb1 0.4'); print(to_json({'\xe9': '\U0001f4a1'}))"
    )
    with start(script=script, PYTHONIOENCODING=encoding) as process:
        line, _, text = process.communicate()[0].partition("\n")
    assert line == "12.3 +/- 0.4"
    assert text.isascii()
    assert json.loads(text) == {"é": "💡"}


def test_a_path_keeps_its_capitals(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--policy", "fcfs", "--requests", "No/Such.CSV"]) == 2
    assert capsys.readouterr().err == "serving-sim: error: No/Such.CSV: no such file\n"


@pytest.mark.parametrize("name", ["w.jsonl", "w.parquet"])
def test_a_disk_without_space_leaves_nothing_and_names_the_file(tmp_path: Path, name: str) -> None:
    little = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    little += "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)); "
    words = ("workload", "make", "--out", str(tmp_path / name), "--quiet")
    inherited = {key: value for key, value in environment().items() if not key.startswith("COVERAGE")}
    with start(*words, script=little + COMMAND, inherited=inherited) as process:  # coverage writes files too
        out, err = process.communicate()
    assert (process.returncode, out) == (2, "")
    assert err.startswith(f"serving-sim: error: {tmp_path / name}: ")
    assert err.endswith("File too large\n")
    assert list(tmp_path.iterdir()) == []
