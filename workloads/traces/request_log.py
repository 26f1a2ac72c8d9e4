"""The border that all request logs cross: from times and token counts to a workload.

A format says which columns hold times, tokens and names, and how its clock is read; what makes a row
good, which tokens count, and how time starts and is scaled is decided here, once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from serving_sim import Workload
from serving_sim.columns import LARGEST_COUNT, IntArray
from workloads.report import ReadReport
from workloads.tables import Batch, Intake, Table
from workloads.traces.wanted import LengthKind, Wanted

SECOND = 10**9
"""Nanoseconds in a second."""

Clock = Callable[[Batch, str], IntArray]
"""Reads a column of times, batch by batch, as nanoseconds from an origin of its own."""


@dataclass(frozen=True, kw_only=True)
class LogFormat:
    """A format of request logs: tables with a time and two counts of tokens in each row.

    Attributes
    ----------
    name, summary : str
        What to call it; what it is, in a line.
    time : str
        Column of the times at which requests arrived.
    clock : callable
        Called once for a log; what it returns reads that column.
    prompt, output : str
        Columns of tokens.
    tenant, model : str, optional
        Columns of who sent the request and which model it asked for, read where they are there.
    marks : sequence of str
        Further columns by which the format is known.
    watched : sequence of str
        Further columns that ``check`` looks at where they are there.
    check : callable, optional
        Marks the rows that break a rule of this format alone; it goes first, as its reasons say most.
    bare : bool
        Whether files may lack the header line; time, prompt and output then stand in this order.
    by_name_only : bool
        Whether files look like another format's, so that this one must be asked for.
    """

    name: str
    summary: str
    time: str
    clock: Callable[[], Clock]
    prompt: str
    output: str
    tenant: str | None = None
    model: str | None = None
    marks: Sequence[str] = ()
    watched: Sequence[str] = ()
    check: Callable[[Batch], None] | None = None
    bare: bool = False
    by_name_only: bool = False
    in_seconds: ClassVar[bool] = True

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that a file of this format has."""
        return tuple(dict.fromkeys([self.time, self.prompt, self.output, *self.marks]))

    def read(self, tables: Sequence[Table], wanted: Wanted) -> tuple[Workload, ReadReport]:
        """The requests of all tables in the order of their times, with time 0 at the first of them.

        Raises
        ------
        ValueError
            If ``time_unit`` is not given, a column is missing, no request is left, or, unless bad rows
            are dropped, a row breaks a rule.
        """
        unit = self._time_unit(wanted)
        intake = Intake(tables, wanted.on_bad_row)
        values = intake.columns(self._names(intake), self._check(wanted))
        values = intake.in_order(values, "time")
        return _workload(values, values["time"][0], unit), intake.report(self.name)

    def blocks(self, tables: Sequence[Table], wanted: Wanted) -> Iterator[Workload]:
        """The same requests block by block, from tables that are in the order of their times.

        Raises
        ------
        ValueError
            As `read`, and if a time is earlier than the one before.
        """
        unit = self._time_unit(wanted)
        intake = Intake(tables, wanted.on_bad_row)
        origin: np.int64 | None = None
        for values in intake.in_turn(self._names(intake), self._check(wanted), "time"):
            origin = values["time"][0] if origin is None else origin
            yield _workload(values, origin, unit)

    def _time_unit(self, wanted: Wanted) -> float:
        if wanted.time_unit is None:
            raise ValueError(
                f"time_unit=None: must say how many seconds make a time unit for {self.name}, "
                "on the command line with --time-unit"
            )
        return wanted.time_unit

    def _names(self, intake: Intake) -> list[str]:
        optional = [name for name in (self.tenant, self.model, *self.watched) if name is not None]
        return intake.names(self.columns, optional)

    def _check(self, wanted: Wanted) -> Callable[[Batch], dict[str, NDArray[Any]]]:
        clock = self.clock()
        return lambda batch: self._rows(batch, clock, wanted.length)

    def _rows(self, batch: Batch, clock: Clock, kind: LengthKind) -> dict[str, NDArray[Any]]:
        if self.check is not None:
            self.check(batch)
        time = clock(batch, self.time)
        prompt = batch.whole(self.prompt, least=0)
        output = batch.whole(self.output, least=0)
        columns = {
            "time": time,
            "length": counted(batch, prompt, output, kind),
            "prompt_tokens": prompt,
            "output_tokens": output,
        }
        names = {"tenant": self.tenant, "model": self.model}
        return columns | {
            key: batch.label(name)
            for key, name in names.items()
            if name is not None and name in batch.columns
        }


def _workload(values: dict[str, NDArray[Any]], origin: np.int64, unit: float) -> Workload:
    """The requests, with time 0 at ``origin``."""
    # The origin goes while all are still integers: seconds since 1970 as floats would round the gaps
    # to 0.2 microseconds.
    release = (values.pop("time") - origin) / SECOND
    release /= unit
    for column in (release, *values.values()):
        column.flags.writeable = False  # the workload keeps it without a copy
    return Workload(release, **values)


def counted(batch: Batch, prompt: IntArray, output: IntArray, kind: LengthKind) -> IntArray:
    """The tokens that count as length, at least 1 in a good row."""
    length = {"total": prompt + output, "prompt": prompt, "output": output}[kind]
    tokens = "prompt and output tokens" if kind == "total" else f"{kind} tokens"
    # Two counts of 2**62 wrap to a negative sum, so the sum is looked at from both sides.
    bad = (length < 1) | (length > LARGEST_COUNT)
    # Without a sign the wrapped sum reads as what it is.
    shown = length.view(np.uint64)
    batch.refuse("length", bad, f"must be from 1 to 2**62, counting {tokens}", shown=shown)
    return length


def present(batch: Batch, column: str) -> NDArray[np.bool_]:
    """Which rows hold something in a column; none where the log lacks it."""
    if column not in batch.columns:
        return np.zeros(len(batch.broken), dtype=bool)
    return batch.columns[column].is_valid().to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
