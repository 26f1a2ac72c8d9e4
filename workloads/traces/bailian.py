"""The Qwen-Bailian traces.

Wang et al., "KVCache cache in the wild", ATC 2025. Each line is a turn of a chat, whose input holds the
turns before it already, so that nothing is added up.
"""

from __future__ import annotations

from workloads.traces.elapsed import seconds
from workloads.traces.request_log import LogFormat

FORMAT = LogFormat(
    name="bailian",
    summary="Qwen-Bailian, times in seconds (JSON lines)",
    time="timestamp",
    clock=seconds,
    prompt="input_length",
    output="output_length",
    marks=("chat_id", "parent_chat_id"),
)
