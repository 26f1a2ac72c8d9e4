"""The Mooncake traces, and traces that other tools write with the same keys.

Qin et al., "Mooncake: Trading more storage for less computation", FAST 2025: times in milliseconds,
released in batches of three seconds, so that many requests share a time. aiperf adds sessions, whose
later turns wait for the answer before them. vLLM replays the same keys as seconds unless told
otherwise; nothing in a file tells seconds from milliseconds, so they must be asked for by name.
"""

from __future__ import annotations

from dataclasses import replace

from workloads.tables import Batch
from workloads.traces.elapsed import milliseconds, seconds
from workloads.traces.request_log import LogFormat, present


def _first_turn(batch: Batch) -> None:
    rule = "must be absent, as a later turn waits for the answer before it and has no time of its own"
    batch.refuse("delay", present(batch, "delay"), rule)


MOONCAKE = LogFormat(
    name="mooncake",
    summary="Mooncake, times in milliseconds (JSON lines)",
    time="timestamp",
    clock=milliseconds,
    prompt="input_length",
    output="output_length",
    watched=("delay",),
    check=_first_turn,
)

AIPERF = replace(
    MOONCAKE,
    name="aiperf",
    summary="aiperf trace with sessions, times in milliseconds (JSON lines)",
    marks=("session_id",),
)

VLLM = replace(
    MOONCAKE,
    name="vllm-timed",
    summary="vLLM timed trace, times in seconds (JSON lines)",
    clock=seconds,
    by_name_only=True,
)
