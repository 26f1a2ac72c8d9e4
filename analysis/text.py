"""Numbers and estimates as people read them."""

from __future__ import annotations

import re

from analysis.estimate import Estimate

ABSENT = "-"

_ROUNDING = 1e-12  # a relative width below it comes from floating point, not from chance


def number(value: float | None) -> str:
    """Four significant digits, or all digits before the point: ``12,345``, ``1.235``, ``-``."""
    if value is None:
        return ABSENT
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def with_interval(estimate: Estimate) -> str:
    """Value and half width of the interval, as in ``12.35 ± 0.4``."""
    half, value = estimate.half_width, estimate.value
    if half is None or value is None:
        return number(value)
    if half < _ROUNDING * abs(value):
        half = 0.0
    return f"{number(value)} ± {half:.2g}" if half < 100 else f"{number(value)} ± {half:,.0f}"


def file_name(text: str) -> str:
    """A name as part of a path: ``isjl:alpha=4`` is ``isjl-alpha-4``."""
    return re.sub(r"[^\w.]+", "-", text).strip("-")
