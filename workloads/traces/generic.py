"""A log of one's own, under names that state their units."""

from __future__ import annotations

from workloads.traces.elapsed import seconds
from workloads.traces.request_log import LogFormat

FORMAT = LogFormat(
    name="generic",
    summary="arrival_s, input_tokens, output_tokens, times in seconds",
    time="arrival_s",
    clock=seconds,
    prompt="input_tokens",
    output="output_tokens",
    tenant="tenant",
    model="model",
)
