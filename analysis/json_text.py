"""Results as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping


def to_json(content: Mapping[str, object]) -> str:
    """``content`` as JSON text; whole numbers stay exact.

    Raises
    ------
    ValueError
        If a number is not finite: JSON has no word for it.
    """
    try:
        return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    except ValueError:
        raise ValueError(
            "a result is not finite and JSON cannot tell it: the input holds numbers too large or too small "
            "to compute with"
        ) from None
