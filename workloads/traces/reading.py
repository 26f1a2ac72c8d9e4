"""Read a request log in any of the known formats."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from serving_sim import Workload
from serving_sim.arguments import check_kind
from serving_sim.columns import IntArray
from workloads.report import ReadReport
from workloads.tables import OnBadRow, Table, open_table
from workloads.traces.formats import FORMATS, Format, fitting, format_called
from workloads.traces.token_counts import token_columns, token_counts
from workloads.traces.wanted import LengthKind, Wanted


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
    TypeError
        If the path is no path, or the format no text.
    ValueError
        If an argument or the file is refused. The message is one line.
    """
    check_kind("path", path, (str, Path), "a path")
    check_kind("format", format, str, "a text such as 'auto'")
    wanted = Wanted(length, time_unit, on_bad_row)
    chosen, tables = _opened(Path(path), format)
    workload, report = chosen.read(tables, wanted)
    notes = list(report.notes)
    if len(tables) > 1:
        notes.insert(0, f"{len(tables)} files merged: {tables[0].path.name} .. {tables[-1].path.name}")
    if format == "auto":
        notes.insert(0, f"taken for {chosen.name} ({chosen.summary}) by its columns")
    return workload, dataclasses.replace(report, path=Path(path), notes=tuple(notes))


@dataclass(frozen=True)
class LogStream:
    """A request log as a source that never holds all of it: `serving_sim.simulate` takes it as it is.

    The file, or the files in the order of their names, must be in the order of time. Each pass reads
    them anew. The parameters are those of `read_requests`.

    Raises
    ------
    ValueError
        If an argument is refused or the file is in no known format; the rows are looked at as they come.
    """

    path: str | Path
    format: str = "auto"
    length: LengthKind = "total"
    time_unit: float | None = None
    on_bad_row: OnBadRow = "error"

    def __post_init__(self) -> None:
        self._opened()

    def blocks(self) -> Iterator[Workload]:
        """Some thousand requests at a time."""
        chosen, tables, wanted = self._opened()
        return chosen.blocks(tables, wanted)

    def _opened(self) -> tuple[Format, list[Table], Wanted]:
        wanted = Wanted(self.length, self.time_unit, self.on_bad_row)
        return *_opened(Path(self.path), self.format), wanted


def read_lengths(path: str | Path) -> dict[str, IntArray]:
    """Read how long requests are, from a workload, a log or a file of token counts without times.

    Parameters
    ----------
    path : str or Path
        The file, or a pattern for several of one format.

    Returns
    -------
    mapping of str to ndarray of int, shape (n,)
        ``length`` in steps, prompt and output together where the file does not state it, and
        ``prompt_tokens`` and ``output_tokens`` where the file has them.

    Raises
    ------
    ValueError
        If the file is refused. The message is one line.
    """
    tables = [open_table(file) for file in log_files(Path(path))]
    pair = token_columns(tables[0])
    if pair is not None and not fitting(tables[0]):
        return token_counts(tables, pair)
    chosen = _format_of_all(tables)
    workload, _ = chosen.read(tables, Wanted(time_unit=1.0 if chosen.in_seconds else None))
    columns = {name: getattr(workload, name) for name in ("length", "prompt_tokens", "output_tokens")}
    return {name: column for name, column in columns.items() if column is not None}


def _opened(path: Path, format: str) -> tuple[Format, list[Table]]:  # noqa: A002 - as in `read_requests`
    """The format that is named, or that the files have, and the files."""
    named = None if format == "auto" else format_called(format)
    columns = named.columns if named is not None and named.bare else ()
    tables = [open_table(file, columns) for file in log_files(path)]
    return _format_of_all(tables) if named is None else named, tables


def log_files(path: Path) -> list[Path]:
    """The file itself, or those that match a pattern, by name.

    Raises
    ------
    ValueError
        If none matches, or the pattern asks for folders at any depth.
    """
    if path.exists() or not set("*?[") & set(str(path)):
        return [path]
    if "**" in path.parts:  # a study from elsewhere could have all of the disk looked through
        raise ValueError(f"{path}: must name its folders, found **")
    matching = Path(path.anchor).glob(str(path.relative_to(path.anchor)))
    files = sorted(file for file in matching if file.is_file())
    if not files:
        raise ValueError(f"{path}: no file has such a name")
    return files


def _format_of_all(tables: Sequence[Table]) -> Format:
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
    found = fitting(table)
    if len(found) == 1:
        return found[0]
    columns = ", ".join(map(repr, table.columns)) or "none"
    if found:
        names = ", ".join(candidate.name for candidate in found)
        raise ValueError(f"{table.path}: format could be any of {names}, name one; columns: {columns}")
    if "conversations" in table.columns:
        raise ValueError(
            f"{table.path}: must hold counts of tokens, found texts of conversations; "
            "count them with the tokenizer of a model first"
        )
    if token_columns(table) is not None:
        raise ValueError(
            f"{table.path}: must say when requests arrived, in the columns of one of the formats, such as "
            f"{_needs('plain')} or {_needs('generic')}; found {columns}; lengths alone serve as the "
            f"distribution of lengths empirical:file={table.path}"
        )
    names = ", ".join(FORMATS.targets)
    simplest = format_called("generic")
    raise ValueError(
        f"{table.path}: format must be one of {names}; none has the columns {columns}; "
        f"simplest is {simplest.name}: name three of them {', '.join(simplest.columns)}"
    )


def _needs(name: str) -> str:
    """A format and its columns, as in "plain (release, length)"."""
    return f"{name} ({', '.join(format_called(name).columns)})"
