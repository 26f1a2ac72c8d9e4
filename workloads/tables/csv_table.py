"""Comma-separated values, as text; which column holds numbers is for others to say."""

from __future__ import annotations

import csv
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyarrow import csv as arrow_csv

from workloads.tables.quotes import check_quotes
from workloads.tables.source import Source
from workloads.tables.table import Columns, Misfit, Table, reading
from workloads.tables.text import check_encoding

_BLOCK = 1 << 22  # bytes parsed at a time


class CsvTable(Table):
    """A CSV file; LF or CRLF, blank lines and a byte-order mark are fine.

    Parameters
    ----------
    source : Source
        The file.
    names : sequence of str
        Names of the columns in a file that may lack a header line; the first line is taken for one if
        it holds any of them. Without names it must be one.
    """

    def __init__(self, source: Source, names: Sequence[str] = ()) -> None:
        check_encoding(source)
        with reading(source.path):
            self._header_lines, found = _header(source)
            self._bare = bool(names) and not set(names) & set(found)
            if self._bare:
                self._header_lines, found = self._header_lines - 1, list(names)
            check_quotes(source, self._header_lines)
        super().__init__(source.path, found)
        self._source = source

    def batches(self, names: Sequence[str]) -> Iterator[Columns]:
        """Text columns; a row must have as many fields as the header."""
        with reading(self.path), self._source.content.open("rb") as file:
            if file.read(len(BOM_UTF8)) != BOM_UTF8:
                file.seek(0)
            for _ in range(self._header_lines):
                file.readline()
            if not file.read(1):  # Arrow takes a file without any row for an error
                return
            file.seek(-1, 1)
            reader = arrow_csv.open_csv(
                file,
                # Only a single thread can tell which record a misfit is; it is the faster one too.
                read_options=arrow_csv.ReadOptions(
                    column_names=self.columns, block_size=_BLOCK, use_threads=False
                ),
                parse_options=arrow_csv.ParseOptions(
                    newlines_in_values=True, invalid_row_handler=self._misfit
                ),
                convert_options=arrow_csv.ConvertOptions(
                    include_columns=list(names),
                    column_types=dict.fromkeys(names, pa.string()),
                    strings_can_be_null=False,
                    check_utf8=False,  # done for the whole file, where the line is known
                ),
            )
            for batch in reader:
                yield dict(zip(names, batch.columns, strict=True))

    def _misfit(self, row: arrow_csv.InvalidRow) -> str:
        record = row.number - 1
        self.skipped.append(record)
        if row.text.strip():  # a line of spaces is as good as a blank one
            likewise = "one for each column" if self._bare else "as in the header"
            rule = f"must be {row.expected_columns}, {likewise}"
            self.misfits.append(Misfit(record, "fields", row.actual_columns, rule))
        return "skip"

    def record_place(self, record: int) -> str:
        """The line a record begins on, counted from 1 for the first line of the file."""
        with self._source.content.open("rb") as file:
            return f"line {_line_of(record, file, self._header_lines)}"


def _header(source: Source) -> tuple[int, list[str]]:
    """How many lines the header takes, blank ones before it included, and the names in it."""
    with source.content.open(encoding="utf-8-sig", newline="\n") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                if "\r" in line.rstrip("\r\n"):
                    raise ValueError(f"{source.path}: lines must end with LF or CRLF, found CR alone")
                try:
                    names = next(csv.reader([line], skipinitialspace=True, strict=True))
                except csv.Error as error:
                    raise ValueError(f"{source.path}: line {number}: must be a header: {error}") from None
                return number, [name.strip() for name in names]
    raise ValueError(f"{source.path}: must not be empty")


def _line_of(record: int, lines: Iterator[bytes], header_lines: int) -> int:
    """Number of the line a record begins on; quoted fields may hold line ends."""
    found = -1
    open_quote = False
    number = 0
    for number, line in enumerate(lines, start=1):
        if number <= header_lines:
            continue
        if not open_quote and line.rstrip(b"\r\n"):
            found += 1
            if found == record:
                break
        open_quote ^= line.count(b'"') % 2 == 1
    return number
