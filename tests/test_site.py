"""The documentation site builds without a warning, and its pages ask nobody else for anything."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
API = ROOT / "docs" / "reference" / "api"

LOADED = {"audio", "embed", "iframe", "img", "link", "object", "script", "source", "video"}
"""Elements whose addresses a browser fetches without being asked; a link (a) waits for a click."""

ADDRESSES = {"data", "href", "src", "srcset"}


class Addresses(HTMLParser):
    """Addresses that a page loads by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in LOADED:
            self.found += [value for name, value in attrs if name in ADDRESSES and value]


def loaded(file: Path) -> list[str]:
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".css":
        return re.findall(r"(?:url\(|@import )['\"]?([^'\")]+)", text)
    parser = Addresses()
    parser.feed(text)
    return parser.found


def outside(address: str) -> bool:
    return re.match(r"([a-z][a-z+.-]*:)?//", address) is not None


def test_the_site_builds_strictly_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    # nothing of ours runs there, so coverage would only make it slow
    others = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    quiet = {**others, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    pages = sorted((tmp_path / "site").rglob("*.html"))
    assert len(pages) > len(list((ROOT / "docs").rglob("*.md")))  # and the one for a wrong address
    files = [*pages, *(tmp_path / "site").rglob("*.css")]
    assert {str(file): [each for each in loaded(file) if outside(each)] for file in files} == {
        str(file): [] for file in files
    }
    # the theme's script would fetch what draws a diagram from elsewhere, and only then
    assert [page for page in pages if 'class="mermaid"' in page.read_text(encoding="utf-8")] == []


def test_addresses_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        '<script src="https://a.example/x.js"></script><a href="https://b.example"></a><img src="c.png">',
        encoding="utf-8",
    )
    assert loaded(page) == ["https://a.example/x.js", "c.png"]
    style = tmp_path / "style.css"
    style.write_text(
        "@import '//d.example/y.css'; a { background: url(data:image/png;base64,) }", encoding="utf-8"
    )
    assert loaded(style) == ["//d.example/y.css", "data:image/png;base64,"]
    found = [*loaded(page), *loaded(style)]
    assert [each for each in found if outside(each)] == ["https://a.example/x.js", "//d.example/y.css"]


def named(directive: str) -> list[object]:
    """What a directive of the reference shows: a name, or the names that a module says are public."""
    found = resolve_name(directive)
    if isinstance(found, ModuleType):
        return [getattr(found, each) for each in getattr(found, "__all__", [])]
    return [found]


@pytest.mark.parametrize("package", ["serving_sim", "policies", "workloads", "analysis"])
def test_the_reference_has_every_public_name(package: str) -> None:
    page = (API / f"{package}.md").read_text(encoding="utf-8")
    directives = re.findall(r"^::: ([\w.]+)$", page, flags=re.MULTILINE)
    shown = [each for directive in directives for each in named(directive)]
    public = {name: getattr(import_module(package), name) for name in import_module(package).__all__}
    assert [name for name, value in public.items() if not any(value is each for each in shown)] == []
