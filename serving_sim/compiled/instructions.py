"""Two machine instructions for which Python and numba have no word."""
# ruff: noqa: ANN401, ARG001  (numba sets these signatures, and most of what it hands over is untyped)

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numba
from llvmlite import ir
from numba.extending import intrinsic


def _zeros_by(instruction: str) -> Callable[[int], int]:
    def count(typing_context: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            zero_is_undefined = ir.Constant(ir.IntType(1), 1)
            return getattr(builder, instruction)(arguments[0], zero_is_undefined)

        return numba.int64(numba.int64), generate

    return cast("Callable[[int], int]", intrinsic(count))


trailing_zeros = _zeros_by("cttz")
"""Index of the lowest set bit of a 64-bit word that is not 0."""

leading_zeros = _zeros_by("ctlz")
"""Zeros above the highest set bit of a 64-bit word that is not 0."""
