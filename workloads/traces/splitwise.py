"""The traces of the simulator splitwise-sim.

Patel et al., "Splitwise: Efficient generative LLM inference using phase splitting", ISCA 2024.
"""

from __future__ import annotations

from workloads.traces.elapsed import seconds
from workloads.traces.request_log import LogFormat

FORMAT = LogFormat(
    name="splitwise",
    summary="splitwise-sim, times in seconds (CSV)",
    time="arrival_timestamp",
    clock=seconds,
    prompt="prompt_size",
    output="token_size",
)
