"""Values of JSON objects as a column."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa


def json_column(values: list[Any]) -> pa.Array:
    """One Arrow array; where kinds mix, or an integer would lose digits, the text of each value."""
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError):
        return pa.array(map(_text, values), pa.string())


def _text(value: object) -> str | None:
    """None for what has no text, such as half of a pair of surrogates."""
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value)
    return None if any("\ud800" <= sign <= "\udfff" for sign in text) else text
