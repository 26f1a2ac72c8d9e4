"""How long the requests of a client are: tables of probabilities, from a JSON file of Python texts."""

from __future__ import annotations

import ast
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serving_sim.columns import LARGEST_COUNT, IntArray
from workloads.own_inputs import note_input
from workloads.tables.json_values import too_many_digits
from workloads.tables.table import reading

_FIELDS = ("input_tokens", "output_tokens")
_RULE = "must be one JSON object"
_NEAR_ONE = 1e-3  # sums of rounded probabilities
_SHOWN = 40  # characters of a value that is refused


@dataclass(frozen=True, eq=False)
class TokenTable:
    """Counts of tokens with their probabilities.

    Attributes
    ----------
    tokens : ndarray of int, shape (k,)
        Counts.
    probability : ndarray of float, shape (k,)
        How often each comes, with sum 1.
    """

    tokens: IntArray
    probability: NDArray[np.float64]

    def sample(self, n: int, rng: np.random.Generator) -> IntArray:
        """``n`` independent counts."""
        return rng.choice(self.tokens, size=n, p=self.probability)


Tables = dict[str, TokenTable]
"""A table for prompts and one for outputs, by the names that the file gives them."""


def read_token_tables(path: Path) -> dict[int, Tables]:
    """Tables of prompts and outputs, by the second from which they hold.

    A time whose tables are empty, as for a client that was idle, is left out.

    Raises
    ------
    ValueError
        If the file cannot be read, or a table breaks a rule: file, time, field, value, rule.
    """
    note_input(path)
    with reading(path):
        content = path.read_bytes()
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: {too_many_digits(error) or _RULE}") from None
    tables: dict[int, Tables] = {}
    for time, value in _dictionary(found, f"{path}: {_RULE}").items():
        if not (time.isascii() and time.isdecimal()):
            raise ValueError(f"{path}: time={time!r}: must be whole seconds")
        fields = _dictionary(value, f"{path}: time {time}: must hold {' and '.join(_FIELDS)}")
        texts = {name: fields.get(name) for name in _FIELDS}
        made = {name: _table(f"{path}: time {time}: {name}", text) for name, text in texts.items()}
        whole = {name: table for name, table in made.items() if table is not None}
        if len(whole) == len(_FIELDS):
            tables[int(time)] = whole
            _check_some_token(f"{path}: time {time}", whole)
    return dict(sorted(tables.items()))


def _table(where: str, text: object) -> TokenTable | None:
    """The table that a text such as ``{100: 0.5, 200: 0.5}`` writes, None if it is empty."""
    pairs = _pairs(where, text)
    if not pairs:
        return None
    shown = f"{where}={_short(text)}"
    for tokens, weight in pairs.items():
        if type(tokens) is not int or not 0 <= tokens <= LARGEST_COUNT:
            raise ValueError(f"{shown}: tokens={tokens!r}: must be a whole number from 0 to 2**62")
        if type(weight) not in (int, float) or not (math.isfinite(weight) and weight >= 0):
            raise ValueError(f"{shown}: probability={weight!r}: must be a finite number >= 0")
    total = math.fsum(pairs.values())
    if abs(total - 1) > _NEAR_ONE:
        raise ValueError(f"{shown}: probabilities must add up to 1, found {total:.6g}")
    probability = np.array(list(pairs.values()), dtype=np.float64)
    return TokenTable(np.array(list(pairs), dtype=np.int64), probability / probability.sum())


def _pairs(where: str, text: object) -> dict[Any, Any]:
    """A Python dictionary from its text, which is read and never run."""
    try:
        found = ast.literal_eval(text) if isinstance(text, str) else None
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        found = None
    return _dictionary(found, f"{where}={_short(text)}: must be the text of a dictionary of tokens")


def _dictionary(found: object, refusal: str) -> dict[Any, Any]:
    if isinstance(found, dict):
        return found
    raise ValueError(refusal)


def _check_some_token(where: str, tables: Tables) -> None:
    if all(((table.tokens == 0) & (table.probability > 0)).any() for table in tables.values()):
        raise ValueError(f"{where}: {' and '.join(_FIELDS)} must not both be 0, a request has a token")


def _short(value: object) -> str:
    return repr(value if not isinstance(value, str) else value[:_SHOWN])
