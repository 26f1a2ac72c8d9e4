"""The scripts beside the pages, which belong to no package."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType


def docs_script(name: str) -> ModuleType:
    """A script of docs/ as a module."""
    path = Path(__file__).resolve().parents[1] / "docs" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
