"""Checks of policy parameters, shared by all policies."""

from __future__ import annotations

import math
import operator

Beta = float | str | None


def check_alpha(alpha: int) -> int:
    """A fairness budget: a whole number of tokens >= 0.

    Raises
    ------
    ValueError
        If it is not.
    """
    return _whole("alpha", alpha, 0, "must be a whole number of tokens >= 0")


def check_count(name: str, count: int) -> int:
    """A number of things: whole and >= 1.

    Raises
    ------
    ValueError
        If it is not.
    """
    return _whole(name, count, 1, "must be a whole number >= 1")


def _whole(name: str, value: int, least: int, rule: str) -> int:
    try:
        whole = operator.index(value)
    except TypeError:
        raise ValueError(f"{name}={value!r}: {rule}") from None
    if whole < least or isinstance(value, bool):
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
    if not isinstance(beta, int | float) or not 0 <= beta <= 2 * alpha:
        raise ValueError(f"beta={beta!r}: must be 'optimal' or a number from 0 to 2 alpha = {2 * alpha}")
    return math.floor(beta)
