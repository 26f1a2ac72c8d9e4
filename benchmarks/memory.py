"""How much memory long runs take: records kept, and records streamed to a file.

    python benchmarks/memory.py
    python benchmarks/memory.py --streamed 1000000

The workload of ``engine.py`` on 32 slots, 10^7 requests unless said otherwise, each run in a process of its
own. Kept: in one `Workload`, at load 0.9; at most 1.5 GB. Streamed: made block by block and written to a
Parquet file; at most 300 MB however many they are. The compiled engine serves both where numba is installed.
A block leaves memory once all its requests have finished, so a policy under which some wait for ever keeps
them all: isjl streams at load 0.5, where its queue stays short at alpha 100.

Peaks are those of the whole process with Python and all libraries, as the system tells them. Exit code 1 if a
limit is passed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from engine import MEAN_LENGTH, SLOTS, workload

from analysis.output import RequestFile
from policies import make_policy
from serving_sim import Policy, Workload, simulate

MOST_KEPT = 1_500
MOST_STREAMED = 300
"""Megabytes."""
BLOCK = 16_384
ALPHA = 100


class Stream:
    """Poisson arrivals and geometric lengths, made when they are asked for."""

    def __init__(self, count: int, load: float) -> None:
        self._count = count
        self._gap = MEAN_LENGTH / (SLOTS[0] * load)

    def blocks(self) -> Iterator[Workload]:
        """Blocks of equal length, and the rest."""
        lengths, gaps = map(np.random.default_rng, np.random.SeedSequence(0).spawn(2))
        last = 0.0
        for first in range(0, self._count, BLOCK):
            rows = min(BLOCK, self._count - first)
            release = last + np.cumsum(gaps.exponential(self._gap, rows))
            last = float(release[-1])
            yield Workload(release, lengths.geometric(1 / MEAN_LENGTH, rows))


class Job(NamedTuple):
    """What a process of its own is asked to serve."""

    policy: str
    load: float
    requests: int


def main() -> int:
    """Print the table."""
    options = _options()
    print("| records | policy | load | requests | engine | peak, MB | at most |")
    print("| --- | --- | ---: | ---: | --- | ---: | ---: |")
    within = [
        *(_report(keep, Job(policy, 0.9, options.kept), MOST_KEPT) for policy in ("fcfs", "isjl")),
        _report(stream, Job("fcfs", 0.9, options.streamed), MOST_STREAMED),
        _report(stream, Job("isjl", 0.5, options.streamed), MOST_STREAMED),
    ]
    return int(not all(within))


def keep(job: Job) -> tuple[str, float]:
    """The engine, and the peak in MB of a process that keeps all records."""
    run = simulate(workload(job.requests, job.load), _policy(job.policy), slots=SLOTS[0])
    return run.engine, _peak()


def stream(job: Job) -> tuple[str, float]:
    """The engine, and the peak in MB of a process that writes records to a file."""
    with tempfile.TemporaryDirectory() as folder, RequestFile(Path(folder) / "requests.parquet") as sink:
        run = simulate(Stream(job.requests, job.load), _policy(job.policy), slots=SLOTS[0], sink=sink)
    return run.engine, _peak()


def _report(work: Callable[[Job], tuple[str, float]], job: Job, most: int) -> bool:
    # a spawned process starts without what others have allocated
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as fresh:
        engine, peak = fresh.submit(work, job).result()
    records = "kept" if work is keep else "streamed"
    print(
        f"| {records} | {job.policy} | {job.load:g} | {job.requests:,} | {engine} | {peak:.0f} | {most:,} |",
        flush=True,
    )
    return peak <= most


def _policy(name: str) -> Policy:
    return make_policy(name, alpha=ALPHA) if name == "isjl" else make_policy(name)


def _peak() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kept", type=int, default=10_000_000)
    parser.add_argument("--streamed", type=int, default=10_000_000)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
