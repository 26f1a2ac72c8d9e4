"""A command writes over none of its inputs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from analysis.cli.naming import flag
from analysis.cli.paths import output_file, output_folder, run_folder
from analysis.run_files import PATTERNS

_NAMES = {output_file: (), output_folder: (), run_folder: PATTERNS}
"""Parsers of paths to write, and what in a folder they promise."""


def sparing_inputs(hints: Mapping[str, object], values: Mapping[str, object]) -> AbstractContextManager[None]:
    """`workloads.own_inputs.guarding` for the annotations of a command's parameters and their values."""
    written = [
        (path, f"{flag(name)}={str(path)!r}", _NAMES[parser])
        for name, hint in hints.items()
        for parser in (getattr(option, "parser", None) for option in getattr(hint, "__metadata__", ()))
        if parser in _NAMES and isinstance(path := values.get(name), Path)
    ]
    if not written:
        return nullcontext()
    from workloads.own_inputs import Target, guarding  # here, as it takes a while

    return guarding([Target(*each) for each in written])
