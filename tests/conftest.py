"""What all tests share: how hard hypothesis tries, where the reference data lie, the command."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from command_line import Command
from hypothesis import settings

# Simulations of very different size come from one strategy, so no example has a deadline. CI must
# answer the same way twice; `pytest -n 2 --hypothesis-profile=soak` searches for about two hours, and
# `brief` is for a second run that asks whether things work here too.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("brief", deadline=None, derandomize=True, print_blob=True, max_examples=20)
settings.register_profile("soak", deadline=None, max_examples=20_000)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

ABSENT = {name for name in ("ciw", "distributed", "numba", "ortools") if find_spec(name) is None}
"""Optional packages without which some tests have nothing to test."""

ADVICE = ("pip install 'serving-sim[", "numba is not installed")
"""What the package says where an optional package is missing."""


def _lacks_extra(message: str) -> bool:
    return bool(ABSENT) and any(words in message for words in ADVICE)


@contextmanager
def skipped_without_extra() -> Generator[None]:
    """Skip a test that fails since an optional package is absent, whatever it needs the package for."""
    try:
        yield
    except (ImportError, ValueError) as failure:
        if getattr(failure, "name", None) in ABSENT or _lacks_extra(str(failure)):
            pytest.skip(str(failure))
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None]:
    with skipped_without_extra():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None]:
    with skipped_without_extra():
        return (yield)


@pytest.fixture(autouse=True, scope="session")
def _interruptions_are_heard() -> None:
    """A shell makes what runs in its background deaf to Ctrl-C, which all processes would inherit."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _own_import_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy beside the user puts its folder on the import path: no later test may find it there."""
    monkeypatch.setattr(sys, "path", [*sys.path])


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of reference schedules and public traces that are not part of the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("SERVING_SIM_SHARED", beside))
    if not folder.is_dir():
        pytest.skip(f"no reference data at {folder}")
    return folder


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run the command in this process."""
    from analysis.cli import main  # most tests do without it

    def call(words: str, *more: object) -> tuple[int, str, str]:
        code = main([*words.split(), *map(str, more)])
        out, err = capsys.readouterr()
        if _lacks_extra(err):
            pytest.skip(err)
        return code, out, err

    return call
