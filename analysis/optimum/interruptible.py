"""Native code that does not hear Ctrl-C, run so that Python does."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

Result = TypeVar("Result")

_PATIENCE = 0.02
"""Seconds between two calls to stop."""


def interruptible(work: Callable[[], Result], stop: Callable[[], None] | None = None) -> Result:
    """What ``work`` returns or raises; an interruption ends the waiting for it.

    Python's handler of signals runs between steps of Python in the main thread. Native code there
    would keep it waiting until its own end, so it gets a thread of its own. It must release the lock
    of the interpreter and leave signals alone.

    Parameters
    ----------
    work : callable
        Calls the native code.
    stop : callable, optional
        Asks it to end, which is then waited for; without it the work is left to end with the process.
    """
    outcome: Future[Result] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:  # noqa: BLE001  (the caller raises it)
            outcome.set_exception(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        return outcome.result()
    except KeyboardInterrupt:
        # a thread that comes back while Python shuts down would abort the process, so it is waited for;
        # it may not hear the first call, if it has only just begun
        while stop is not None and thread.is_alive():
            stop()
            thread.join(_PATIENCE)
        raise
