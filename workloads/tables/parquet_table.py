"""Parquet files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
from pyarrow import parquet

from workloads.tables.source import Source
from workloads.tables.table import Columns, Table, reading

_ROWS = 1 << 17  # read at a time

MOST_ROWS = 10**9
"""A file of some kilobytes can say that a value is repeated without end."""


class ParquetTable(Table):
    """A Parquet file; rows are counted from 1, as it has no lines."""

    def __init__(self, source: Source) -> None:
        with reading(source.path), _opened(source) as file:
            names = file.schema_arrow.names
            rows = file.metadata.num_rows
        if rows > MOST_ROWS:
            raise ValueError(f"{source.path}: must have at most {MOST_ROWS:,} rows, found {rows:,}")
        super().__init__(source.path, names)
        self._source = source

    def batches(self, names: Sequence[str]) -> Iterator[Columns]:
        """Columns as the file types them."""
        with reading(self.path), _opened(self._source) as file:
            for batch in file.iter_batches(batch_size=_ROWS, columns=list(names)):
                batch.validate(full=True)  # broken text would be found only where it is shown
                yield {name: batch.column(name) for name in names}

    def record_place(self, record: int) -> str:
        """The row's number from 1."""
        return f"row {record + 1}"


@contextmanager
def _opened(source: Source) -> Iterator[parquet.ParquetFile]:
    """The file; where its pages have checksums, as those written here do, damage is told."""
    with (
        pa.OSFile(os.fsencode(source.content), "rb") as bytes_of_file,  # of a text Arrow wants UTF-8
        parquet.ParquetFile(bytes_of_file, page_checksum_verification=True) as file,
    ):
        yield file
