"""The Chatbot Arena trace of the VTC paper, with the client of each request.

Sheng et al., "Fairness in serving large language models", OSDI 2024.
"""

from __future__ import annotations

from workloads.traces.elapsed import seconds
from workloads.traces.request_log import LogFormat

FORMAT = LogFormat(
    name="arena",
    summary="Chatbot Arena trace of the VTC paper, times in seconds (CSV)",
    time="req_time_s",
    clock=seconds,
    prompt="prompt_tokens",
    output="output_tokens",
    tenant="client",
    marks=("client",),
)
