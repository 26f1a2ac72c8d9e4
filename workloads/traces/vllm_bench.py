"""The detailed result of a benchmark by vLLM or SGLang: one object with a list for each column.

``vllm bench serve --save-result --save-detailed`` writes when each request was sent, in seconds of a
clock with an unknown origin, and its tokens. A request that failed has a text among the errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from serving_sim import Workload
from workloads.report import ReadReport
from workloads.tables import Batch, Table
from workloads.tables.batch import is_text, mask
from workloads.tables.unfolded_table import UnfoldedTable
from workloads.traces.elapsed import seconds
from workloads.traces.request_log import LogFormat
from workloads.traces.wanted import Wanted


@dataclass(frozen=True, kw_only=True)
class ListsFormat(LogFormat):
    """A format of logs in a single object that holds lists."""

    def read(self, tables: Sequence[Table], wanted: Wanted) -> tuple[Workload, ReadReport]:
        """The requests of all objects; see `LogFormat.read`."""
        return super().read([UnfoldedTable(table) for table in tables], wanted)

    def blocks(self, tables: Sequence[Table], wanted: Wanted) -> Iterator[Workload]:
        """The same block by block; see `LogFormat.blocks`."""
        return super().blocks([UnfoldedTable(table) for table in tables], wanted)


def _succeeded(batch: Batch) -> None:
    errors = batch.columns.get("errors")
    if errors is None or not is_text(errors):
        return
    failed = mask(pc.fill_null(pc.not_equal(errors, ""), pa.scalar(False)))  # noqa: FBT003
    batch.refuse("errors", failed, "must be empty, the request failed")


FORMAT = ListsFormat(
    name="vllm-bench",
    summary="detailed result of vllm bench serve, times in seconds (JSON)",
    time="start_times",
    clock=seconds,
    prompt="input_lens",
    output="output_lens",
    watched=("errors",),
    check=_succeeded,
)
