"""How fast a log is read, held against `pandas.read_csv` on the same file, and in how much memory.

    python benchmarks/reading.py
    python benchmarks/reading.py --rows 10000000 --repeat 1

A file with the columns of the Azure traces and random content. pandas only splits it and reads the two
counts of tokens; here stamps become nanoseconds, every value is checked, and the requests become a
workload. What is asked is a third of the rows a second of pandas at least.
Memory is the most that Python, numpy and Arrow held while the log was read, in copies of the workload's
columns: reading goes block by block, so that this does not grow with the file.
Seconds are those of the processor, the least of several runs, so that other work on the machine counts
little. Exit code 1 if a limit is passed.
"""

from __future__ import annotations

import argparse
import tempfile
import tracemalloc
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv

from serving_sim import Workload
from workloads import read_requests

LEAST_OVER_PANDAS = 1 / 3
MOST_COPIES = 3.5
"""The blocks as they come in, the columns made of them, and what the parser holds for any file."""

_AT_ONCE = 1_000_000  # rows written at a time
_START = np.datetime64("2024-05-10T00:00:00", "ns")


def main() -> int:
    """Print both speeds, the ratio and the memory."""
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "azure.csv"
        write_log(path, options.rows)
        print(f"{options.rows:,} rows, {path.stat().st_size / 1e6:,.0f} MB")
        copies = _copies(path)  # first, as Arrow remembers the most it ever held
        ours = _fastest(lambda: read(path), options.repeat)
        theirs = _fastest(lambda: pd.read_csv(path), options.repeat)
    ratio = theirs / ours
    print(f"read_requests:   {options.rows / ours:12,.0f} rows/s")
    print(f"pandas.read_csv: {options.rows / theirs:12,.0f} rows/s")
    print(f"read_requests / pandas.read_csv = {ratio:.2f}, at least {LEAST_OVER_PANDAS:.2f}")
    print(f"memory: {copies:.1f} copies of the columns, at most {MOST_COPIES:g}")
    return int(ratio < LEAST_OVER_PANDAS or copies > MOST_COPIES)


def read(path: Path) -> Workload:
    """The requests in a log."""
    return read_requests(path, "azure", time_unit=0.02)[0]


def write_log(path: Path, rows: int) -> None:
    """Write a log with the columns of the Azure traces, 200 requests a second on average."""
    rng = np.random.default_rng(0)
    stamp = _START
    with path.open("wb") as file:
        file.write(b"TIMESTAMP,ContextTokens,GeneratedTokens\n")
        for begin in range(0, rows, _AT_ONCE):
            count = min(_AT_ONCE, rows - begin)
            gaps = rng.exponential(5_000_000, count).astype("timedelta64[ns]")
            stamps = stamp + np.cumsum(gaps)
            stamp = stamps[-1]
            table = pa.table(
                {
                    "TIMESTAMP": pa.array(stamps).cast(pa.timestamp("us"), safe=False).cast(pa.string()),
                    "ContextTokens": rng.integers(1, 8000, count),
                    "GeneratedTokens": rng.integers(1, 1000, count),
                }
            )
            csv.write_csv(table, file, csv.WriteOptions(include_header=False, quoting_style="none"))


def _fastest(work: Callable[[], object], repeat: int) -> float:
    def timed() -> float:
        begun = process_time()
        work()
        return process_time() - begun

    return min(timed() for _ in range(repeat))


def _copies(path: Path) -> float:
    """Memory that reading takes at most, in copies of the columns of the workload."""
    tracemalloc.start()
    workload = read(path)
    _, numpy_peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    arrow_peak = pa.default_memory_pool().max_memory()
    columns = (getattr(workload, field.name) for field in fields(Workload))
    size: int = sum(column.nbytes for column in columns if column is not None)
    return float(numpy_peak + arrow_peak) / size


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
