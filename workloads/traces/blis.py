"""The CSV file of a BLIS trace, version 2 and later.

BLIS is the simulator of the repository inference-sim. The YAML header beside the file says nothing that
reading needs: the name of the column states its unit. The arrival counts, as the time of sending may
have another origin.
"""

from __future__ import annotations

from workloads.tables import Batch
from workloads.traces.elapsed import microseconds
from workloads.traces.request_log import LogFormat


def _prompted(batch: Batch) -> None:
    uncounted = batch.whole("input_tokens", least=0) == 0
    batch.refuse("input_tokens", uncounted, "must be >= 1, the prompt was not counted")


FORMAT = LogFormat(
    name="blis",
    summary="BLIS trace, times in microseconds (CSV)",
    time="arrival_time_us",
    clock=microseconds,
    prompt="input_tokens",
    output="output_tokens",
    tenant="tenant_id",
    model="model",
    check=_prompted,
)
