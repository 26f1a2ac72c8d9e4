"""Code of users that a row depends on: the project's own is told by its version."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from serving_sim import Policy

_OURS = ("serving_sim", "policies", "workloads", "analysis")


def code_digests(classes: Iterable[type]) -> list[str]:
    """`module_digests` of the files that define classes and their bases."""
    return module_digests(base.__module__ for cls in classes for base in cls.__mro__)


def module_digests(modules: Iterable[str]) -> list[str]:
    """SHA-256, in hexadecimal, of the files of loaded modules; none for the project's.

    What these files import is not followed.
    """
    files = {getattr(sys.modules.get(name), "__file__", None) for name in modules if _is_users(name)}
    return sorted(_digest(file) for file in files if file is not None)


def classes_of(policy: Policy | None) -> Iterator[type]:
    """The class of a policy and of those inside it."""
    while policy is not None:
        yield type(policy)
        policy = getattr(policy, "inner", None)


def _is_users(module: str) -> bool:
    package, _, _ = module.partition(".")
    return package not in _OURS and package not in sys.stdlib_module_names


@cache  # a process runs what it has loaded, whatever becomes of the file
def _digest(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()
