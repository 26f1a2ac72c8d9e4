"""Lengths, arrivals and predictions of a user's own, named as ``module:Class``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from refusal import refusal

from analysis.study import read_study
from workloads import parse_arrivals, parse_lengths, parse_predictions, read_clients, read_specification
from workloads.arrivals import takes_rate
from workloads.traces.formats import FORMATS

OWN = """
from dataclasses import dataclass
import numpy as np

@dataclass(frozen=True)
class Two:
    heavy: bool
    often: int | None = None
    mean: float = 1.0

    def sample(self, n, rng):
        return np.full(n, 9 if self.heavy else 1)

class Plain:
    mean = 1.0

@dataclass(frozen=True)
class Silent:
    pass

@dataclass(frozen=True)
class Broken:
    def __post_init__(self):
        raise KeyError("two\\nlines")

@dataclass(frozen=True)
class At:
    rate: float = 1.0

    def releases(self, n, rng):
        return np.arange(n) / self.rate
"""

RAN = "open('ran', 'w').close()\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Working folder with a module."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "of_mine.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "not_mine.py").write_text(RAN, encoding="utf-8")
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_classes_of_one_s_own_have_parameters_like_those_built_in() -> None:
    rng = np.random.default_rng(0)
    assert parse_lengths("of_mine:Two:heavy=true").sample(2, rng).tolist() == [9, 9]
    assert parse_lengths("of_mine:Two:heavy=false,often=3").sample(2, rng).tolist() == [1, 1]
    assert parse_arrivals("of_mine:At", rate=4.0).releases(2, rng).tolist() == [0.0, 0.25]
    assert (takes_rate("of_mine:At"), takes_rate("of_mine:At:rate=2")) == (True, False)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("of_mine:Two:heavy=0", "of_mine:Two: heavy='0': must be true or false"),
        ("of_mine:Two", "of_mine:Two: needs heavy=.."),
        (
            "of_mine:Plain",
            "length distribution='of_mine:Plain': must be a dataclass, its fields are the parameters",
        ),
        (
            "of_mine:Silent",
            "of_mine:Silent: must keep the contract of workloads.Lengths",
        ),
        ("of_mine:Broken", "of_mine:Broken: cannot be made: KeyError: 'two\\nlines'"),
        (
            "of_mine:None_such",
            (
                "length distribution='of_mine:None_such': cannot load of_mine:None_such: AttributeError: "
                "module 'of_mine' has no attribute 'None_such'"
            ),
        ),
    ],
)
def test_what_is_wrong_with_them_is_one_line(text: str, message: str) -> None:
    assert refusal(lambda: parse_lengths(text)) == message


@pytest.mark.usefixtures("folder")
def test_predictions_of_another_kind_are_refused() -> None:
    assert refusal(lambda: parse_predictions("of_mine:Silent")) == (
        "of_mine:Silent: must keep the contract of workloads.Predictions"
    )


def test_no_file_chooses_what_code_runs(folder: Path) -> None:
    Path("spec.toml").write_text(
        'num-prompts = 1\nlengths = "not_mine:X"\narrivals = "backlog"\n', encoding="utf-8"
    )
    Path("clients.toml").write_text(
        '[[client]]\nname = "a"\nrate = 1\nlengths = "not_mine:X"\n', encoding="utf-8"
    )
    why = "lengths='not_mine:X': runs code of not_mine, which a file must not choose; name it yourself"
    assert refusal(lambda: read_specification("spec.toml")) == f"spec.toml: {why}"
    assert refusal(lambda: read_clients("clients.toml")) == f"clients.toml: client 1: {why}"
    assert refusal(lambda: FORMATS.load("not_mine:X")).startswith("format='not_mine:X': is unknown; ")
    head = 'policy = "fcfs"\nslots = 2\nnum-prompts = 3\n'
    for line, key in (
        ('lengths = "not_mine:X"\narrivals = "backlog"\n', "lengths"),
        ('lengths = "fixed:length=2"\narrivals = "not_mine:X"\n', "arrivals"),
    ):
        Path("study.toml").write_text(head + line, encoding="utf-8")
        assert refusal(lambda: read_study(Path("study.toml"))) == (
            f"study.toml: {key}='not_mine:X': runs code of not_mine; if you trust it: --module not_mine"
        )
    assert not (folder / "ran").exists()
    own = 'lengths = "of_mine:Two:heavy=true"\narrivals = "backlog"\n'
    Path("study.toml").write_text(head + own, encoding="utf-8")
    (cell,) = read_study(Path("study.toml"), ["of_mine"]).cells
    assert cell.workload().length.tolist() == [9, 9, 9]
