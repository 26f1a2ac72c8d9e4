"""The formats of request logs: their names, and which of them a file has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, cast

from serving_sim import Workload
from workloads.registry import Registry
from workloads.report import ReadReport
from workloads.tables import Table
from workloads.traces.wanted import Wanted

FORMATS = Registry(
    kind="format",
    prefix="format",
    builtin={
        "plain": "workloads.traces.plain:FORMAT",
        "generic": "workloads.traces.generic:FORMAT",
        "access-log": "workloads.traces.access_log:FORMAT",
        "azure": "workloads.traces.azure:AZURE",
        "azure-multimodal": "workloads.traces.azure:MULTIMODAL",
        "inference-perf": "workloads.traces.azure:INFERENCE_PERF",
        "burstgpt": "workloads.traces.burstgpt:FORMAT",
        "mooncake": "workloads.traces.mooncake:MOONCAKE",
        "aiperf": "workloads.traces.mooncake:AIPERF",
        "vllm-timed": "workloads.traces.mooncake:VLLM",
        "bailian": "workloads.traces.bailian:FORMAT",
        "ragpulse": "workloads.traces.ragpulse:FORMAT",
        "vllm-bench": "workloads.traces.vllm_bench:FORMAT",
        "arena": "workloads.traces.arena:FORMAT",
        "vidur": "workloads.traces.vidur:VIDUR",
        "vidur-older": "workloads.traces.vidur:OLDER",
        "splitwise": "workloads.traces.splitwise:FORMAT",
        "llmservingsim": "workloads.traces.llmservingsim:FORMAT",
        "blis": "workloads.traces.blis:FORMAT",
    },
)


class Format(Protocol):
    """What a format of request logs offers; `LogFormat` gives it to all logs with times."""

    @property
    def name(self) -> str:
        """What the command line calls it."""

    @property
    def summary(self) -> str:
        """What it is, in a line."""

    @property
    def columns(self) -> Sequence[str]:
        """Columns that a file of this format has."""

    @property
    def bare(self) -> bool:
        """Whether files may lack a header line; the columns then stand in their order."""

    @property
    def by_name_only(self) -> bool:
        """Whether files look like another format's, so that this one must be asked for."""

    @property
    def in_seconds(self) -> bool:
        """Whether reading needs to know how many seconds make a time unit."""

    def read(self, tables: Sequence[Table], wanted: Wanted) -> tuple[Workload, ReadReport]:
        """The requests of all tables in order of time, and what became of their rows."""

    def blocks(self, tables: Sequence[Table], wanted: Wanted) -> Iterator[Workload]:
        """The same block by block, from tables that are in order of time."""


def format_called(name: str) -> Format:
    """The format of that name.

    Raises
    ------
    ValueError
        If there is none.
    """
    return cast("Format", FORMATS.load(name))


def fitting(table: Table) -> list[Format]:
    """The formats whose columns a table has, but for those whose columns are all among another's."""
    has = [known for known in _told_by_columns() if set(known.columns) <= set(table.columns)]
    return [one for one in has if not any(set(one.columns) < set(other.columns) for other in has)]


def _told_by_columns() -> Iterator[Format]:
    known = map(format_called, FORMATS.targets)
    return (one for one in known if not one.by_name_only)
