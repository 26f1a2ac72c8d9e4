"""Processes that work for this one: results, order, and who hears Ctrl-C."""

from __future__ import annotations

import os
import signal

from joblib import delayed

from analysis import workers


def test_results_come_from_other_processes_in_order() -> None:
    assert list(workers.results([delayed(abs)(-number) for number in range(6)], 2, in_order=True)) == [
        0, 1, 2, 3, 4, 5,
    ]  # fmt: skip
    assert os.getpid() not in list(workers.results([delayed(os.getpid)() for _ in range(2)], 2))


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
