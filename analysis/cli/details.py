"""``--verbose`` on every command: what is being done, as the packages log it."""

from __future__ import annotations

import contextlib
import inspect
import logging
import platform
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from analysis.cli.console import say
from analysis.cli.ending import at_work
from analysis.cli.sparing import sparing_inputs
from analysis.version import project_version

_PACKAGES = ("serving_sim", "policies", "workloads", "analysis")

_Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say on standard error what is being done.")]


def detailed(command: Callable[..., None]) -> Callable[..., None]:
    """The command at its work, its inputs safe from its outputs, with an option more.

    The option has the log of all packages said on standard error.
    """

    @wraps(command)
    def call(*, verbose: bool, **values: Any) -> None:  # noqa: ANN401
        if verbose and values.get("quiet"):
            raise ValueError("--verbose: cannot go with --quiet")
        with at_work(), sparing_inputs(hints, values), _told() if verbose else contextlib.nullcontext():
            command(**values)

    hints = get_type_hints(command, include_extras=True)
    named = inspect.Parameter.KEYWORD_ONLY
    options = [
        each.replace(kind=named, annotation=hints[each.name])
        for each in inspect.signature(command).parameters.values()
    ]
    verbose = inspect.Parameter("verbose", named, default=False, annotation=_Verbose)
    call.__signature__ = inspect.Signature([*options, verbose])  # type: ignore[attr-defined]
    call.__annotations__ = {**hints, "verbose": _Verbose}
    return call


class _Teller(logging.Handler):
    """Says every message, above a progress bar where there is one."""

    def emit(self, record: logging.LogRecord) -> None:
        say(self.format(record), quiet=False)


@contextlib.contextmanager
def _told() -> Iterator[None]:
    teller = _Teller()
    loggers = [logging.getLogger(name) for name in _PACKAGES]
    before = [(logger, logger.level) for logger in loggers]
    for logger in loggers:
        logger.addHandler(teller)
        logger.setLevel(logging.DEBUG)
    try:
        say(f"serving-sim {project_version()}, Python {platform.python_version()}", quiet=False)
        yield
    finally:
        for logger, level in before:
            logger.setLevel(level)
            logger.removeHandler(teller)
