"""The engine on schedules that another implementation of the same definitions computed."""

from __future__ import annotations

from pathlib import Path

from engine_case import check_engine
from known_schedules import stored_schedules


def test_stored_schedules(shared: Path) -> None:
    stored = stored_schedules(shared)
    assert len(stored) == 60
    for known in stored:
        check_engine(known)
