"""Processes of this machine that work for this one, leave Ctrl-C to it, and end with it."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from joblib import Parallel, cpu_count
from joblib.externals.loky.backend import resource_tracker as loky_tracker

_log = logging.getLogger(__name__)

_Call = tuple[Any, tuple[Any, ...], dict[str, Any]]
"""What `joblib.delayed` makes of a call."""

_MASKS = hasattr(signal, "pthread_sigmask")  # Windows has none


def results(calls: Sequence[_Call], jobs: int, *, in_order: bool = False) -> Iterator[Any]:
    """Results of calls made in other processes, each as soon as it is there.

    Parameters
    ----------
    calls : sequence
        From `joblib.delayed`.
    jobs : int
        Processes at most; a single one is this process itself.
    in_order : bool
        Give the results in the order of the calls, which may keep one waiting for those before it.
    """
    workers = max(1, min(jobs, len(calls)))
    _log.debug("%d pieces of work for %d processes", len(calls), workers)
    parallel = Parallel(
        n_jobs=workers,
        return_as="generator" if in_order else "generator_unordered",
        initializer=start_worker,
        initargs=worker_of_this_process(),  # others than last time: joblib starts other processes
    )
    with starting_workers():
        begun: Iterator[Any] = parallel(calls)
    return begun


def processes(jobs: int | None) -> int:
    """How many processes to use: as many as asked for, else one a core that this process may use."""
    return cpu_count() if jobs is None else jobs


def worker_of_this_process() -> tuple[int, tuple[str, ...], str]:
    """What `start_worker` must know of this process."""
    return os.getpid(), tuple(sys.path), str(Path.cwd())


def start_worker(parent: int, import_path: tuple[str, ...], folder: str) -> None:
    """Make this process a worker of ``parent`` that finds its modules and files: to be called first in it."""
    sys.path[:] = import_path
    os.chdir(folder)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends its workers
    if _MASKS:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # as it was while this process began
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process soon after its parent, which may be killed without a chance to see to it."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


@contextmanager
def starting_workers() -> Iterator[None]:
    """Hold Ctrl-C back while processes begin, so that it reaches this one alone, and then at once.

    A process that has only begun would end with a traceback. It inherits what this thread blocks, until
    `start_worker` makes it deaf for good.
    """
    if threading.current_thread() is not threading.main_thread():  # others may not
        yield
        return
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as nohup wants it, and processes inherit it
        yield
        return
    if _MASKS:  # the trackers of shared memory may unblock what the processes must inherit, once
        resource_tracker.ensure_running()
        loky_tracker.ensure_running()
    heard: list[int] = []  # another thread, which blocks nothing, may be given the signal
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if _MASKS else set()
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if _MASKS:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        if heard:
            signal.raise_signal(signal.SIGINT)
