"""Processes that work for this one: results, order, and who hears Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from joblib import delayed

from analysis import workers


def test_results_come_from_other_processes_in_order() -> None:
    assert list(workers.results([delayed(abs)(-number) for number in range(6)], 2, in_order=True)) == [
        0, 1, 2, 3, 4, 5,
    ]  # fmt: skip
    assert os.getpid() not in list(workers.results([delayed(os.getpid)() for _ in range(2)], 2))


def test_workers_import_from_where_this_process_does_now(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls = [delayed(lambda: sys.path[0])() for _ in range(2)]
    assert str(tmp_path) not in list(workers.results(calls, 2))
    monkeypatch.syspath_prepend(tmp_path)
    assert list(workers.results(calls, 2)) == [str(tmp_path)] * 2


def test_workers_work_where_this_process_does_now(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("one", "other"):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        assert list(workers.results([delayed(os.getcwd)() for _ in range(2)], 2)) == [str(folder)] * 2
        monkeypatch.undo()
        folder.rmdir()  # whoever still worked there could do nothing more


def test_workers_leave_interruptions_to_this_process() -> None:
    before = signal.getsignal(signal.SIGINT)
    calls = [delayed(signal.getsignal)(signal.SIGINT) for _ in range(2)]
    assert set(workers.results(calls, 2)) == {signal.SIG_IGN}
    assert signal.getsignal(signal.SIGINT) is before


def test_one_job_is_this_process() -> None:
    before = signal.getsignal(signal.SIGINT)
    assert set(workers.results([delayed(os.getpid)() for _ in range(2)], 1)) == {os.getpid()}
    assert list(workers.results([], 3)) == []
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_while_workers_start_comes_as_soon_as_they_have() -> None:
    reached = []

    def start() -> None:
        with workers.starting_workers():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.3)  # another thread may be the one that is given it, a moment later
            reached.append(True)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        start()
    assert reached == [True]
    assert signal.getsignal(signal.SIGINT) is before
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_ctrl_c_stays_ignored_where_it_was() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with workers.starting_workers():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_that_another_thread_is_given_is_not_lost_either() -> None:
    # a thread that blocks nothing, as one that draws a progress bar
    ready, done = threading.Event(), threading.Event()

    def kill() -> None:
        ready.wait()
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        done.set()

    def start() -> None:
        with workers.starting_workers():
            ready.set()
            done.wait()

    thread = threading.Thread(target=kill)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        start()
    thread.join()


def test_processes_begin_with_ctrl_c_blocked() -> None:
    with workers.starting_workers():
        assert signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    calls = [delayed(signal.pthread_sigmask)(signal.SIG_BLOCK, ()) for _ in range(2)]
    assert list(workers.results(calls, 2)) == [set(), set()]  # and go on with nothing blocked
