"""Results as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping


def to_json(content: Mapping[str, object]) -> str:
    """``content`` as JSON text; whole numbers stay exact and NaN is refused."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
