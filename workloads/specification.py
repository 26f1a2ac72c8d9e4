"""A workload to make, as a file: the TOML that ``workload fit`` writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from serving_sim import Workload
from serving_sim.arguments import unknown
from workloads.arrivals import ARRIVALS, parse_arrivals
from workloads.generate import make_workload
from workloads.lengths import LENGTHS, parse_lengths
from workloads.parameters import check_count, check_positive
from workloads.spec import refuse_modules
from workloads.toml_file import read_toml
from workloads.whole_file import replacing


@dataclass(frozen=True)
class Specification:
    """A random workload up to its seed; the keys of its file are the options of the command line.

    Parameters
    ----------
    num_prompts : int
        Requests, >= 1.
    lengths, arrivals : str
        Distribution and process, as `parse_lengths` and `parse_arrivals` read them.
    request_rate : float, optional
        Requests per time unit, where the process does not name its own.
    time_unit : float, optional
        Seconds in a time unit, where that is known.

    Raises
    ------
    ValueError
        If a value is refused.
    """

    num_prompts: int
    lengths: str
    arrivals: str
    request_rate: float | None = None
    time_unit: float | None = None

    def __post_init__(self) -> None:
        check_count("num-prompts", self.num_prompts)
        if self.time_unit is not None:
            check_positive("time-unit", self.time_unit, "seconds")
        parse_lengths(self.lengths)
        parse_arrivals(self.arrivals, rate=self.request_rate)

    def workload(self, seed: int | np.random.SeedSequence) -> Workload:
        """The requests that a seed stands for."""
        arrivals = parse_arrivals(self.arrivals, rate=self.request_rate)
        return make_workload(self.num_prompts, parse_lengths(self.lengths), arrivals, seed)


_NUMBER = frozenset({int, float})
_KINDS: Mapping[str, tuple[frozenset[type], str]] = {
    "num-prompts": (frozenset({int}), "a whole number"),
    "lengths": (frozenset({str}), "a text"),
    "arrivals": (frozenset({str}), "a text"),
    "request-rate": (_NUMBER, "a number"),
    "time-unit": (_NUMBER, "a number"),
}
_REGISTRIES = {"lengths": LENGTHS, "arrivals": ARRIVALS}
_NEEDED = ("num-prompts", "lengths", "arrivals")


def read_specification(path: str | Path) -> Specification:
    """Read a specification.

    Raises
    ------
    ValueError
        If the file is no TOML or a key is unknown, missing or refused: one line with file, key, value
        and rule.
    OSError
        If the file cannot be read.
    """
    try:
        return Specification(**_checked(read_toml(Path(path))))
    except ValueError as error:  # what is no TOML or no UTF-8 raises one too
        raise ValueError(f"{path}: {error}") from None


def write_specification(specification: Specification, path: str | Path, comment: str) -> None:
    """Write a specification, with a comment above it; the file appears only when it is complete.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    for key in _KINDS:
        value = getattr(specification, key.replace("-", "_"))
        if value is not None:
            lines.append(f"{key} = {json.dumps(value)}")  # JSON's numbers and texts are TOML's
    with replacing(Path(path)) as part:
        part.write_text("\n".join([*lines, ""]), encoding="utf-8", newline="\n")


def _checked(content: Mapping[str, Any]) -> dict[str, Any]:
    for key, value in content.items():
        if key not in _KINDS:
            raise ValueError(unknown("key", key, _KINDS))
        kinds, noun = _KINDS[key]
        if type(value) not in kinds:  # a bool is an int, and no number here
            raise ValueError(f"{key}={value!r}: must be {noun}")
        if key in _REGISTRIES:
            refuse_modules(key, value, _REGISTRIES[key])
    missing = [key for key in _NEEDED if key not in content]
    if missing:
        raise ValueError(f"keys {', '.join(missing)}: must be there")
    return {key.replace("-", "_"): value for key, value in content.items()}
