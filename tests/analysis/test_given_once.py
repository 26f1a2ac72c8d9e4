"""An option with one value that is given twice is refused, by every command."""

from __future__ import annotations

import pytest
from command_line import Command


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("run --policy fcfs --slots 16 --slots 4", "--slots"),
        ("run --policy fcfs --tenant x --tenant=x", "--tenant"),
        ("run --policy fcfs --policy sjf", "--policy"),
        ("compare --seed 1 --policy fcfs --policy sjf --seed 1", "--seed"),
        ("workload make --out a.csv --out b.csv", "--out"),
        ("study run grid.toml --jobs 1 --jobs 2", "--jobs"),
        ("steptime fit steps.csv --seed 1 --seed 2", "--seed"),
        ("optimum 1,2 --alpha 3 --alpha 4 --slots 2", "--alpha"),
    ],
)
def test_one_value_is_given_once(words: str, option: str, command: Command) -> None:
    line = f"serving-sim: error: invalid value for '{option}': must be given once, found it twice\n"
    assert command(words) == (2, "", line)


def test_what_may_come_twice(command: Command) -> None:
    words = "compare --policy fcfs --policy sjf --num-prompts 10 --slots 2 --alpha 9 -q -q --json --json"
    code, _, err = command(words)
    assert (code, err) == (0, "")
