"""The clients in a folder of ServeGen, and the windows of time in which they send requests."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workloads.servegen.token_tables import TokenTable, read_token_tables
from workloads.tables import Batch, Intake, open_table

PATTERNS = ("Gamma", "Weibull")
"""Distributions of the gaps, each with a shape."""

_COLUMNS = ("time", "rate", "cv", "pattern", "shape", "scale")
_MOST = 10**9  # requests in a window; more would only fill the memory
_ONLY_WINDOW = 600  # seconds of a window that no other follows


@dataclass(frozen=True)
class Window:
    """A stretch of time in which a client sends requests at one pace.

    Attributes
    ----------
    begin, end : int
        Seconds.
    rate : float
        Requests a second.
    pattern : str
        Distribution of the gaps, ``Gamma`` or ``Weibull``.
    shape : float
        Its shape; 1 is exponential, below 1 burstier.
    prompt, output : TokenTable
        How long requests are.
    """

    begin: int
    end: int
    rate: float
    pattern: str
    shape: float
    prompt: TokenTable
    output: TokenTable


@dataclass(frozen=True)
class ServeGenClient:
    """A client with the windows in which it sends requests, in order of time.

    Attributes
    ----------
    number : int
        The N in the names of its files.
    windows : tuple of Window
        Those in which it is idle left out.
    """

    number: int
    windows: tuple[Window, ...]


def read_servegen(folder: str | Path) -> list[ServeGenClient]:
    """All clients in a folder, by number.

    Raises
    ------
    ValueError
        If there is none, or a file is missing or refused: file, line, column, value, rule.
    """
    folder = Path(folder)
    numbers = sorted(_numbers(folder))
    if not numbers:
        raise ValueError(f"{folder}: must hold files of clients, chunk-N-trace.csv, found none")
    return [ServeGenClient(number, tuple(_windows(folder, number))) for number in numbers]


def _numbers(folder: Path) -> Iterator[int]:
    for path in folder.glob("chunk-*-trace.csv"):
        number = path.name.removeprefix("chunk-").removesuffix("-trace.csv")
        if not (number.isascii() and number.isdecimal()):
            raise ValueError(f"{path}: must be named after the number of a client")
        yield int(number)


def _windows(folder: Path, number: int) -> Iterator[Window]:
    path = folder / f"chunk-{number}-trace.csv"
    tables = read_token_tables(folder / f"chunk-{number}-dataset.json")
    rows = _rows(path)
    begins = rows["time"].tolist()
    last = begins[-1] - begins[-2] if len(begins) > 1 else _ONLY_WINDOW
    ends = [*begins[1:], begins[-1] + last]
    columns = (rows[name].tolist() for name in ("rate", "pattern", "shape"))
    changes = list(tables)  # the seconds from which each holds
    for begin, end, rate, pattern, shape in zip(begins, ends, *columns, strict=True):
        if rate == 0:
            continue
        if rate * (end - begin) > _MOST:
            raise ValueError(
                f"{path}: time={begin}: must send at most 10**9 requests until {end}, not {rate!r}/s"
            )
        place = bisect_right(changes, begin)
        if not place:
            raise ValueError(f"{path}: time={begin}: must have tables of tokens, as requests come")
        lengths = tables[changes[place - 1]]
        yield Window(begin, end, rate, pattern, shape, lengths["input_tokens"], lengths["output_tokens"])


def _rows(path: Path) -> Mapping[str, NDArray[Any]]:
    intake = Intake([open_table(path, _COLUMNS)])
    latest = -1

    def check(batch: Batch) -> dict[str, NDArray[Any]]:
        nonlocal latest
        time = batch.whole("time", least=0)
        before = np.concatenate([[latest], time[:-1]])
        batch.refuse("time", time <= before, "must be later than in the row before")
        latest = int(time[-1])
        return {"time": time, **_pace(batch)}

    return intake.columns(intake.names(_COLUMNS, ()), check)


def _pace(batch: Batch) -> dict[str, NDArray[Any]]:
    """Rate, pattern and shape; a row without a pattern is an idle window."""
    rate, pattern, shape = batch.real("rate"), batch.label("pattern"), batch.real("shape")
    idle = pattern == ""
    batch.refuse("rate", (rate < 0) | (idle & (rate > 0)), "must be >= 0, and 0 without a pattern")
    batch.refuse("pattern", ~idle & ~np.isin(pattern, PATTERNS), f"must be {' or '.join(PATTERNS)}")
    batch.refuse("shape", ~idle & (shape <= 0), "must be > 0")
    return {"rate": rate, "pattern": pattern, "shape": shape}
