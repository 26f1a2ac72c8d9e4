"""Type the commands of a page again and put what they print now in the place of what stood there.

`python docs/transcripts.py` does it for every page listed here; a test holds the pages against it.
A transcript is a block of ``console``: lines that begin with ``$ `` are typed, all others are printed.
A block of ``python`` runs in between and stays as it is.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from analysis.cli import main

_HERE = Path(__file__).parent

PAGES = [*sorted((_HERE / "tutorial").glob("*.md")), _HERE / "how-to" / "wall-clock-time.md"]

_BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)


def replay(text: str) -> str:
    """A page with what its commands print when they are typed one after the other in an empty folder."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return _BLOCK.sub(_again, text)


def _again(block: re.Match[str]) -> str:
    kind, content = block.groups()
    if kind == "python":
        Path("block.py").write_text(content, encoding="utf-8")
        runpy.run_path("block.py")
        return block.group()
    return f"```console\n{''.join(_typed(content))}```"


def _typed(block: str) -> Iterator[str]:
    for command in _commands(block):
        yield f"$ {command}\n"
        yield _printed(shlex.split(command.replace("\\\n", " ")))


def _commands(block: str) -> list[str]:
    """Commands of a block; one that ends in a backslash goes on in the next line."""
    return [each.removeprefix("$ ") for each in re.findall(r"^\$ (?:.*\\\n)*.*$", block, flags=re.MULTILINE)]


def _printed(words: list[str]) -> str:
    if words[0] != "serving-sim":
        raise ValueError(f"command={words[0]!r}: a transcript types serving-sim only")
    output = io.StringIO()
    with (
        mock.patch.dict(os.environ, {"COLUMNS": "120", "NO_COLOR": "1"}),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        main(words[1:])
    lines = [line.rstrip() for line in output.getvalue().splitlines()]
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(replay(page.read_text(encoding="utf-8")), encoding="utf-8")
        print(page)
