"""The reference page of policies says what the registry and the policies say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from policies import catalogue, make_policy, parse_policy
from serving_sim import Policy

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "policies.md"
VALUES = {"alpha": 7, "k": 2, "x": 0.5, "w": 3.0, "inner": "fair-sjf"}


def table(first_cell: str) -> dict[str, list[str]]:
    """Cells of the table that begins with a header cell, by the name in the first column."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    begin = next(row for row, line in enumerate(lines) if line.startswith(f"| {first_cell} |")) + 2
    rows = {}
    for line in lines[begin:]:
        if not line.startswith("|"):
            break
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        rows[name.strip("`")] = cells
    return rows


POLICIES = table("policy")
BUILT_IN = {entry.name: entry for entry in catalogue() if entry.origin == "built in"}


def build(name: str) -> Policy:
    required = [each for each in BUILT_IN[name].parameters if "=" not in each]
    # an inner policy with an alpha of its own must not hide that of the wrapper
    given = {**VALUES, "inner": "sjf"} if name == "fair" else VALUES
    return make_policy(name, **{each: given[each] for each in required}, **_inner_alpha(required))


def _inner_alpha(required: list[str]) -> dict[str, object]:
    return {"alpha": 7} if "inner" in required and "alpha" not in required else {}


def test_every_built_in_policy_has_a_row_in_the_order_of_the_list() -> None:
    assert list(POLICIES) == list(BUILT_IN)


@pytest.mark.parametrize("name", BUILT_IN)
def test_parameters_are_those_of_the_registry(name: str) -> None:
    parameters = POLICIES[name][0]
    assert re.findall(r"`([^`]+)`", parameters) == list(BUILT_IN[name].parameters)
    assert BUILT_IN[name].parameters or parameters == "none"


@pytest.mark.parametrize("name", BUILT_IN)
def test_promises_are_those_of_the_policy(name: str) -> None:
    promised = {"-": None, "0": 0, "alpha": 7, "that of `inner`": 7}
    assert build(name).alpha == promised[POLICIES[name][2]]


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_policy_has_a_rule_and_a_cost(name: str) -> None:
    rule, cost = POLICIES[name][1], POLICIES[name][3]
    assert rule
    assert re.search(r"O\(.+\)|as `isjl`|that of `inner`", cost)


def test_every_parameter_is_explained() -> None:
    used = {each.partition("=")[0] for entry in BUILT_IN.values() for each in entry.parameters}
    assert set(table("parameter")) == used


def test_the_nested_example_is_a_policy() -> None:
    (example,) = re.findall(r"Wrappers nest: `([^`]+)`", PAGE.read_text(encoding="utf-8"))
    assert parse_policy(example).alpha == 100
