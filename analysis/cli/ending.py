"""How the command ends: the exit code and the line for every error."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

from analysis.cli.streams import reader_is_gone

_FAILED = 1
_BAD_INPUT = 2
_BY_SIGNAL = 128  # plus the number of the signal, as shells count

_SOON = 0.01
"""Seconds until a signal comes again that came where it could interrupt nothing."""

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_ENDINGS = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]  # Windows has no SIGHUP
_SUGGESTION = re.compile(r"\s*\(Possible options: (.*)\)$")


class CheckFailedError(Exception):
    """The command has done its work and said all that there is to say: what it checked does not hold."""


@contextlib.contextmanager
def at_work() -> Iterator[None]:
    """Do the work of a command, whose words are read.

    From here on it is somebody else's code, a policy's say, that raises what the parser of the command line
    ends with, and ``typer.Exit(0)`` of a policy is no success.
    """
    import typer

    try:
        yield
    except (typer.Exit, typer.TyperException) as error:
        from serving_sim.errors import ServingSimError

        raise ServingSimError(_unforeseen(error)) from error


@contextlib.contextmanager
def heeding_signals() -> Iterator[list[int]]:
    """Let a termination unwind the stack like Ctrl-C, so that finished work is kept and half files go.

    Yields
    ------
    list of int
        The signals heard so far. What an interruption becomes on its way up may be any error: a module
        that fails to load, a parser that gives up.
    """
    heard: list[int] = []

    def hear(number: int, _frame: FrameType | None) -> None:
        heard.append(number)
        raise KeyboardInterrupt

    def hear_again(missed: sys.UnraisableHookArgs) -> None:
        # raised where Python drops every error, say in the callback of a weak reference
        if heard and isinstance(missed.exc_value, KeyboardInterrupt):
            threading.Timer(_SOON, signal.raise_signal, [heard[-1]]).start()
        else:
            show_missed(missed)

    before, show_missed = _handle(hear), sys.unraisablehook
    sys.unraisablehook = hear_again
    try:
        yield heard
    finally:
        sys.unraisablehook = show_missed
        for number, handler in before.items():
            signal.signal(number, handler)


def close_shop(code: int) -> None:
    """The process is about to end with ``code``: a signal can but hasten it, as nothing is left to lose."""

    def leave(_number: int, _frame: FrameType | None) -> None:
        os._exit(code)

    _handle(leave)


def files_finished() -> int:
    """How many files this process has written, without loading what writes them."""
    writer = sys.modules.get("workloads.whole_file")
    return 0 if writer is None else int(writer.finished)


def last_words(error: BaseException, heard: Sequence[int] = (), *, files: int = 0) -> tuple[int, str]:
    """Exit code and message for what has ended the command; an empty message where nothing is to be said.

    Parameters
    ----------
    error : BaseException
        What came up. A `SystemExit` is somebody else's, a policy's say, and never a success.
    heard : sequence of int
        Signals that came before it.
    files : int
        How many files the command has finished.
    """
    if heard or isinstance(error, KeyboardInterrupt):
        number = heard[-1] if heard else signal.SIGINT
        word = "interrupted" if number == signal.SIGINT else "terminated"
        return _BY_SIGNAL + number, f"{word}, files written so far are complete" if files else word
    if isinstance(error, BrokenPipeError):
        if reader_is_gone():  # and has seen enough
            return _BY_SIGNAL + getattr(signal, "SIGPIPE", 13), ""
        return _BAD_INPUT, _unforeseen(error)  # of a pipe of somebody else's, a policy's say
    if isinstance(error, OSError):
        return _BAD_INPUT, _of_system(error)
    return _of_command(error) or (_BAD_INPUT, _of_work(error))


def _of_system(error: OSError) -> str:
    if error.strerror is None:
        return str(error)
    # every writer of files names its file
    place = "standard output" if error.filename is None else error.filename
    return f"{place}: {error.strerror}"


def _of_command(error: BaseException) -> tuple[int, str] | None:
    """What the parser of the command line says, and checks that have failed; None for anything else."""
    import typer

    from serving_sim.testing import BreachError

    if isinstance(error, CheckFailedError):
        return _FAILED, ""
    if isinstance(error, typer.Exit):
        return error.exit_code, ""
    if isinstance(error, typer.TyperException):  # its message is empty where it has shown the help instead
        said = _SUGGESTION.sub(r"; did you mean \1?", error.format_message())
        return _BAD_INPUT, f"{said[:1].lower()}{said[1:]}"
    if isinstance(error, BreachError):  # --check found the policy breaking its contract
        return _FAILED, str(error)
    return None


def _of_work(error: BaseException) -> str:
    from serving_sim.errors import ServingSimError

    if isinstance(error, ServingSimError | ValueError | ImportError) and str(error):
        return str(error)
    if isinstance(error, MemoryError):
        return f"out of memory{_after_colon(error)}"
    if isinstance(error, OverflowError):
        return f"a number is too large to compute with{_after_colon(error)}"
    if isinstance(error, RecursionError):
        return "something is nested too deeply"
    return _unforeseen(error)


def _unforeseen(error: BaseException) -> str:
    return f"{type(error).__name__}{_after_colon(error)}{_place(error)}"


def _after_colon(error: BaseException) -> str:
    return f": {error}" if str(error) else ""


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({frames[-1].filename}, line {frames[-1].lineno}, in {frames[-1].name})" if frames else ""


def _handle(handler: Callable[[int, FrameType | None], None]) -> dict[int, Any]:
    """Set the handler of all signals that end a process, and return the handlers before."""
    if threading.current_thread() is not threading.main_thread():  # others may not
        return {}
    before = {number: signal.getsignal(number) for number in _ENDINGS}
    heeded = {number: old for number, old in before.items() if old is not signal.SIG_IGN}  # as nohup wants it
    for number in heeded:
        signal.signal(number, handler)
    return heeded
