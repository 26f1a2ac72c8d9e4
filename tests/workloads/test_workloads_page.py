"""The reference page of workloads names the columns, distributions and keys that there are."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from workloads.files import COLUMNS, NEEDED, TIME_UNIT
from workloads.lengths import LENGTHS
from workloads.specification import _KINDS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "workloads.md"


def rows(first_cell: str) -> dict[str, list[str]]:
    """Cells by name, of the table whose header begins with ``first_cell``."""
    _, _, table = PAGE.read_text(encoding="utf-8").partition(f"| {first_cell} |")
    lines = table.partition("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {name.strip("`"): others for name, *others in cells}


def test_page_lists_the_columns_of_a_plain_file() -> None:
    listed = rows("column")
    assert list(listed) == [*COLUMNS, TIME_UNIT]
    assert [name for name, cells in listed.items() if cells[0] == "yes"] == list(NEEDED)


def test_page_lists_the_length_distributions() -> None:
    assert list(rows("distribution")) == list(LENGTHS.builtin)


@pytest.mark.parametrize("name", LENGTHS.builtin)
def test_page_lists_their_parameters(name: str) -> None:
    cls = LENGTHS.load(name)
    assert isinstance(cls, type)
    written = ", ".join(f"`{field.name}`" for field in fields(cls) if field.init)
    assert rows("distribution")[name][0] == (written or "none")


def test_page_lists_the_keys_of_a_specification() -> None:
    assert list(rows("key")) == list(_KINDS)
