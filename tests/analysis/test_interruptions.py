"""A few interruptions at random moments; `make soak` tries many more."""

from __future__ import annotations

import random
import signal
from pathlib import Path

import pytest
from interruptions import COMMANDS, Attempt, faults

CHANCE = random.Random(5)  # noqa: S311  (moments, not secrets)
ATTEMPTS = [
    Attempt(command, number, 0.05 + CHANCE.uniform(0, 2.5), with_workers)
    for command, number, with_workers in zip(
        COMMANDS,
        [signal.SIGINT, signal.SIGTERM, signal.SIGKILL] * len(COMMANDS),
        [True, False] * len(COMMANDS),
        strict=False,
    )
]


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=str)
def test_an_interruption_leaves_whole_files_and_its_word(attempt: Attempt, tmp_path: Path) -> None:
    assert faults(attempt, tmp_path) == []
