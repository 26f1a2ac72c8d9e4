"""Text files: the encoding."""

from __future__ import annotations

import codecs

from workloads.tables.source import Source
from workloads.tables.table import reading

_BLOCK = 1 << 22


def check_encoding(source: Source) -> None:
    """Refuse a file that is not UTF-8, and say where.

    Raises
    ------
    ValueError
        With the line and the first byte that cannot be UTF-8.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    done = 0
    with reading(source.path), source.content.open("rb") as file:
        more = True
        while more:
            pending = decoder.getstate()[0]  # the start of a character that the last block cut in two
            block = file.read(_BLOCK)
            more = bool(block)
            try:
                decoder.decode(block, final=not more)
            except UnicodeDecodeError as error:
                file.seek(0)
                before = file.read(done - len(pending) + error.start)
                byte = (pending + block)[error.start]
                line = before.count(b"\n") + 1
                raise ValueError(
                    f"{source.path}: line {line}: byte=0x{byte:02x}: must be UTF-8 text"
                ) from None
            done += len(block)
