"""Find out which container a file is."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Sequence
from pathlib import Path

from workloads.tables.csv_table import CsvTable
from workloads.tables.json_table import JsonTable
from workloads.tables.jsonl_table import JsonlTable
from workloads.tables.parquet_table import ParquetTable
from workloads.tables.source import Source, unpacked
from workloads.tables.table import Table

_Kind = type[CsvTable | JsonlTable | JsonTable | ParquetTable]

SUFFIXES: dict[str, _Kind] = {
    ".csv": CsvTable,
    ".jsonl": JsonlTable,
    ".ndjson": JsonlTable,
    ".parquet": ParquetTable,
}


def open_table(path: str | Path, names: Sequence[str] = ()) -> Table:
    """The rows of a CSV, JSON lines, JSON or Parquet file, perhaps compressed with gzip or zstd.

    The suffix decides; where it says nothing, the first bytes do.

    Parameters
    ----------
    path : str or Path
        The file.
    names : sequence of str
        Names of the columns in a CSV file that may lack a header line.

    Raises
    ------
    ValueError
        If the file is missing, empty, a folder, not readable, or not what its suffix says.
    """
    source = unpacked(Path(path))
    kind = SUFFIXES.get(source.suffix) or _by_content(source)
    return CsvTable(source, names) if kind is CsvTable else kind(source)


def _by_content(source: Source) -> _Kind:
    with source.content.open("rb") as file:
        start = file.read(64)
        text = start.removeprefix(BOM_UTF8).lstrip()
        file.seek(len(start) - len(text))
        if text.startswith(b"{") and file.readline().rstrip().endswith(b"}"):
            return JsonlTable
    if text.startswith((b"{", b"[")):
        return JsonTable
    return ParquetTable if start.startswith(b"PAR1") else CsvTable
