"""Files of a run: complete or absent, and the same bytes for the same run."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.frames import batch_frame, request_frame
from analysis.json_text import to_json
from analysis.latency import served_requests
from analysis.run_files import BATCHES, REQUESTS, SUMMARY
from serving_sim import Batches, Run, Served
from workloads.whole_file import replacing


def write_text(path: Path, text: str) -> None:
    """Write ``text`` to ``path`` in UTF-8."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, content: Mapping[str, object]) -> None:
    """Write ``content`` to ``path``."""
    write_text(path, to_json(content))


def write_frame(path: Path, frame: pd.DataFrame) -> None:
    """Write ``frame`` to ``path``, as CSV or Parquet by its suffix."""
    with _FrameFile(path) as file:
        file.append(frame)


def write_batches(path: Path, batches: Batches) -> None:
    """Write the spans of constant batch to ``path``."""
    write_frame(path, batch_frame(batches))


def write_run(
    folder: Path, run: Run, summary: Mapping[str, object], *, csv: bool = False, batches: bool = True
) -> list[Path]:
    """Write the files of a run: requests, batches where they were recorded, and the summary last.

    Parameters
    ----------
    folder : Path
        Made where it does not exist.
    run : Run
        A run that kept its requests.
    summary : mapping
        Content of ``summary.json``.
    csv : bool
        CSV rather than Parquet.
    batches : bool
        Whether to write the batches, where the run recorded them.

    Returns
    -------
    list of Path
        The files.
    """
    suffix = ".csv" if csv else ".parquet"
    written = [folder / (REQUESTS + suffix)]
    with RequestFile(written[0]) as file:
        file.write(served_requests(run))
    if batches and run.batches is not None:
        written.append(folder / (BATCHES + suffix))
        write_batches(written[-1], run.batches)
    write_json(folder / SUMMARY, summary)
    return [*written, folder / SUMMARY]


class RequestFile:
    """Requests file that grows block by block: a `serving_sim.Sink` for streams beyond memory.

    Parameters
    ----------
    path : Path
        Final name; the suffix ``.csv`` or ``.parquet`` picks the format.

    Raises
    ------
    ValueError
        If the suffix is another.

    Notes
    -----
    The file appears when the ``with`` block ends well and not at all otherwise.
    """

    def __init__(self, path: Path) -> None:
        self._file = _FrameFile(path)
        self._rows = 0

    def write(self, served: Served) -> None:
        """Append one block of finished requests."""
        self._file.append(request_frame(served, self._rows))
        self._rows += len(served.requests)

    def __enter__(self) -> Self:
        self._file.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.__exit__(kind, error, trace)


class _FrameFile:
    """CSV or Parquet file made of frames with the same columns."""

    def __init__(self, path: Path) -> None:
        if path.suffix not in (".csv", ".parquet"):
            raise ValueError(f"path={str(path)!r}: the name must end in .csv or .parquet")
        self._path = path
        self._closing = contextlib.ExitStack()
        self._parquet: pq.ParquetWriter | None = None
        self._csv_started = False

    def append(self, frame: pd.DataFrame) -> None:
        if self._path.suffix == ".csv":
            frame.to_csv(self._text, index=False, header=not self._csv_started, lineterminator="\n")
            self._csv_started = True
            return
        # threads of Arrow would keep memory for themselves, and dictionaries of values that hardly repeat
        # take more of it, and of the file, than they save
        table = pa.Table.from_pandas(frame, preserve_index=False, nthreads=1)
        if self._parquet is None:
            # Arrow takes a path with a colon in it for an address, and a text for one in UTF-8
            file = self._closing.enter_context(pa.OSFile(os.fsencode(self._temporary), "wb"))
            writer = pq.ParquetWriter(file, table.schema, compression="zstd", use_dictionary=False)
            self._parquet = self._closing.enter_context(writer)
        self._parquet.write_table(table)

    def __enter__(self) -> Self:
        self._temporary = self._closing.enter_context(replacing(self._path))
        if self._path.suffix == ".csv":
            opened = self._temporary.open("w", encoding="utf-8", newline="")
            self._text = self._closing.enter_context(opened)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.__exit__(kind, error, trace)
