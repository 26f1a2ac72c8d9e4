"""The page that explains a report goes through the sections that a report has."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

from command_line import Command

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "read-a-report.md"


def test_sections_of_the_page_are_sections_of_the_report(command: Command, tmp_path: Path) -> None:
    code, _, _ = command(
        "compare --policy fcfs --policy ljf --alpha 9 --slots 2 --num-prompts 50 --quiet --out", tmp_path
    )
    assert code == 0
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    found = [unescape(title) for title in re.findall(r"<h2[^>]*>(.*?)</h2>", report)]
    titles = re.findall(r"^## (.*)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    told = titles[titles.index("The head") + 1 : titles.index("How to read the numbers") + 1]
    assert [title for title in found if title in told] == told


def test_every_metric_of_the_tables_and_pictures_is_defined(command: Command, tmp_path: Path) -> None:
    options = "--slots 2 --num-prompts 50 --goodput ttft:9 --percentile-metrics ttft --quiet --out"
    code, _, _ = command(f"compare --policy fcfs {options}", tmp_path)
    assert code == 0
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    _, _, reading = report.partition('<h2 id="reading">')
    names = [unescape(name).partition(" (")[0] for name in re.findall(r"<li><strong>(.*?)</strong>", reading)]
    assert names == [
        "time to first token", "slowdown", "makespan", "token throughput", "goodput", "attainment",
        "occupancy", "mean gap", "max gap",
    ]  # fmt: skip
