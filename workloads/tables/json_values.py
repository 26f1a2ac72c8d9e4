"""Objects of JSON, and their values as a column."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection
from typing import Any

import pyarrow as pa

KEY_RULE = "must not come twice in an object"
"""What is said of a value whose key came before."""


def too_many_digits(error: Exception) -> str | None:
    """The rule that a number breaks which Python refuses to read for its length, None for other errors."""
    if isinstance(error, json.JSONDecodeError) or "digits" not in str(error):
        return None
    return f"must have no number of more than {sys.get_int_max_str_digits():,} digits"


class TwiceKeyed(dict[str, Any]):
    """An object in whose text keys come twice; it holds what comes last."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.keys_as_written = [key for key, _ in pairs]


def noting_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object from its keys and values; what ``object_pairs_hook`` of the json module calls."""
    found = dict(pairs)
    return found if len(found) == len(pairs) else TwiceKeyed(pairs)


def key_twice(found: dict[str, Any], names: Collection[str]) -> str | None:
    """Which of some keys comes twice in the text of an object, None where none does."""
    if not isinstance(found, TwiceKeyed):
        return None
    return next((name for name in names if found.keys_as_written.count(name) > 1), None)


def json_column(values: list[Any]) -> pa.Array:
    """One Arrow array; where kinds mix, or an integer would lose digits, the text of each value."""
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError):
        return pa.array(map(_text, values), pa.string())


def _text(value: object) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value)
    # half of a pair of surrogates is no text, and is shown as the file escapes it
    return json.dumps(text) if any("\ud800" <= sign <= "\udfff" for sign in text) else text
