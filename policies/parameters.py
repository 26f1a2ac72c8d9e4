"""Checks of policy parameters, shared by all policies."""

from __future__ import annotations

import math

from serving_sim import Policy
from serving_sim.arguments import check_kind, check_whole, is_real

Beta = float | str | None


def check_alpha(alpha: int) -> int:
    """A fairness budget: a whole number of tokens >= 0.

    Raises
    ------
    ValueError
        If it is not.
    """
    return check_whole("alpha", alpha, 0, "must be a whole number of tokens >= 0")


def check_count(name: str, count: int) -> int:
    """A number of things: whole and >= 1.

    Raises
    ------
    ValueError
        If it is not.
    """
    return check_whole(name, count, 1, "must be a whole number >= 1")


def check_policy(name: str, policy: Policy) -> Policy:
    """A policy inside another.

    Raises
    ------
    TypeError
        If it is none, as where its name is given.
    """
    check_kind(name, policy, Policy, "a Policy, as make_policy gives it")
    return policy


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
    if not is_real(beta) or not 0 <= beta <= 2 * alpha:
        raise ValueError(f"beta={beta!r}: must be 'optimal' or a number from 0 to 2 alpha = {2 * alpha}")
    return math.floor(beta)
