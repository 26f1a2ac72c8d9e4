"""The columns of a run grow by doubling, so that a request costs the same however many there were."""

from __future__ import annotations

import pytest

from serving_sim import StepTime, Workload
from serving_sim.ledger import Ledger


@pytest.mark.parametrize("column", ["length", "start", "slot", "lower"])
def test_columns_double(column: str) -> None:
    ledger = Ledger("length", StepTime(), None)
    rooms = []
    for request in range(100):
        assert ledger.append(Workload([request], [1])) == request
        rooms.append(len(ledger.view(column)))
    assert sorted(set(rooms)) == [1, 2, 4, 8, 16, 32, 64, 128]
    assert rooms == sorted(rooms)
    assert all(room > request for request, room in enumerate(rooms))
