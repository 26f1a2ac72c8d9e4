"""The RAGPulse trace.

Wang et al., "RAGPulse: An open-source RAG workload trace to optimize RAG serving systems", 2025. Times
are seconds, written as texts. The keys are those of an aiperf trace with sessions, whose times are
milliseconds, but numbers; and the clock starts anew in the middle of the file.
"""

from __future__ import annotations

import numpy as np

from serving_sim.columns import IntArray
from workloads.tables import Batch
from workloads.tables.batch import is_text
from workloads.traces.elapsed import seconds
from workloads.traces.request_log import Clock, LogFormat

_TEXT = "must be a text, as RAGPulse writes seconds; numbers are milliseconds of aiperf"
_ANEW = "must not be before the rows above, the clock starts anew here: make two files of it"


def _running() -> Clock:
    """Times in seconds as texts, from a clock that runs through."""
    read = seconds()
    latest = np.iinfo(np.int64).min

    def clock(batch: Batch, name: str) -> IntArray:
        nonlocal latest
        if not is_text(batch.columns[name]):
            batch.refuse(name, np.ones(len(batch.broken), dtype=bool), _TEXT)
        times = read(batch, name)
        good = np.where(batch.broken < 0, times, latest)
        so_far = np.maximum.accumulate(np.concatenate([[latest], good]))
        batch.refuse(name, times < so_far[:-1], _ANEW)
        latest = so_far[-1]
        return times

    return clock


FORMAT = LogFormat(
    name="ragpulse",
    summary="RAGPulse, times in seconds (JSON lines)",
    time="timestamp",
    clock=_running,
    prompt="input_length",
    output="output_length",
    marks=("hash_ids", "session_id"),
)
