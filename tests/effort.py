"""How many random instances a test plays under the profiles of `conftest`."""

from __future__ import annotations

from hypothesis import settings


def instances(usual: int) -> int:
    """A fifth of the usual number under the profile ``brief``, ten times as many under ``soak``."""
    return max(1, round(usual * min(settings().max_examples / 100, 10)))
