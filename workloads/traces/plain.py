"""The plain workload file among the formats of request logs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from serving_sim import Workload
from workloads.files import NEEDED, blocks_of, workload_of
from workloads.report import ReadReport
from workloads.tables import Table
from workloads.traces.wanted import Wanted


class PlainFormat:
    """A file that already speaks of time units and steps."""

    name = "plain"
    summary = "release in time units, length in steps (CSV, JSON lines or Parquet)"
    columns = NEEDED
    bare = False
    by_name_only = False
    in_seconds = False

    def read(self, tables: Sequence[Table], wanted: Wanted) -> tuple[Workload, ReadReport]:
        """The requests as they stand.

        Raises
        ------
        ValueError
            If a kind of length or a time unit is asked for, or the file is refused.
        """
        _check(wanted)
        return workload_of(tables, wanted.on_bad_row)

    def blocks(self, tables: Sequence[Table], wanted: Wanted) -> Iterator[Workload]:
        """The same block by block, from tables in the order of their releases.

        Raises
        ------
        ValueError
            As `read`, and if a release is earlier than the one before.
        """
        _check(wanted)
        return blocks_of(tables, wanted.on_bad_row)


def _check(wanted: Wanted) -> None:
    if wanted.length != "total":
        raise ValueError(f"length={wanted.length!r}: a plain workload file states its lengths")
    if wanted.time_unit is not None:
        raise ValueError(f"time_unit={wanted.time_unit!r}: a plain workload file is in time units")


FORMAT = PlainFormat()
