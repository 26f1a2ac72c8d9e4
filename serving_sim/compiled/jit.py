"""How functions are compiled, and where what was compiled is kept.

Without numba's runtime (``_nrt=False``) no function allocates and no reference to an array is counted;
the caller holds them all. Counting took most of the time of a run: each call that hands over a plan or
a queue counts a dozen arrays up and down, atomically.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numpy.typing import NDArray

from serving_sim import rule

Function = TypeVar("Function", bound=Callable[..., Any])
Column = TypeVar("Column", bound=NDArray[Any])
Words = NDArray[Any]
"""Whole numbers of 64 bits; Any, since to the kernel an element and an int are the same type."""

_njit: Any = numba.njit  # numba's own annotations leave _nrt out


def inner(function: Function) -> Function:
    """Compile a function as a part of those that call it."""
    return cast("Function", _njit(_nrt=False)(function))


def entry(function: Function) -> Function:
    """Compile a function that Python calls, and keep the result on disk where that is possible.

    Without a folder that can be written to (a read-only installation and home) numba refuses to
    cache at all; the function is then compiled once in every process. So it is where the disk is full,
    which numba would let end the run.
    """
    try:
        compiled = _njit(cache=True, _nrt=False)(function)
    except RuntimeError:
        return inner(function)
    if compiled is function:  # NUMBA_DISABLE_JIT asks for plain Python
        return function
    save = compiled._cache.save_overload  # noqa: SLF001  (numba offers no other place)

    def save_if_possible(*what: object) -> None:
        with suppress(OSError):
            save(*what)

    compiled._cache.save_overload = save_if_possible  # noqa: SLF001
    return cast("Function", compiled)


def read_only(column: Column) -> Column:
    """A view of a column that the kernel does not write.

    Writeable and read-only arrays are of two types, and a kernel is compiled for every combination
    of types that it meets.
    """
    view = column.view()
    view.flags.writeable = False
    return view


def sources_digest() -> int:
    """Digest of the sources of this package and of the numbers that it folds, in 56 bits.

    Numba drops a cached function when its own file changes, not when a file changes whose functions
    it calls. A function that takes this digest as a default is compiled anew after any change.
    """
    digest = sha256()
    for path in (*sorted(Path(__file__).parent.glob("*.py")), Path(rule.__file__)):
        digest.update(path.read_bytes())
    return int.from_bytes(digest.digest()[:7])
