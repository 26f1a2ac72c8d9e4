"""What arguments may be, and the line for a name that nobody knows."""

from __future__ import annotations

import sys
from math import inf, nan

import pytest

from serving_sim.arguments import did_you_mean, is_finite, unknown


@pytest.mark.parametrize("value", [0, -1.5, sys.float_info.max, -sys.float_info.max, 10**300])
def test_what_a_float_can_hold_is_finite(value: object) -> None:
    assert is_finite(value)


@pytest.mark.parametrize("value", [inf, -inf, nan, 10**400, True, "1", None])
def test_what_no_float_holds_is_not_finite(value: object) -> None:
    assert not is_finite(value)


def test_the_closest_name_is_offered() -> None:
    assert did_you_mean("fcsf", ["sjf", "fcfs", "ljf"]) == "did you mean 'fcfs'?"
    assert did_you_mean("anything", ["sjf", "fcfs"]) == ""


@pytest.mark.parametrize(
    ("name", "known", "line"),
    [
        ("fcsf", ["sjf", "fcfs"], "policy='fcsf': is unknown; did you mean 'fcfs'? known: sjf, fcfs"),
        ("anything", ["sjf", "fcfs"], "policy='anything': is unknown; known: sjf, fcfs"),
        (5, [], "policy=5: is unknown; known: none"),
    ],
)
def test_an_unknown_name_gets_one_line(name: object, known: list[str], line: str) -> None:
    assert unknown("policy", name, known) == line
