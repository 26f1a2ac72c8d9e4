"""The reference page and the help of the command name the arrival processes that there are."""

from __future__ import annotations

from dataclasses import MISSING, fields
from pathlib import Path
from typing import get_type_hints

import pytest

from analysis.cli.options import WorkloadOptions
from workloads.arrivals import ARRIVALS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "arrivals.md"


def rows(first_cell: str) -> dict[str, list[str]]:
    """Cells by process, of the table whose header begins with ``first_cell``."""
    _, _, table = PAGE.read_text(encoding="utf-8").partition(f"| {first_cell} |")
    lines = table.partition("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {name.strip("`"): others for name, *others in cells}


@pytest.mark.parametrize("name", ARRIVALS.builtin)
def test_page_lists_the_parameters(name: str) -> None:
    cls = ARRIVALS.load(name)
    assert isinstance(cls, type)
    written = [
        field.name if field.default is MISSING else f"{field.name}={field.default:{_form(field.default)}}"
        for field in fields(cls)
        if field.init
    ]
    assert rows("process | parameters")[name][0] == (", ".join(f"`{each}`" for each in written) or "none")


def _form(default: object) -> str:
    return "g" if isinstance(default, float) else ""


def test_page_states_the_facts_of_all_that_have_them() -> None:
    without = ("backlog", "profile")
    assert list(rows("process | scv")) == [name for name in ARRIVALS.builtin if name not in without]


def test_help_lists_the_processes() -> None:
    option = get_type_hints(WorkloadOptions, include_extras=True)["arrivals"].__metadata__[0]
    assert option.help.rstrip(".").partition("One of ")[2].split(", ") == list(ARRIVALS.builtin)
