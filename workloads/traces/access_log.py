"""An access log of a server with the interface of OpenAI: dates, and tokens as its answers count them."""

from __future__ import annotations

from workloads.traces.request_log import LogFormat
from workloads.traces.stamps import dates

FORMAT = LogFormat(
    name="access-log",
    summary="timestamp as a date, prompt_tokens, completion_tokens",
    time="timestamp",
    clock=dates,
    prompt="prompt_tokens",
    output="completion_tokens",
    tenant="user",
    model="model",
)
