"""TOML files that somebody else may have written."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from workloads.own_inputs import note_input
from workloads.regular_file import RULE, may_not_end

LARGEST = 1 << 22
"""Bytes of a TOML file at most: people write them, and a reader holds all of one several times over."""


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file.

    Raises
    ------
    ValueError
        If the file is no TOML or too large; the message leaves it to the caller to name the file.
    OSError
        If it cannot be read.
    OwnInputError
        If the command is about to write it.
    """
    if may_not_end(path):
        raise ValueError(RULE)
    note_input(path)
    with path.open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(f"must have at most {LARGEST:,} bytes")
    try:
        return tomllib.loads(content.decode("utf-8-sig").replace("\r\n", "\n"))
    except RecursionError:
        raise ValueError("is nested too deeply") from None
