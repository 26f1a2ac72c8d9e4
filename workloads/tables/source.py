"""Files, and where their bytes lie once a compression is undone."""

from __future__ import annotations

import os
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from workloads.own_inputs import note_input
from workloads.regular_file import RULE, may_not_end
from workloads.tables.table import reading

_CODECS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}  # by how their files begin
_BLOCK = 1 << 22

MOST_UNPACKED = 1 << 30
"""Bytes that a compressed file may hold, whatever its own size."""

MOST_TIMES = 100
"""How many times its own size it may hold beyond that; texts of logs shrink to a tenth."""


@dataclass(frozen=True)
class Source:
    """A file to read.

    Attributes
    ----------
    path : Path
        What the user calls it, as messages do.
    content : Path
        Where its bytes lie, without compression.
    suffix : str
        The end of its name that tells its kind, in lower case: ``.csv`` for ``log.CSV.gz``.
    """

    path: Path
    content: Path
    suffix: str


def unpacked(path: Path) -> Source:
    """A file ready to read; gzip and zstd are told by the first bytes.

    What was compressed lies in a temporary file for as long as the source is in use, so that it can be
    read several times and in any order, whatever its size; up to a limit, as a small file can unpack to
    one that fills the disk.

    Raises
    ------
    ValueError
        If the file is missing, empty, a folder, a pipe, not readable, or its compressed data are broken
        or beyond the limit.
    OwnInputError
        If the command is about to write the file.
    """
    if may_not_end(path):
        raise ValueError(f"{path}: {RULE}")
    note_input(path)
    with reading(path), path.open("rb") as file:
        start = file.read(4)
    codec = next((name for magic, name in _CODECS.items() if start.startswith(magic)), None)
    if codec is None:
        source = Source(path, path, path.suffix.lower())
    else:
        source = _temporary(path)
        with (
            reading(path),
            path.open("rb") as file,  # Arrow takes a path with a colon in it for an address
            pa.input_stream(file, compression=codec) as packed,
            source.content.open("wb") as content,
        ):
            _unpack(path, packed, content)
    if not source.content.stat().st_size:
        raise ValueError(f"{path}: must not be empty")
    return source


def _unpack(path: Path, packed: pa.NativeFile, content: BinaryIO) -> None:
    """Copy what a compressed file holds, unless it was made to fill the disk."""
    most = max(MOST_UNPACKED, MOST_TIMES * path.stat().st_size)
    done = 0
    while block := packed.read(_BLOCK):
        done += len(block)
        if done > most:
            raise ValueError(f"{path}: must hold at most {most:,} bytes once it is unpacked")
        content.write(block)


def _temporary(path: Path) -> Source:
    handle, name = tempfile.mkstemp(prefix="serving-sim-")
    os.close(handle)
    source = Source(path, Path(name), Path(path.stem).suffix.lower())
    weakref.finalize(source, source.content.unlink)
    return source
