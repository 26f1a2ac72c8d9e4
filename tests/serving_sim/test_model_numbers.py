"""The engine on schedules worked out by hand, the numbers that define the model among them."""

from __future__ import annotations

import pytest
from engine_case import check_engine
from known_schedules import KNOWN, Known


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.title)
def test_schedules_worked_out_by_hand(known: Known) -> None:
    check_engine(known)
