"""What counts service speaks of steps of service where a step may read several tokens of a prompt."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from command_line import Command

from analysis.plots import Figure
from analysis.report.pictures import Picture

OF_TOKENS = (
    "prompts are read in chunks: one counts as a step of service, as a token of an output does; "
    "a step stands for 2.5 tokens on average"
)
"""The one sentence that is about tokens: 45 of them in 18 steps."""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Four requests: 12, 1, 8 and 16 tokens of prompt take 3, 1, 2 and 4 steps of 4, outputs 2 each."""
    path = tmp_path / "log.csv"
    rows = (f"{at},{prompt + 2},{prompt},2" for at, prompt in enumerate((12, 1, 8, 16)))
    path.write_text("\n".join(["release,length,prompt_tokens,output_tokens", *rows, ""]), encoding="utf-8")
    return path


@pytest.fixture
def labels(monkeypatch: pytest.MonkeyPatch) -> dict[str, set[str]]:
    """Labels of the axes of every picture that would be written, by its name."""
    found: dict[str, set[str]] = {}

    def keep(picture: Picture, _: Path) -> None:
        found[picture.name] = _labels(picture.figure)

    monkeypatch.setattr(Picture, "save", keep)
    return found


def _labels(figure: Figure) -> set[str]:
    return {text for axes in figure.axes for text in (axes.get_xlabel(), axes.get_ylabel()) if text}


def sentences(page: Path) -> list[str]:
    """Text of a page, without its command line, scripts and styles."""
    text = re.sub(r"<(script|style|code).*?</\1>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [line.strip() for line in html.unescape(re.sub(r"<[^>]+>", "\n", text)).splitlines()]


def with_tokens(texts: list[str]) -> set[str]:
    return {text for text in texts if "token" in text}


def test_a_comparison(log: Path, labels: dict[str, set[str]], tmp_path: Path, command: Command) -> None:
    options = "--prefill-chunk 4 --slots 2 --alpha 1 --policy fcfs --policy isjl --quiet --token-cost 1e-6"
    code, out, _ = command(f"compare {options} --requests", str(log), "--out", str(tmp_path / "out"))
    assert code == 0
    assert with_tokens(out.splitlines()) == {OF_TOKENS}
    assert labels["gap-over-time"] >= {"largest gap\n(steps of service)"}
    assert labels["gap-against-throughput"] == {
        "mean gap over busy steps (steps of service); further left is fairer",
        "steps of service a busy step",
    }
    assert "request length (steps of service)" in labels["e2el-by-length"]
    assert not with_tokens([text for each in labels.values() for text in each])
    page = sentences(tmp_path / "out" / "report.html")
    assert with_tokens(page) - {f"serving-sim compare {options}"} == {OF_TOKENS}
    kept = "isjl:alpha=1 keeps the requests of a batch within alpha steps of service of each other"
    assert f"{kept}; fcfs does not." in page
    assert "audit of the gap, in steps of service; first breach in steps" in page


def test_a_calibration(log: Path, labels: dict[str, set[str]], tmp_path: Path, command: Command) -> None:
    options = "--prefill-chunk 4 --slots 2 --alpha 1 --alpha 3 --quiet"
    code, out, _ = command("calibrate", str(log), *options.split(), "--out", str(tmp_path / "out"))
    assert code == 0
    assert not with_tokens(out.splitlines())
    assert "throughput in steps of service per step" in out
    # lengths 5, 3, 4 and 6: Q = 15 + 6 + 10 + 21 = 52, O = 18
    assert "natural scale Q / O: 2.889 steps of service" in out
    assert labels == {
        "frontier": {
            "alpha (steps of service)",
            "cost (money)",
            "throughput (steps of service per step)",
            "c T + tau E (money)",
        }
    }
    assert not with_tokens(sentences(tmp_path / "out" / "report.html"))


def test_what_predictions_are_worth(log: Path, command: Command) -> None:
    options = "--prefill-chunk 4 --slots 2 --information interval --predictions noise:kappa=0.5"
    code, out, _ = command(f"run --policy fcfs {options} --requests", str(log))
    assert code == 0
    assert "Delta, sum of slacks (steps of service)" in out


def test_a_study(
    log: Path,
    labels: dict[str, set[str]],
    tmp_path: Path,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command("workload convert --prefill-chunk 4 --quiet --out chunks.csv", str(log))[0] == 0
    grid = 'policy = "isjl"\nalpha = [1, 3]\nslots = 2\nrequests = "chunks.csv"\n'
    Path("a.toml").write_text(grid, encoding="utf-8")
    assert command("study a.toml --jobs 1 --quiet")[0] == 0
    assert command("study plot a.toml --metrics throughput,extent_max --quiet --out out")[0] == 0
    assert labels == {
        "throughput-against-alpha": {"alpha (steps of service)", "throughput (steps of service per step)"},
        "extent-max-against-alpha": {"alpha (steps of service)", "max gap (steps of service)"},
    }
    assert not with_tokens(sentences(tmp_path / "out" / "report.html"))
