"""The classes that CONTRIBUTING.md shows do what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).resolve().parents[1] / "CONTRIBUTING.md"
BLOCKS = re.findall(
    r"^```python\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
)


def test_guide_shows_a_policy_and_a_source() -> None:
    assert ["(Policy)" in block for block in BLOCKS] == [True, False]
    assert ["(ReactiveSource)" in block for block in BLOCKS] == [False, True]


@pytest.mark.parametrize("block", BLOCKS, ids=["policy", "source"])
def test_example_keeps_its_own_assertions(block: str) -> None:
    assert "assert " in block
    exec(compile(block, GUIDE.name, "exec"), {"__name__": "guide"})  # noqa: S102 - it is our own text
