"""What the README shows is what the project prints."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from analysis.cli import main

README = Path(__file__).parent.parent / "README.md"
TEXT = README.read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.DOTALL)


def test_the_demo_prints_what_the_readme_shows(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("sys.argv", ["serving-sim", "compare", "--preset", "demo"])
    with contextlib.suppress(SystemExit):
        main()
    assert capsys.readouterr().out.rstrip() == blocks("text")[0].rstrip()


def test_the_python_example_prints_what_the_readme_shows() -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(blocks("python")[0], str(README), "exec"), {})  # noqa: S102  (the README's own code)
    assert printed.getvalue() == blocks("text")[1]


@pytest.mark.parametrize("target", re.findall(r"\]\(([^)#]+)\)", TEXT))
def test_links_lead_somewhere(target: str) -> None:
    assert (README.parent / target).exists()
