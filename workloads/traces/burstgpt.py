"""The BurstGPT traces, releases 1 to 3.

Wang et al., "BurstGPT: A real-world workload dataset to optimize LLM serving systems", KDD 2025. Times
are seconds since midnight of the first day, whole in releases 1 and 2, with a decimal point in release
3, which starts on day 225 and has two columns more.
"""

from __future__ import annotations

from workloads.tables import Batch
from workloads.traces.elapsed import seconds
from workloads.traces.request_log import LogFormat

_ANSWER = "Response tokens"


def _answered(batch: Batch) -> None:
    failed = batch.whole(_ANSWER, least=0) == 0
    batch.refuse(_ANSWER, failed, "must be >= 1, a request without an answer failed")


FORMAT = LogFormat(
    name="burstgpt",
    summary="BurstGPT, times in seconds (CSV)",
    time="Timestamp",
    clock=seconds,
    prompt="Request tokens",
    output=_ANSWER,
    model="Model",
    marks=("Model",),
    check=_answered,
)
