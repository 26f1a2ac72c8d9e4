"""A page in headless Chromium, where a machine has one."""

from __future__ import annotations

import json
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")

_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--enable-logging=stderr",
    "--virtual-time-budget=8000",
    "--dump-dom",
)

_AROUND = """
<script>
window.addEventListener("error", (event) => { document.title = `error: ${event.message}`; });
(async () => {
  const frame = () => new Promise((done) => setTimeout(done, 60));
  const result = {};
  ACTING
  result.title = document.title;
  result.requests = performance.getEntriesByType("resource").map((each) => each.name);
  const shown = document.createElement("pre");
  shown.id = "result";
  shown.textContent = JSON.stringify(result);
  document.body.append(shown);
})();
</script>
</body>"""


def act(page: str, acting: str, folder: Path) -> dict[str, Any]:
    """What a script that fills ``result`` and may wait for a ``frame()`` finds on a page.

    The title, which an uncaught error replaces, the addresses the page asked for, and what stands on the
    console, as a request that the page forbids itself, come with it.
    """
    assert CHROMIUM is not None
    path = folder / "page.html"
    path.write_text(page.replace("</body>", _AROUND.replace("ACTING", acting)), encoding="utf-8")
    command = [CHROMIUM, *_OPTIONS, f"--user-data-dir={folder / 'profile'}", path.as_uri()]
    seen = subprocess.run(command, capture_output=True, encoding="utf-8", check=True, timeout=120)
    parser = _Result()
    parser.feed(seen.stdout)
    result: dict[str, Any] = json.loads(parser.text)
    console = [line.partition("] ")[2] for line in seen.stderr.splitlines() if ":CONSOLE:" in line]
    return result | {"console": console}


class _Result(HTMLParser):
    text = ""
    inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = ("id", "result") in attrs

    def handle_data(self, data: str) -> None:
        self.text += data if self.inside else ""

    def handle_endtag(self, tag: str) -> None:
        self.inside = False
