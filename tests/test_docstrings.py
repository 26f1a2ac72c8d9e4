"""Examples in docstrings do what they show."""

from __future__ import annotations

import doctest
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest


def _with_examples() -> Iterator[str]:
    for package in ("serving_sim", "policies", "workloads", "analysis"):
        modules = pkgutil.walk_packages(import_module(package).__path__, f"{package}.")
        for name in (package, *(module.name for module in modules)):
            spec = find_spec(name)
            if spec and spec.origin and ">>> " in Path(spec.origin).read_text(encoding="utf-8"):
                yield name


@pytest.mark.parametrize("name", list(_with_examples()))
def test_examples(name: str) -> None:
    failed, tried = doctest.testmod(import_module(name))
    assert tried
    assert not failed
