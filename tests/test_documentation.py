"""The pages say what the code says, and lead where they point."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from docs_script import docs_script

ROOT = Path(__file__).resolve().parents[1]


make_reference = docs_script("make_reference")

PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
OPTIONS = make_reference.options()


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", make_reference.pages())
def test_the_reference_repeats_the_code(page: str) -> None:
    written = (ROOT / "docs" / "reference" / page).read_text(encoding="utf-8")
    assert written == make_reference.pages()[page], "python docs/make_reference.py writes it anew"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_and_pictures_exist(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#\s]+)", page.read_text(encoding="utf-8"))
    assert [each for each in targets if not (page.parent / each).exists()] == []


def commands(page: Path) -> list[str]:
    """Command lines in blocks of code, continued lines joined, and in the text between backticks."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = r"^(?: {4}|\$ |)(serving-sim [a-z].*)$|`(serving-sim [a-z][^`]*)`"
    return [block or inline for block, inline in re.findall(lines, text, flags=re.MULTILINE)]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_and_their_options_exist(page: Path) -> None:
    for line in commands(page):
        words = shlex.split(line, comments=True)
        command = next((each for each in (" ".join(words[:3]), " ".join(words[:2])) if each in OPTIONS), None)
        assert command is not None, line
        unknown = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)} - OPTIONS[command]
        assert unknown <= {"--help", "-h"}, line


def test_command_lines_are_found() -> None:
    assert len(commands(ROOT / "README.md")) >= 2
