"""Checks of policy parameters, shared by all policies."""

from __future__ import annotations

import math
import operator
from typing import Literal

Beta = float | Literal["optimal"] | None


def check_alpha(alpha: int) -> int:
    """A fairness budget: a whole number of tokens >= 0."""
    return _whole("alpha", alpha, "must be a whole number of tokens >= 0")


def _whole(name: str, value: int, rule: str) -> int:
    try:
        whole = operator.index(value)
    except TypeError:
        raise ValueError(f"{name}={value!r}: {rule}") from None
    if whole < 0 or isinstance(value, bool):
        raise ValueError(f"{name}={value!r}: {rule}")
    return whole


def beta_tokens(beta: Beta, alpha: int) -> int:
    """The packing allowance of ISJL in whole tokens.

    Sizes are whole, so ``total <= gap + beta`` asks the same of beta and of its floor. ``None``
    stands for alpha (Yao and Zhou, section 3.3), ``"optimal"`` for ``(sqrt(17) - 1) / 4 * alpha``
    (their remark 3.17).

    Raises
    ------
    ValueError
        If beta is outside [0, 2 alpha].
    """
    if beta is None:
        return alpha
    if beta == "optimal":
        return (math.isqrt(17 * alpha * alpha) - alpha) // 4  # the floor, without rounding a root
    if isinstance(beta, str) or not 0 <= beta <= 2 * alpha:
        raise ValueError(f"beta={beta!r}: must be 'optimal' or a number from 0 to 2 alpha = {2 * alpha}")
    return math.floor(beta)
