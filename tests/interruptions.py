"""Interrupt commands at random moments and look at what they leave: `make soak`, or by hand as below.

    python tests/interruptions.py --attempts 500 --seed 7

Every attempt starts a command that writes files and sends it SIGINT, SIGTERM or SIGKILL, alone or with
its workers, at a random moment of its life. Afterwards every file must be whole, what was finished
before the signal must be there still, the exit code and the last line must say what happened, and no
process may live on. A command that goes on where it stopped is then started once more: it must keep
what it finds, tidy up, and end with the files of a run that nobody disturbed. Exit code 1 if one
attempt finds a fault.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd
from fresh_process import command_line, environment

from analysis.study.store import Kept, kept_cells

SCRIPT = """\
import sys
from analysis.cli import main
sys.stderr.write("begun\\n")
sys.stderr.flush()
code = main()
sys.stderr.write("ended\\n")
sys.stderr.flush()
sys.exit(code)
"""
COMMANDS = {
    "run": "run --policy fcfs --num-prompts 20000 --record-batches --timeline --out out",
    "run --csv": "run --policy sjf --num-prompts 20000 --replications 3 --csv --out out",
    "compare": "compare --policy fcfs --policy ljf --num-prompts 3000 --out out",
    "study": "study grid.toml --jobs 2",
    "reproduce": "reproduce table1 --sets 4 --replications 2 --out out",
    "claims": "claims --only 2.4 --only 2.5 --only 3.3 --out out",
    "calibrate": "calibrate log.csv --alpha 5 --alpha 50 --alpha 500 --out out",
    "make": "workload make --num-prompts 200000 --out out/w.parquet",
}
"""By name; the blanks in the names of claims are put in by `words_of`."""

GRID = """\
policy = ["fcfs", "isjl"]
alpha = [4, 8]
slots = 2
load = [0.5, 0.7]
lengths = "uniform:low=1,high=9"
num-prompts = 3000
replications = 5
"""
KEEPING = {"study", "reproduce"}
"""Commands that go on where they stopped."""

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
_ENDS = {".png": b"IEND\xaeB`\x82", ".svg": b"</svg>\n", ".html": b"</html>"}
_PATIENCE = 120.0
"""Seconds that a command may take, after a signal or undisturbed, on a machine busy with other work."""

_GRACE = 20.0
"""Seconds in which workers must notice that they are alone."""


@dataclass(frozen=True)
class Attempt:
    """A command and what befalls it: a signal so many seconds after its beginning."""

    command: str
    number: signal.Signals
    delay: float
    with_workers: bool

    def __str__(self) -> str:
        whom = "all" if self.with_workers else "alone"
        return f"{self.command}: {self.number.name} to {whom} after {self.delay:.2f} s"


def faults(attempt: Attempt, folder: Path, *, go_on: bool = False) -> list[str]:
    """What is wrong after an attempt in an empty folder; nothing, one hopes.

    ``go_on`` starts the command once more afterwards, if it is one that keeps what it has finished.
    """
    with _start(attempt.command, folder) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "begun\n"
        time.sleep(attempt.delay)
        before = _finished(folder)
        with suppress(ProcessLookupError):  # it may have ended
            send = os.killpg if attempt.with_workers else os.kill
            send(process.pid, attempt.number)
        said = _last_words(process)
    if said is None:
        return [f"still alive {_PATIENCE:g} s after the signal"]
    found = [
        *_wrong_ending(process.returncode, said, attempt.number),
        *_survivors(process.pid),
        *_wrong_files(folder / "out", leftovers=attempt.number == signal.SIGKILL),
        *_lost(before, _finished(folder)),
    ]
    if not found and go_on and attempt.command in KEEPING:
        found = [*_wrong_second_run(attempt.command, folder)]
    return found


def _start(command: str, folder: Path) -> subprocess.Popen[str]:
    (folder / "grid.toml").write_text(GRID, encoding="utf-8")
    (folder / "log.csv").write_text(
        "release,length\n" + "".join(f"{row},{1 + row % 97}\n" for row in range(2000)),
        encoding="utf-8",
    )
    return subprocess.Popen(
        command_line(*words_of(command), script=SCRIPT),
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        start_new_session=True,
    )


def _last_words(process: subprocess.Popen[str]) -> str | None:
    """What a command says until it ends; None if it does not end in time, and is killed."""
    try:
        return process.communicate(timeout=_PATIENCE)[1]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return None


def _wrong_second_run(command: str, folder: Path) -> Iterator[str]:
    """Faults of a run that goes on with what an earlier one has left."""
    kept = {path: path.stat().st_mtime_ns for path in (folder / "out" / "kept").rglob("*.json")}
    before = _finished(folder)
    with _start(command, folder) as process:
        said = _last_words(process)
    if said is None:
        yield f"the second run is still alive after {_PATIENCE:g} s"
        return
    if process.returncode != 0:
        yield f"exit code {process.returncode} of the second run: {said[-300:]!r}"
    after = _finished(folder)
    yield from _wrong_files(folder / "out", leftovers=False)
    yield from _lost(before, after)
    yield from (f"{path.name} is done again" for path in kept if path.stat().st_mtime_ns != kept[path])
    wanted = undisturbed(command)[1]
    yield from (
        f"{name} is not as it should be" for name in {*wanted, *after} if wanted.get(name) != after.get(name)
    )


@cache
def undisturbed(command: str) -> tuple[float, dict[str, object]]:
    """Seconds that a command takes if nobody disturbs it, and what it finishes."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        with _start(command, Path(folder)) as process:
            said = _last_words(process)
        assert process.returncode == 0, said
        return time.monotonic() - begin, _finished(Path(folder))


def _finished(folder: Path) -> dict[str, object]:
    """What stands there under its final name: files by their digests, and rows of cells."""
    cells: dict[str, Kept] = {**kept_cells(folder / "grid.sqlite")}
    files = [path for path in (folder / "out").rglob("*") if path.is_file() and path.suffix != ".part"]
    return cells | {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files
    }


def _lost(before: dict[str, object], after: dict[str, object]) -> Iterator[str]:
    for name, content in before.items():
        if after.get(name) != content:
            yield f"{name} was finished and is {'changed' if name in after else 'lost'}"


def words_of(command: str) -> list[str]:
    """The words of a command in `COMMANDS`."""
    words = COMMANDS[command].split()
    if command == "claims":
        names = {"2.4": "Example 2.4", "2.5": "Example 2.5", "3.3": "Theorem 3.3"}
        words = [names.get(word, word) for word in words]
    return words


def _wrong_ending(code: int, said: str, number: signal.Signals) -> Iterator[str]:
    word = "interrupted" if number == signal.SIGINT else "terminated"
    lines = said.splitlines()
    if "Traceback" in said:
        yield f"a traceback: {said[-2000:]}"
    elif code == 128 + number:
        wanted = f"serving-sim: error: {word}"
        last = [line for line in lines if line != "ended"][-1:]
        if last not in ([wanted], [f"{wanted}, files written so far are complete"]):
            yield f"exit code {code} with the last words {lines[-2:]}"
    elif code == -number:  # SIGKILL, or a signal while Python itself shuts down
        if number != signal.SIGKILL and "ended" not in lines:
            yield f"killed by {number.name}: {said[-300:]!r}"
    elif code != 0 or "ended" not in lines:
        yield f"exit code {code}: {said[-300:]!r}"


def _wrong_files(folder: Path, *, leftovers: bool) -> Iterator[str]:
    for path in folder.rglob("*"):
        if path.suffix == ".part":
            if not leftovers:
                yield f"{path.name} is left over"
        elif path.is_file() and not _is_whole(path):
            yield f"{path.name} is not whole"


def _is_whole(path: Path) -> bool:
    if path.suffix == ".json":
        return bool(json.loads(path.read_text(encoding="utf-8")))
    if path.suffix == ".parquet":
        return len(pd.read_parquet(path)) > 0
    if path.suffix == ".csv":
        return path.read_bytes().endswith(b"\n") and len(pd.read_csv(path)) > 0
    return path.read_bytes().endswith(_ENDS.get(path.suffix, b""))


def _survivors(session: int) -> Iterator[str]:
    """Processes that outlive the command; workers get some time to notice that they are alone."""
    deadline = time.monotonic() + _GRACE
    while alive := [process for process, of in _sessions() if of == session]:
        if time.monotonic() > deadline:
            yield f"processes {alive} live on"
            return
        time.sleep(0.1)


def _sessions() -> Iterator[tuple[int, int]]:
    for place in Path("/proc").glob("[0-9]*/stat"):  # nothing where there is no /proc
        with suppress(OSError):
            state, _, _, session = place.read_text(encoding="utf-8").rpartition(")")[2].split()[:4]
            if state != "Z":
                yield int(place.parent.name), int(session)


def attempts(count: int, chance: random.Random, commands: Sequence[str]) -> Iterator[Attempt]:
    """Attempts at random moments of the lives of commands, which all get their turn."""
    for number in range(count):
        command = commands[number % len(commands)]
        yield Attempt(
            command,
            chance.choice(SIGNALS),
            0.05 + chance.uniform(0, undisturbed(command)[0]),  # main has set its handlers by then
            chance.random() < 0.5,
        )


def main() -> int:
    """Print each attempt and its faults."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attempts", type=int, default=100)
    parser.add_argument("--command", action="append", choices=COMMANDS, help="all unless some are named")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # commands of `make soak &` would be deaf to it
    wrong = 0
    chance = random.Random(options.seed)  # noqa: S311  (moments, not secrets)
    for attempt in attempts(options.attempts, chance, options.command or list(COMMANDS)):
        with tempfile.TemporaryDirectory() as folder:
            found = faults(attempt, Path(folder), go_on=True)
        wrong += bool(found)
        print(f"{attempt}: {'; '.join(found) or 'fine'}", flush=True)  # noqa: T201
    print(f"{options.attempts} attempts, {wrong} with faults")  # noqa: T201
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
