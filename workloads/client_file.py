"""Clients written down in a TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from serving_sim.arguments import is_finite, unknown
from workloads.lengths import LENGTHS, parse_lengths
from workloads.spec import refuse_modules
from workloads.superposition import Client, Superposition
from workloads.toml_file import read_toml

_REQUIRED = ("name", "rate", "lengths")
_KEYS = (*_REQUIRED, "burstiness")


def read_clients(path: Path | str) -> Superposition:
    """The clients of a file: a table ``[[client]]`` for each.

    Its keys are ``name``, ``rate`` in requests per time unit, ``lengths`` as `parse_lengths` reads
    them, and ``burstiness`` where the gaps are not those of a Poisson process.

    Raises
    ------
    ValueError
        If the file is no such file; the message names file, client, key, value and rule.
    """
    path = Path(path)
    try:
        content = read_toml(path)
    except ValueError as error:
        raise ValueError(f"{path}: is no TOML: {error}") from None
    for key in content:
        if key != "client":
            raise ValueError(f"{path}: {unknown('table', key, ('client',))}")
    entries = content.get("client", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(f"{path}: client={entries!r}: must be tables, each under [[client]]")
    try:
        return Superposition(_client(place, entry) for place, entry in enumerate(entries, start=1))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _client(place: int, entry: Mapping[str, Any]) -> Client:
    try:
        _check_keys(entry)
        lengths = _text("lengths", entry["lengths"])
        refuse_modules("lengths", lengths, LENGTHS)
        return Client(
            name=_text("name", entry["name"]),
            rate=_number("rate", entry["rate"]),
            lengths=parse_lengths(lengths),
            burstiness=_number("burstiness", entry.get("burstiness", 1.0)),
        )
    except ValueError as error:
        raise ValueError(f"client {place}: {error}") from None


def _check_keys(entry: Mapping[str, Any]) -> None:
    for key in entry:
        if key not in _KEYS:
            raise ValueError(unknown("key", key, _KEYS))
    missing = [key for key in _REQUIRED if key not in entry]
    if missing:
        raise ValueError(f"needs {', '.join(f'{key} = ..' for key in missing)}")


def _text(key: str, value: object) -> str:
    if isinstance(value, str):
        return value
    raise ValueError(f"{key}={value!r}: must be a text in quotes")


def _number(key: str, value: object) -> float:
    if not is_finite(value):
        raise ValueError(f"{key}={value!r}: must be a finite number")
    return float(value)
