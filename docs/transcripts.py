"""Run what the pages show, and put what is printed now in the place of what stood there.

`python docs/transcripts.py [PAGE ..]` does it for the pages named, or for all; a test holds every page
against it. The blocks of a page run one after the other in a folder of their own, which holds a small
``log.csv`` from the start:

- ``console``: lines that begin with ``$ `` are typed, all others are what a terminal shows; programs are
  ``serving-sim`` and ``python`` with a script of the project;
- lines indented by four blanks that begin with a command, blocks of ``sh``, and comments
  ``<!-- output of: COMMAND -->``: commands that are typed; a block of ``text`` after them holds a part of
  what they print;
- ``python``: runs; a block of ``text`` right behind it holds all that it prints;
- any block right under a file's name in backticks: is written to that file.

What does not run stands in `NOT_RUN`, with the reason.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

from analysis.cli import main

ROOT = Path(__file__).resolve().parents[1]

PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]

LOG = "TIMESTAMP,ContextTokens,GeneratedTokens\n" + "".join(
    f"2023-11-16 18:{second // 60:02}:{second % 60:02}.25,{90 + 70 * second % 800},{5 + 37 * second % 140}\n"
    for second in range(400)
)
"""A log for pages that speak of the reader's own."""

NOT_RUN = {
    "README.md": {
        "make demo": "installs; what it shows comes from the command named in the comment",
        "make test": "runs this very check",
    },
    "CONTRIBUTING.md": {
        "make": "installs, and runs this very check",
    },
    "docs/tutorial/what-does-fairness-cost.md": {
        "make demo": "installs",
    },
    "docs/how-to/own-policy.md": {
        "": "needs the example installed, as tests/serving_sim/test_testing_own_policy.py has it",
    },
    "docs/how-to/cluster.md": {
        "": "needs a cluster; tests/analysis/test_study_dask.py starts a cluster of processes",
    },
    "docs/how-to/capacity.md": {
        "serving-sim capacity": "takes minutes",
    },
    "docs/how-to/your-own-trace.md": {
        "": "needs public traces; tests/test_transcripts.py repeats its table where they are",
    },
    "docs/explanation/what-fairness-costs.md": {
        "": "takes many minutes",
    },
    "docs/explanation/what-a-run-costs.md": {
        "": "measures this machine, for minutes to hours; make bench runs the short ones",
    },
    "docs/reference/trace-formats.md": {
        "serving-sim workload servegen": "needs client tables of ServeGen",
    },
}
"""What is not run, by page: how it begins, and why not; an empty beginning means all of the page."""

_PART = re.compile(
    r"^<!-- output of: (?P<comment>[^\n]*) -->$"
    r"|^(?:`(?P<file>[\w./-]+)`\n\n)?```(?P<kind>\w+)\n(?P<content>.*?)^```$"
    r"|(?P<indented>(?:^ {4}(?:serving-sim|python|make|pip|dask) [^\n]*\n(?:(?<=\\\n) +[^\n]*\n)*)+)",
    flags=re.DOTALL | re.MULTILINE,
)


def name(page: Path) -> str:
    """A page as seen from the root of the project."""
    return page.relative_to(ROOT).as_posix()


def replay(page: Path) -> str:
    """A page with what its commands and scripts print now."""
    return play(page.read_text(encoding="utf-8"), name(page))


def play(text: str, page: str) -> str:
    """The text of a page with what its commands and scripts print now.

    Raises
    ------
    ValueError
        If something on it fails, prints no more what is shown, or is nothing that can run.
    """
    blocks = sum(match["kind"] is not None for match in _PART.finditer(text))
    if 2 * blocks != len(re.findall("^ *```", text, flags=re.MULTILINE)):
        raise ValueError(f"{page}: a block of code without a language, or inside a list, would not run")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("log.csv").write_text(LOG, encoding="utf-8")
        return _PART.sub(_Session(page).part, text)


def parts(page: Path) -> list[str]:
    """What is run or compared on a page: commands, and contents of blocks."""
    found = _PART.finditer(page.read_text(encoding="utf-8"))
    return [each for match in found for each in _commands(match) or [match["content"]]]


class _Session:
    """Plays the parts of a page one after the other."""

    def __init__(self, page: str) -> None:
        self._page = page
        self._names: dict[str, object] = {}  # what scripts have defined
        self._printed: str | None = ""  # by the last part that ran; None where it does not run
        self._script_end = -1

    def part(self, match: re.Match[str]) -> str:
        """A part as it should be shown."""
        if match["kind"] == "text":
            return self._text(match)
        if match["file"]:
            path = Path(match["file"])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(match["content"], encoding="utf-8")
        elif match["kind"] == "python":
            self._script(match)
        else:
            return self._typed(match)
        return match.group()

    def _script(self, match: re.Match[str]) -> None:
        self._printed = None
        if not self._skips(match["content"]):
            Path("block.py").write_text(match["content"], encoding="utf-8")
            with contextlib.redirect_stdout(io.StringIO()) as output:
                self._names = runpy.run_path("block.py", self._names)
            self._printed = output.getvalue()
            self._script_end = match.end()

    def _typed(self, match: re.Match[str]) -> str:
        commands = _commands(match)
        if not commands:
            raise ValueError(f"{self._page}: a block of {match['kind']} under no file's name does not run")
        skipped = [command for command in commands if self._skips(command)]
        if skipped:
            if skipped != commands:
                raise ValueError(
                    f"{self._page}: {skipped[0]!r} is not typed, so nothing beside it is compared"
                )
            self._printed = None
            return match.group()
        shown = [f"$ {command}\n{self._terminal(command)}" for command in commands]
        return f"```console\n{''.join(shown)}```" if match["kind"] == "console" else match.group()

    def _terminal(self, command: str) -> str:
        """What a terminal shows of a command, but for colours and progress."""
        program, *words = shlex.split(command.replace("\\\n", " "), comments=True)
        with (
            mock.patch.dict(os.environ, {"COLUMNS": "120", "NO_COLOR": "1", "MPLBACKEND": "agg"}),
            contextlib.redirect_stdout(io.StringIO()) as output,
            contextlib.redirect_stderr(output),
        ):
            if program == "serving-sim":
                code = main(words)
            elif program == "python" and len(words) == 1:
                runpy.run_path(str(ROOT / words[0]), run_name="__main__")
                code = 0
            else:
                raise ValueError(f"{self._page}: {command!r} is not typed: NOT_RUN must say why")
        lines = "".join(f"{line.rstrip()}\n" for line in output.getvalue().splitlines())
        if code > ("--audit" in words):  # an audit that finds something ends with 1
            raise ValueError(f"{self._page}: {command!r} ends with exit code {code}: {lines}")
        self._printed = lines
        return lines

    def _text(self, match: re.Match[str]) -> str:
        """What a script printed just before; elsewhere a part of what a command printed."""
        if self._printed is None or self._skips(match["content"]):
            return match.group()
        if self._script_end >= 0 and not match.string[self._script_end : match.start()].strip():
            return f"```text\n{self._printed}```"
        if match["content"] not in self._printed:
            raise ValueError(f"{self._page}: nothing prints\n{match['content']}but\n{self._printed}")
        return match.group()

    def _skips(self, part: str) -> bool:
        return any(part.startswith(beginning) for beginning in NOT_RUN.get(self._page, ()))


def _commands(match: re.Match[str]) -> list[str]:
    """Commands of a part of a page; one that ends in a backslash goes on in the next line."""
    if match["comment"]:
        return [match["comment"]]
    if match["indented"]:
        lines = re.sub("^ {4}", "", match["indented"], flags=re.MULTILINE)
    elif match["kind"] == "console":
        lines = "".join(re.findall(r"^\$ ((?:.*\\\n)*.*\n)", match["content"], flags=re.MULTILINE))
    else:
        lines = match["content"] if match["kind"] == "sh" else ""
    return re.findall(r"^(?:.*\\\n)*.+$", lines, flags=re.MULTILINE)


def write(names: Sequence[str]) -> int:
    """Write the pages named, or all, and return an exit code; what is odd about one is said in a line."""
    try:
        for page in [_named(each) for each in names] or PAGES:
            page.write_text(replay(page), encoding="utf-8")
            print(page)
    except ValueError as error:
        print(f"transcripts: error: {error}", file=sys.stderr)
        return 2
    return 0


def _named(page: str) -> Path:
    path = Path(page).resolve()
    if not path.is_file():
        raise ValueError(f"{page}: no such page")
    if not path.is_relative_to(ROOT):
        raise ValueError(f"{page}: must be a page of this project")
    try:
        shown = parts(path)
    except UnicodeDecodeError:
        raise ValueError(f"{page}: must be text in UTF-8") from None
    if not shown:
        raise ValueError(f"{page}: shows nothing that could be run")
    return path


if __name__ == "__main__":
    sys.exit(write(sys.argv[1:]))
