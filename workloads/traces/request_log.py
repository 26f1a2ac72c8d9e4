"""The border that all request logs cross: from stamps and token counts to a workload.

A format says where stamps and token counts stand and how to read a stamp; what makes a row good,
which tokens count, and how time starts and is scaled is decided here, once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serving_sim import Workload
from workloads.report import ReadReport
from workloads.tables import Batch, Intake, Table
from workloads.tables.batch import MOST, IntArray
from workloads.traces.elapsed import SECOND
from workloads.traces.wanted import LengthKind, Wanted


@dataclass(frozen=True)
class Log:
    """Some rows of a log.

    Attributes
    ----------
    stamp : ndarray of int, shape (rows,)
        Arrival in whole nanoseconds from any origin.
    prompt, output : ndarray of int, shape (rows,)
        Tokens.
    tenant : ndarray of object, shape (rows,), optional
        Who sent the request.
    model : ndarray of object, shape (rows,), optional
        Which model it asked for.
    """

    stamp: IntArray
    prompt: IntArray
    output: IntArray
    tenant: NDArray[np.object_] | None = None
    model: NDArray[np.object_] | None = None


@dataclass(frozen=True)
class LogFormat:
    """A format of request logs in tables with stamps.

    Attributes
    ----------
    name, summary : str
        What to call it; what it is, in a line.
    columns : sequence of str
        Columns it needs; a table that has them all is taken for this format.
    rows : callable
        Called once per file; what it returns turns each batch into a `Log`.
    optional : sequence of str
        Columns it reads where they are there.
    """

    name: str
    summary: str
    columns: Sequence[str]
    rows: Callable[[], Callable[[Batch], Log]]
    optional: Sequence[str] = ()

    def recognises(self, table: Table) -> bool:
        """Whether the table has the columns of this format."""
        return set(self.columns) <= set(table.columns)

    def read(self, table: Table, wanted: Wanted) -> tuple[Workload, ReadReport]:
        """The requests of a table, with time 0 at the first of them.

        Raises
        ------
        ValueError
            If ``time_unit`` is not given, a column is missing, no request is left, or, unless bad rows
            are dropped, a row breaks a rule.
        """
        if wanted.time_unit is None:
            raise ValueError(f"time_unit=None: must say how many seconds make a time unit for {self.name}")
        table.require(self.columns)
        names = [*self.columns, *(name for name in self.optional if name in table.columns)]
        intake = Intake(table, wanted.on_bad_row)
        rows = self.rows()
        values = intake.columns(names, lambda batch: _columns(batch, rows(batch), wanted.length))
        values = intake.in_order(values, "stamp")
        stamp = values.pop("stamp")
        # The first stamp goes while all are still integers: seconds since 1970 as floats would round
        # the gaps to 0.2 microseconds.
        seconds = (stamp - stamp[0]) / SECOND
        del values["row"]
        return Workload(seconds / wanted.time_unit, **values), intake.report(self.name)


def _columns(batch: Batch, log: Log, kind: LengthKind) -> dict[str, NDArray[Any]]:
    length = {"total": log.prompt + log.output, "prompt": log.prompt, "output": log.output}[kind]
    counted = "prompt and output tokens" if kind == "total" else f"{kind} tokens"
    # Two counts of 2**62 wrap to a negative sum, so the sum is looked at from both sides.
    bad = (length < 1) | (length > MOST)
    batch.refuse("length", bad, f"must be from 1 to 2**62, counting {counted}", shown=length)
    columns = {
        "stamp": log.stamp,
        "length": length,
        "prompt_tokens": log.prompt,
        "output_tokens": log.output,
    }
    names = {"tenant": log.tenant, "model": log.model}
    return columns | {name: column for name, column in names.items() if column is not None}
