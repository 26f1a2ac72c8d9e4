"""``adversary worst-by-slots`` searches every policy and draws what it found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.cli import main


def test_the_worst_ratios_come_as_numbers_and_as_a_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("ortools")
    words = ["--steps", "3", "--longest", "5", "--workers", "1", "--json", "--quiet", "--out", str(tmp_path)]
    assert main(["adversary", "worst-by-slots", *words]) == 0
    worst = json.loads(capsys.readouterr().out)["worst"]
    assert worst.keys() == {"ljf", "lpt", "isjl"}
    for name in ("ljf", "lpt"):
        assert [slots for slots, _ in worst[name]] == [2, 3, 4, 5, 6]
    assert all(slots / (2 * slots - 1) - 1e-12 <= ratio <= 1 for slots, ratio in worst["ljf"])
    assert all(3 * slots / (4 * slots - 1) - 1e-12 <= ratio <= 1 for slots, ratio in worst["lpt"])
    assert {path.name for path in tmp_path.iterdir()} == {"worst-by-slots.png", "worst-by-slots.svg"}
