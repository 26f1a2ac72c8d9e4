"""Read a request log in any of the known formats."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol, cast

from serving_sim import Workload
from workloads.registry import Registry
from workloads.report import ReadReport
from workloads.tables import OnBadRow, Table, open_table
from workloads.traces.wanted import LengthKind, Wanted

FORMATS = Registry(
    kind="format",
    prefix="format",
    builtin={
        "plain": "workloads.traces.plain:FORMAT",
        "generic": "workloads.traces.generic:FORMAT",
        "access-log": "workloads.traces.access_log:FORMAT",
        "azure": "workloads.traces.azure:AZURE",
        "azure-multimodal": "workloads.traces.azure:MULTIMODAL",
        "burstgpt": "workloads.traces.burstgpt:FORMAT",
        "mooncake": "workloads.traces.mooncake:MOONCAKE",
        "aiperf": "workloads.traces.mooncake:AIPERF",
        "vllm-timed": "workloads.traces.mooncake:VLLM",
        "bailian": "workloads.traces.bailian:FORMAT",
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
    def by_name_only(self) -> bool:
        """Whether files look like another format's, so that this one must be asked for."""

    def read(self, tables: Sequence[Table], wanted: Wanted) -> tuple[Workload, ReadReport]:
        """The requests of all tables in order of time, and what became of their rows."""


def read_requests(
    path: str | Path,
    format: str = "auto",  # noqa: A002 - the option's name on the command line
    *,
    length: LengthKind = "total",
    time_unit: float | None = None,
    on_bad_row: OnBadRow = "error",
) -> tuple[Workload, ReadReport]:
    """Read a request log.

    Parameters
    ----------
    path : str or Path
        The log, or a pattern such as ``logs/*.csv.gz`` for several of one format, which are merged in
        the order of their times. All count time from the same origin.
    format : str
        A name in `FORMATS`, or ``auto``: the one format whose columns the file has, or the one
        with most columns where they include the others'. Values never decide, and the report says
        what was decided.
    length : str
        What counts as service steps: ``total``, ``output`` or ``prompt`` tokens.
    time_unit : float, optional
        Seconds in a time unit; needed for logs with stamps, refused for plain workload files.
    on_bad_row : str
        ``error`` refuses the file for its first bad row, ``drop`` leaves bad rows out and counts them.

    Returns
    -------
    workload : Workload
        Sorted by release; rows with equal times stand in the order of the files and of their rows.
    report : ReadReport
        What became of the rows.

    Raises
    ------
    ValueError
        If an argument or the file is refused. The message is one line.
    """
    wanted = Wanted(length, time_unit, on_bad_row)
    named = None if format == "auto" else cast("Format", FORMATS.load(format))
    tables = [open_table(file) for file in _files(Path(path))]
    chosen = _common(tables) if named is None else named
    workload, report = chosen.read(tables, wanted)
    notes = list(report.notes)
    if len(tables) > 1:
        notes.insert(0, f"{len(tables)} files merged: {tables[0].path.name} .. {tables[-1].path.name}")
    if named is None:
        notes.insert(0, f"taken for {chosen.name} ({chosen.summary}) by its columns")
    return workload, dataclasses.replace(report, path=Path(path), notes=tuple(notes))


def _files(path: Path) -> list[Path]:
    """The file itself, or those that match a pattern, by name."""
    if path.exists() or not set("*?[") & set(str(path)):
        return [path]
    matching = Path(path.anchor).glob(str(path.relative_to(path.anchor)))
    files = sorted(file for file in matching if file.is_file())
    if not files:
        raise ValueError(f"{path}: no file has such a name")
    return files


def _common(tables: Sequence[Table]) -> Format:
    """The format that all tables have."""
    first = _recognised(tables[0])
    for table in tables[1:]:
        other = _recognised(table)
        if other is not first:
            raise ValueError(
                f"{table.path}: must be {first.name}, as {tables[0].path} is, found {other.name}"
            )
    return first


def _recognised(table: Table) -> Format:
    fitting = _most_specific([known for known in _formats() if set(known.columns) <= set(table.columns)])
    if len(fitting) == 1:
        return fitting[0]
    columns = ", ".join(map(repr, table.columns)) or "none"
    if fitting:
        names = ", ".join(candidate.name for candidate in fitting)
        raise ValueError(f"{table.path}: format could be any of {names}, name one; columns: {columns}")
    names = ", ".join(FORMATS.targets)
    raise ValueError(f"{table.path}: format must be one of {names}; none has the columns {columns}")


def _formats() -> Iterator[Format]:
    """All formats that columns can tell."""
    for name in FORMATS.targets:
        known = cast("Format", FORMATS.load(name))
        if not known.by_name_only:
            yield known


def _most_specific(fitting: Sequence[Format]) -> list[Format]:
    """The formats whose columns are not all among another's."""
    return [one for one in fitting if not any(set(one.columns) < set(other.columns) for other in fitting)]
