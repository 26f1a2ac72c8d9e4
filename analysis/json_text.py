"""Results as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

_SHAPELESS = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
"""Letters that a terminal obeys or that no encoding has; json escapes those below a blank itself."""


def to_json(content: Mapping[str, object]) -> str:
    """``content`` as JSON text; whole numbers stay exact.

    Raises
    ------
    ValueError
        If a number is not finite: JSON has no word for it.
    """
    try:
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise ValueError(
            "a result is not finite and JSON cannot tell it: the input holds numbers too large or too small "
            "to compute with"
        ) from None
    return _SHAPELESS.sub(lambda letter: f"\\u{ord(letter.group()):04x}", text) + "\n"
