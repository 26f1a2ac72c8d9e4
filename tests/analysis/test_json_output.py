"""``--json`` of every command: one object on standard output, with the keys that the reference page names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest
from command_line import Command
from typer.main import get_command

from analysis.cli.app import app
from analysis.experiments.capacity import Capacity
from analysis.experiments.reproduce.task import Rows, Task
from analysis.experiments.validation import runner
from analysis.experiments.validation.chapter import Chapter
from analysis.experiments.validation.check import Check
from analysis.json_text import to_json

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
SHAPES = {
    command: re.findall(r"`(\w+)`", keys)
    for commands, keys in re.findall(r"^\| (`[^|]*) \| ([^|]*) \|$", PAGE, flags=re.MULTILINE)
    for command in re.findall(r"`([\w ]+)`", commands)
}

NEVER_TELL = ("policies", "study status")
"""They have no --quiet: all that they print is the result."""

COMMANDS = {
    "workload make": "workload make --num-prompts 60 --out made.csv",
    "compare": "compare --policy fcfs --policy sjf --num-prompts 40",
    "capacity": "capacity --policy fcfs --num-prompts 400 --replications 2 --slots 2 --loads 0.5 --jobs 1",
    "adversary": "adversary jigsaw --policy lpt",
    "optimum": "optimum 3,2,1",
    "claims": "claims",
    "reproduce": "reproduce table2 --sets 2 --replications 2 --jobs 1 --out reproduced",
    "validate": "validate --jobs 1 --out validated",
    "policies": "policies",
    "watch": "watch --policy fcfs --num-prompts 3",
    "calibrate": "calibrate made.csv --slots 2 --alpha 5 --alpha 50 --jobs 1",
    "steptime fit": "steptime fit steps.csv",
    "study run": "study run study.toml --jobs 1",
    "study status": "study status study.toml",
    "study export": "study export study.toml --out study.csv",
    "study plot": "study plot study.toml --out plots --metrics e2el",
    "workload convert": "workload convert made.csv --out again.csv",
    "workload inspect": "workload inspect --requests made.csv",
    "workload fit": "workload fit made.csv --out fitted.toml",
    "workload servegen": "workload servegen clients --time-unit 1 --for 10min --out clients.csv",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What the commands read; each leaves its files for those behind it."""
    home = tmp_path_factory.mktemp("json")
    rows = [
        f"{size},{cache},{size * cache},{10 + size + cache / 7}" for size in range(1, 9) for cache in (50, 90)
    ]
    (home / "steps.csv").write_text(
        "\n".join(["batch_size,max_kv_tokens,sum_kv_tokens,milliseconds", *rows]), encoding="utf-8"
    )
    (home / "study.toml").write_text(
        'policy = ["fcfs", "sjf"]\nslots = 2\nlengths = "geometric:mean=9"\nload = [0.3, 0.6]\n'
        "num-prompts = 40\n",
        encoding="utf-8",
    )
    clients = home / "clients"
    clients.mkdir()
    (clients / "chunk-0-trace.csv").write_text("0,1,1,Gamma,0.5,1\n600,0,0,,0,0\n", encoding="utf-8")
    tables = {"0": {"input_tokens": "{100: 1.0}", "output_tokens": "{5: 1.0}"}}
    (clients / "chunk-0-dataset.json").write_text(json.dumps(tables), encoding="utf-8")
    with chdir(home):
        yield home


def test_every_command_is_on_the_page() -> None:
    root = get_command(app)
    commands = []
    for name, command in root.commands.items():  # type: ignore[attr-defined]
        below = getattr(command, "commands", {})
        commands += [f"{name} {each}" for each in below] or [name]
    assert set(commands) - {"run"} == set(SHAPES) - {"run"} == set(COMMANDS)  # run prints summary.json


def agreeing() -> Rows:
    return [Check("one", "number", 1.25, 1.0, 0.5).to_row()]


@pytest.fixture
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes long and has tests of its own finds nothing."""
    chapter = Chapter("one", "One", "One.", lambda _: [Task("one/one", agreeing, {})])
    monkeypatch.setattr(runner, "CHAPTERS", (chapter,))
    monkeypatch.setattr("analysis.experiments.claims.examine", lambda *_, **__: iter(()))
    monkeypatch.setattr(
        "analysis.experiments.capacity.measure", lambda *_, **__: Capacity({}, {}, curve=(), full=None)
    )


@pytest.mark.usefixtures("folder", "_short")
@pytest.mark.parametrize("name", COMMANDS)
def test_json_has_the_keys_of_the_page(name: str, command: Command) -> None:
    quiet = [] if name in NEVER_TELL else ["--quiet"]
    code, out, err = command(COMMANDS[name], "--json", *quiet)
    assert (code, err) == (0, "")
    assert list(json.loads(out)) == SHAPES[name]


def test_people_are_told_beside_it(command: Command, folder: Path) -> None:
    _, out, err = command("workload make --num-prompts 2 --json --out", folder / "two.csv")
    assert json.loads(out)["files"] == [{"file": str(folder / "two.csv"), "requests": 2}]
    assert err.splitlines()[-1] == f"written to {folder / 'two.csv'}"


def test_no_letter_is_obeyed_by_a_terminal_or_lacks_an_encoding() -> None:
    content = {"a\x9b2J": "b\u202ec\ud800d\x1be\u00e9"}
    text = to_json(content)
    assert re.search("[\x7f-\x9f\u202e\ud800]", text) is None
    assert "\u00e9" in text.encode("utf-8").decode("utf-8")
    assert json.loads(text) == content
