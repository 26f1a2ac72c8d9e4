"""Take the screenshots of reports anew: ``python docs/make_screenshots.py``.

Needs Chromium. Of the report of ``make demo`` head, schedules and pictures are shown, on a wide screen and
on a phone, light and dark; one of its pictures stands in the README. Of the tutorial's report the schedules
are.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from analysis.cli import main as serving_sim

ASSETS = Path(__file__).resolve().parent / "assets"
DEMO = ("compare --preset demo --out demo-out",)
TUTORIAL = (
    "workload make --num-prompts 20000 --lengths lmsys-like --load 0.8 --slots 8 --seed 1 --out chats.csv",
    (
        "compare --requests chats.csv --slots 8 --policy fcfs --policy isjl:alpha=200 "
        "--policy isjl:alpha=400 --policy isjl:alpha=600 --out compared"
    ),
)

_COLOURS = 128  # what a picture of text and flat bars needs
_CUT = """<script>
for (const each of [...document.querySelector("main").children]) {
  if (each.id === "FIRST") break;
  each.remove();
}
</script></main>"""


class Scene(NamedTuple):
    """What one screenshot shows: from which anchor on, at which size in CSS pixels, in which colours."""

    name: str
    first: str
    width: int
    height: int
    dark: bool


OF_DEMO = (
    Scene("report-wide-light", "", 1280, 1400, dark=False),
    Scene("report-wide-dark", "schedule", 1280, 980, dark=True),
    Scene("report-phone-light", "pictures", 390, 844, dark=False),
    Scene("report-phone-dark", "results", 390, 844, dark=True),
)
OF_TUTORIAL = (Scene("report-schedules", "schedule", 1040, 820, dark=False),)


def main() -> None:
    """Make the reports and photograph them."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("make_screenshots: needs Chromium")
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        for lines, scenes in ((DEMO, OF_DEMO), (TUTORIAL, OF_TUTORIAL)):
            for line in lines:
                serving_sim(line.split())
            page = Path(lines[-1].split()[-1], "report.html").read_text(encoding="utf-8")
            for scene in scenes:
                image = _photograph(scene, page, Path(name), chromium)
                small = image.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
                small.save(ASSETS / f"{scene.name}.png", optimize=True)
                print(ASSETS / f"{scene.name}.png")
        shutil.copy(Path("demo-out", "e2el-by-length.png"), ASSETS / "demo-by-length.png")


def _photograph(scene: Scene, page: str, folder: Path, chromium: str) -> Image.Image:
    shown, shot = folder / "page.html", folder / "shot.png"
    cut = page.replace("</main>", _CUT.replace("FIRST", scene.first)) if scene.first else page
    shown.write_text(cut, encoding="utf-8")
    command = [
        chromium,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--virtual-time-budget=8000",
        f"--user-data-dir={folder / 'profile'}",
        f"--blink-settings=preferredColorScheme={0 if scene.dark else 1}",
        f"--window-size={scene.width},{scene.height}",
        f"--screenshot={shot}",
        shown.as_uri(),
    ]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603  (our own page)
    return Image.open(io.BytesIO(shot.read_bytes()))


if __name__ == "__main__":
    main()
