"""Schedules that the oracle and the engine must both give: worked out by hand, or stored in a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from oracle import Case, Pace


@dataclass(frozen=True)
class Known:
    """A case and its schedule; requests stand in input order, slots count from 0."""

    title: str
    case: Case
    start: tuple[float, ...]
    steps: int
    max_gap: int
    slot: tuple[int, ...] | None = None
    finish: tuple[float, ...] | None = None
    externality: int | None = None

    def check(
        self,
        *,
        start: Sequence[float],
        finish: Sequence[float],
        slot: Sequence[int],
        steps: int,
        max_gap: int,
        externality: int,
    ) -> None:
        """Hold a schedule against this one; dates to the accuracy of floats, all else exactly."""
        assert start == pytest.approx(self.start, rel=1e-9), self.title
        assert self.finish is None or finish == pytest.approx(self.finish, rel=1e-9), self.title
        assert self.slot is None or tuple(slot) == self.slot, self.title
        assert (steps, max_gap) == (self.steps, self.max_gap), self.title
        assert self.externality is None or externality == self.externality, self.title


def stored_schedules(shared: Path) -> list[Known]:
    """Schedules that another implementation of the same definitions computed."""
    return [
        _from_row(row)
        for row in json.loads((shared / "cases" / "schedules.json").read_text(encoding="utf-8"))
    ]


def _from_row(row: dict[str, Any]) -> Known:
    case = Case(
        row["policy"],
        row["slots"],
        tuple(row["release"]),
        tuple(row["length"]),
        alpha=row["alpha"],
        upper=None if row["upper"] is None else tuple(row["upper"]),
        pace=Pace(**row["step_time"]),
    )
    return Known(
        f"case {row['case']}",
        case,
        start=tuple(row["start"]),
        finish=tuple(row["finish"]),
        steps=row["steps"],
        externality=row["externality"],
        max_gap=row["max_gap"],
    )


def _at_zero(policy: str, slots: int, alpha: int, *length: int) -> Case:
    return Case(policy, slots, (0.0,) * len(length), length, alpha=alpha)


KNOWN = [
    Known(
        "a request released in the middle of a step is seen at its end, one on an empty worker at once",
        Case("fcfs", 2, (0.5, 1.25, 9.0), (3, 2, 1)),
        start=(0.5, 1.5, 9.0),
        finish=(3.5, 3.5, 10.0),
        steps=4,
        max_gap=1,
        externality=2,
    ),
    Known(
        "slotted: an empty worker starts at whole multiples of the step only",
        Case("fcfs", 2, (0.5, 1.25, 9.0), (3, 2, 1), slotted=True),
        start=(1.0, 2.0, 9.0),
        finish=(4.0, 4.0, 10.0),
        steps=4,
        max_gap=1,
        externality=2,
    ),
    Known(
        "a release at a boundary joins there",
        Case("fcfs", 2, (0.0, 2.0), (5, 1)),
        start=(0.0, 2.0),
        finish=(5.0, 3.0),
        steps=5,
        max_gap=2,
        externality=2,
    ),
    Known(  # steps of 1 + 10 * 2 + 100 * 1 + 1000 * 2 and 1 + 10 * 1 + 100 * 2 + 1000 * 2
        "each coefficient of the step time counts what it says",
        Case("fcfs", 2, (0.0, 0.0), (2, 1), pace=Pace(1.0, 10.0, 100.0, 1000.0)),
        start=(0.0, 0.0),
        finish=(4332.0, 2121.0),
        steps=2,
        max_gap=0,
        externality=0,
    ),
    Known(
        "equal sizes: earlier release first, then input order",
        Case("sjf", 1, (0.5, 0.25, 0.25, 0.0), (2, 2, 2, 1)),
        start=(5.0, 1.0, 3.0, 0.0),
        steps=7,
        max_gap=0,
        externality=0,
    ),
    Known(
        "largest first, of those that are there",
        Case("lpt", 1, (1.0, 0.0, 0.0), (4, 3, 1)),
        start=(3.0, 0.0, 7.0),
        steps=8,
        max_gap=0,
        externality=0,
    ),
    Known(
        "a static batch admits nobody until all have finished",
        Case("ljf", 2, (0.0, 0.0, 1.0), (3, 1, 1)),
        start=(0.0, 0.0, 3.0),
        steps=4,
        max_gap=0,
        externality=0,
    ),
    Known(
        "a progress of alpha still admits",
        _at_zero("fair-fcfs", 2, 2, 5, 2, 1),
        start=(0.0, 0.0, 2.0),
        steps=5,
        max_gap=2,
        externality=2,
    ),
    Known(
        "a progress above alpha does not",
        _at_zero("fair-fcfs", 2, 1, 5, 2, 1),
        start=(0.0, 0.0, 5.0),
        steps=6,
        max_gap=0,
        externality=0,
    ),
    Known(  # cap_2 = min(8, 20 - 15 + 4); E = 8
        "two slots: long 1 starts alpha before the end of the pack, long 2 at its end",
        _at_zero("isjl", 2, 4, 20, 15, 8),
        start=(4.0, 8.0, 0.0),
        slot=(0, 1, 1),
        steps=24,
        max_gap=4,
    ),
    Known(  # caps 20, 20; packs [12, 8] and [15, 5]; from 10 to 15 the 15 blocks the 8; E = 23
        "a pack request above alpha blocks the other packs, and the longs too",
        _at_zero("isjl", 3, 10, 60, 50, 40, 15, 12, 8, 5),
        start=(15.0, 23.0, 20.0, 0.0, 0.0, 15.0, 15.0),
        slot=(0, 1, 2, 2, 1, 1, 2),
        steps=75,
        max_gap=8,
    ),
    Known(  # packs [9, 6] and [9, 9]; E = 18
        "longs are held until alpha before the end of the longest pack; the last meets A_max = alpha",
        _at_zero("isjl", 3, 10, 40, 30, 25, 9, 9, 9, 6),
        start=(8.0, 15.0, 18.0, 0.0, 9.0, 0.0, 9.0),
        slot=(0, 1, 2, 2, 2, 1, 1),
        steps=48,
        max_gap=10,
    ),
    Known(  # packs [6, 2] and [8]; the 2 is blocked from 6 to 8, so E = 10, not 8
        "the projected end of the packs counts the steps they are blocked",
        _at_zero("isjl", 3, 4, 20, 14, 13, 8, 6, 2),
        start=(8.0, 10.0, 8.0, 0.0, 0.0, 8.0),
        slot=(0, 1, 2, 2, 1, 1),
        steps=28,
        max_gap=2,
    ),
    Known(  # M = 2; packs [7, 7, 4] | [7] | [7]; E = 18, hold until 8; at 7 two slots have no plan left
        "during the hold a largest waiting request above alpha waits, and those behind it too",
        Case("isjl", 4, (0.0,) * 7 + (5.0, 5.0), (60, 50, 7, 7, 7, 7, 4, 30, 3), alpha=10),
        start=(8.0, 18.0, 0.0, 0.0, 0.0, 7.0, 14.0, 8.0, 8.0),
        slot=(0, 1, 2, 3, 1, 1, 1, 2, 3),
        steps=68,
        max_gap=10,
    ),
    Known(  # as above, without the 30
        "during the hold an arrival of at most alpha does not wait",
        Case("isjl", 4, (0.0,) * 7 + (5.0,), (60, 50, 7, 7, 7, 7, 4, 3), alpha=10),
        start=(8.0, 18.0, 0.0, 0.0, 0.0, 7.0, 14.0, 7.0),
        slot=(0, 1, 2, 3, 1, 1, 1, 2),
        steps=68,
        max_gap=10,
    ),
    Known(  # the 2 and the 1 go to Phase TWO, which prefers the 3 that came meanwhile
        "the limit on pack requests binds on the slots without a long as well",
        Case("isjl", 3, (0.0, 0.0, 0.0, 0.0, 1.0), (10, 10, 2, 1, 3), alpha=4, beta=0),
        start=(0.0, 0.0, 0.0, 10.0, 2.0),
        slot=(0, 1, 2, 0, 2),
        steps=11,
        max_gap=2,
    ),
    Known(
        "beta = alpha packs the 1 ..",
        _at_zero("isjl", 2, 1, 5, 5, 1),
        start=(0.0, 1.0, 0.0),
        steps=6,
        max_gap=1,
    ),
    Known(
        ".. and beta = 0.78 alpha does not",
        Case("isjl", 2, (0.0, 0.0, 0.0), (5, 5, 1), alpha=1, beta="optimal"),
        start=(0.0, 0.0, 5.0),
        steps=6,
        max_gap=0,
    ),
    Known(
        "robust: the hold follows what pack requests really do",
        Case("robust-isjl", 2, (0.0, 0.0, 0.0), (20, 15, 2), alpha=4, upper=(20, 15, 8)),
        start=(2.0, 2.0, 0.0),
        slot=(0, 1, 1),
        steps=22,
        max_gap=0,
    ),
    Known(
        "as printed: long 2 starts at once, long 3 two alpha later",
        _at_zero("isjl-as-printed", 3, 4, 20, 19, 10, 8),
        start=(4.0, 0.0, 8.0, 0.0),
        slot=(0, 1, 2, 2),
        steps=24,
        max_gap=8,
    ),
    Known(
        "the guard on the same requests",
        _at_zero("isjl", 3, 4, 20, 19, 10, 8),
        start=(4.0, 4.0, 8.0, 0.0),
        slot=(0, 1, 2, 2),
        steps=24,
        max_gap=4,
    ),
    Known(  # packs [4, 4] and [5]: the delay of 5 - 4 overlooks the 8 of slot 2
        "as printed: the delay of long 1 looks at the last long's slot only",
        _at_zero("isjl-as-printed", 3, 4, 20, 14, 13, 5, 4, 4),
        start=(1.0, 8.0, 5.0, 0.0, 0.0, 4.0),
        slot=(0, 1, 2, 2, 1, 1),
        steps=22,
        max_gap=7,
    ),
    Known(  # packs [6, 2] and [8]
        "as printed: a pack request starts more than alpha behind another",
        _at_zero("isjl-as-printed", 3, 4, 20, 14, 13, 8, 6, 2),
        start=(4.0, 8.0, 8.0, 0.0, 0.0, 6.0),
        slot=(0, 1, 2, 2, 1, 1),
        steps=24,
        max_gap=6,
    ),
    Known(  # M = 2; packs [7, 7, 3] and [7]; long 1 starts at 8, the 10 that comes at 1 already at 7
        "as printed: Phase TWO does not wait for the delay of long 1",
        Case("isjl-as-printed", 3, (0.0,) * 6 + (1.0,), (18, 10, 7, 7, 7, 3, 10), alpha=9),
        start=(8.0, 17.0, 0.0, 0.0, 7.0, 14.0, 7.0),
        slot=(0, 1, 2, 1, 1, 1, 2),
        steps=27,
        max_gap=9,
    ),
    Known(
        "ISJL with the optimal beta is not optimal: alpha-fair schedules reach 15",
        Case("isjl", 2, (0.0,) * 5, (10, 7, 7, 5, 1), alpha=4, beta="optimal"),
        start=(2.0, 6.0, 13.0, 0.0, 5.0),
        steps=20,
        max_gap=4,
    ),
    Known(
        "ISJL with beta = alpha",
        _at_zero("isjl", 2, 50, 100, 100, 49, 49),
        start=(0.0, 49.0, 0.0, 149.0),
        steps=198,
        max_gap=49,
    ),
    *(
        Known(
            f"FCFS serves one of length {length} and as many of length 1 in {length} steps",
            _at_zero("fcfs", 2, 0, length, *(1,) * length),
            start=(0.0, *(float(k) for k in range(length))),
            steps=length,
            max_gap=length - 1,
            externality=length * (length - 1) // 2,
        )
        for length in (2, 7, 30)
    ),
    *(
        Known(
            f"LJF serves one of length {length} and as many of length 1 without externality",
            _at_zero("ljf", 2, 0, length, *(1,) * length),
            start=(0.0, 0.0, *(float(length + k // 2) for k in range(length - 1))),
            steps=length + length // 2,  # length + ceil((length - 1) / 2)
            max_gap=0,
            externality=0,
        )
        for length in (2, 7, 30)
    ),
]
