"""The request traces of LLMServingSim.

Cho et al., "LLMServingSim: A HW/SW co-simulation infrastructure for LLM inference serving at scale",
IISWC 2024. A line may hold a session of chained calls instead of a request.
"""

from __future__ import annotations

from workloads.tables import Batch
from workloads.traces.elapsed import nanoseconds
from workloads.traces.request_log import LogFormat, present


def _single(batch: Batch) -> None:
    rule = "must be absent, as chained calls wait for each other and have no times of their own"
    batch.refuse("sub_requests", present(batch, "sub_requests"), rule)


FORMAT = LogFormat(
    name="llmservingsim",
    summary="LLMServingSim, times in nanoseconds (JSON lines)",
    time="arrival_time_ns",
    clock=nanoseconds,
    prompt="input_toks",
    output="output_toks",
    watched=("sub_requests",),
    check=_single,
)
