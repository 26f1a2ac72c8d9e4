"""How the command ends: the exit code and the line for every error."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import traceback
from types import FrameType

_FAILED = 1
_BAD_INPUT = 2
_BY_SIGNAL = 128  # plus the number of the signal, as shells count
_KEPT = "files written so far are complete"

_ENDINGS = [
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
]  # not on Windows
_SUGGESTION = re.compile(r"\s*\(Possible options: (.*)\)$")


class Terminated(KeyboardInterrupt):
    """Another process asks for the end; whatever lets an interruption through lets this through."""


def heed_signals() -> None:
    """Let a termination unwind the stack like Ctrl-C, so that finished work is kept and half files go."""
    with contextlib.suppress(ValueError):  # only the main thread may
        for number in _ENDINGS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup wants it
                signal.signal(number, _terminate)


def close_shop(code: int) -> None:
    """The process is about to end with ``code``: a signal can but hasten it, as nothing is left to lose."""

    def leave(_number: int, _frame: FrameType | None) -> None:
        os._exit(code)

    with contextlib.suppress(ValueError):
        for number in (signal.SIGINT, *_ENDINGS):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, leave)


def last_words(error: BaseException) -> tuple[int, str]:
    """Exit code and message for what has ended the command; an empty message where nothing is to be said."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else int(bool(error.code)), ""
    if isinstance(error, Terminated):
        return _BY_SIGNAL + int(error.args[0]), f"terminated, {_KEPT}"
    if isinstance(error, KeyboardInterrupt):
        return _BY_SIGNAL + signal.SIGINT, f"interrupted, {_KEPT}"
    if isinstance(error, BrokenPipeError):  # the reader of our output has seen enough
        return _BY_SIGNAL + getattr(signal, "SIGPIPE", 13), ""
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
    return f"{type(error).__name__}{_after_colon(error)}{_place(error)}"


def _after_colon(error: BaseException) -> str:
    return f": {error}" if str(error) else ""


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({frames[-1].filename}, line {frames[-1].lineno}, in {frames[-1].name})" if frames else ""


def _terminate(number: int, _frame: FrameType | None) -> None:
    raise Terminated(number)
