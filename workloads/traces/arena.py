"""The Chatbot Arena trace of the VTC paper, with the client of each request.

Sheng et al., "Fairness in serving large language models", OSDI 2024. Each row is a request: seconds
from the start, the client that sent it, the tokens of its prompt and of its answer.
"""

from __future__ import annotations

from collections.abc import Callable

from workloads.tables import Batch
from workloads.traces.elapsed import SECOND, elapsed
from workloads.traces.request_log import Log, LogFormat


def _rows() -> Callable[[Batch], Log]:
    return lambda batch: Log(
        stamp=elapsed(batch, "req_time_s", SECOND),
        prompt=batch.whole("prompt_tokens", least=0),
        output=batch.whole("output_tokens", least=0),
        tenant=batch.label("client"),
    )


FORMAT = LogFormat(
    name="arena",
    summary="Chatbot Arena trace of the VTC paper: clients, times in seconds (CSV)",
    columns=("req_time_s", "client", "prompt_tokens", "output_tokens"),
    rows=_rows,
)
