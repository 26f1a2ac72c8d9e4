"""Which version of the project is at work."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def project_version() -> str:
    """The version as results record it."""
    try:
        return version("serving-sim")
    except PackageNotFoundError:  # run from a source tree
        return "not installed"
