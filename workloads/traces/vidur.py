"""The request traces of the simulator Vidur.

Agrawal et al., "Vidur: A large-scale simulation framework for LLM inference", MLSys 2024. The column
``pd_ratio``, where it is there, has two opposite meanings in files that are about, and is ignored.
"""

from __future__ import annotations

from workloads.traces.elapsed import seconds
from workloads.traces.request_log import LogFormat

VIDUR = LogFormat(
    name="vidur",
    summary="Vidur, times in seconds (CSV)",
    time="arrived_at",
    clock=seconds,
    prompt="num_prefill_tokens",
    output="num_decode_tokens",
)

OLDER = LogFormat(
    name="vidur-older",
    summary="Vidur before it renamed its columns, times in seconds (CSV)",
    time="Time",
    clock=seconds,
    prompt="PromptTokenCount",
    output="GeneratedTokenCount",
)
