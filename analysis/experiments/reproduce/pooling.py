"""Pooling: the more requests wait, the fewer find no batch of their own length (Yao and Zhou, section 7)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
import pandas as pd

from analysis.experiments.reproduce.experiment import Experiment, Item, Results, Settings
from analysis.experiments.reproduce.task import Rows, Task
from analysis.plots.pool import unmatched_fractions
from analysis.replications import interval
from analysis.report import Picture, Section
from analysis.tables import Table
from analysis.text import number, with_interval
from serving_sim.request import IntArray
from workloads import parse_lengths

_LENGTHS = {"uniform:low=1,high=1000": 1000, "lmsys-like": 905}
"""Distributions and the longest length each can draw."""
_POOLS = (16, 32, 64, 128, 256, 512, 1024, 4096, 16384, 65536)
_SLOTS, _ALPHA = 16, 100

_MEASURES = (
    (
        "If many requests wait, batches can be made of requests of nearly equal length. The paper cuts the "
        "lengths into K intervals of alpha tokens and forms full batches of B requests within each; at most "
        "B - 1 are left over in an interval, so at most K (B - 1) of N waiting requests stay unmatched. "
        f"Measured is the fraction that does, with B = {_SLOTS} and alpha = {_ALPHA} tokens, beside the "
        "bound K (B - 1) / N."
    ),
)


def tasks(settings: Settings) -> list[Task]:
    """One task a distribution of lengths."""
    return [
        Task(
            f"pooling/{lengths.partition(':')[0]}",
            match,
            {
                "seed": settings.seed,
                "lengths": lengths,
                "longest": longest,
                "pools": _POOLS,
                "slots": _SLOTS,
                "alpha": _ALPHA,
                "replications": 4 * settings.replications,
            },
        )
        for lengths, longest in _LENGTHS.items()
    ]


def match(
    *, seed: int, lengths: str, longest: int, pools: Sequence[int], slots: int, alpha: int, replications: int
) -> Rows:
    """Fractions left over in random pools, one row a pool and replication."""
    distribution = parse_lengths(lengths)
    intervals = -(-longest // alpha)
    rows: Rows = []
    for place, stream in enumerate(np.random.SeedSequence(seed).spawn(replications)):
        drawn = distribution.sample(max(pools), np.random.default_rng(stream))
        rows += [
            {
                "lengths": lengths,
                "pool": pool,
                "replication": place,
                "unmatched": unmatched(drawn[:pool], slots, alpha) / pool,
                "bound": min(1.0, intervals * (slots - 1) / pool),
            }
            for pool in pools
        ]
    return rows


def unmatched(lengths: IntArray, slots: int, alpha: int) -> int:
    """Requests left over when full batches are formed within intervals ``(k alpha, (k + 1) alpha]``."""
    return int((np.bincount((lengths - 1) // alpha) % slots).sum())


def item(results: Results) -> Item:
    """Fractions with their intervals beside the bound."""
    rows = pd.DataFrame(list(chain.from_iterable(results.values())))
    records, cells = [], []
    for (lengths, pool), group in rows.groupby(["lengths", "pool"], sort=False):
        estimate = interval(group["unmatched"].tolist())
        bound = float(group["bound"].iloc[0])
        records.append(
            {
                "lengths": lengths,
                "pool": pool,
                "measured": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "most": float(group["unmatched"].max()),
                "bound": bound,
            }
        )
        cells.append((str(lengths), f"{pool:,}", with_interval(estimate), number(bound)))
    frame = pd.DataFrame(records)
    measured = {
        str(lengths): (group["pool"].tolist(), group["measured"].tolist())
        for lengths, group in frame.groupby("lengths", sort=False)
    }
    bound_line = dict(zip(frame["pool"], frame["bound"], strict=True))  # both need ten intervals
    picture = Picture(
        "pooling",
        "Unmatched fraction against the size of the pool",
        "Lines with points are measured, the thin line is the bound; both fall as 1 / N.",
        unmatched_fractions(measured, (list(bound_line), list(bound_line.values()))),
    )
    broken = int((frame["most"] > frame["bound"]).sum())
    large = frame[frame["bound"] < 1]
    found = [
        f"The bound was exceeded {broken} times in {len(rows)} pools.",
        (
            "Where the bound says anything (below 1), the measured fraction is about "
            f"{100 * (large['measured'] / large['bound']).mean():.0f} % of it: on average half of B - 1 are "
            "left over in an interval, not all."
        ),
    ]
    table = Table(
        "unmatched fraction ± half of a 95 % interval", ("lengths", "pool N", "measured", "bound"), cells
    )
    return Item(
        Section("pooling", EXPERIMENT.title, _MEASURES, found, [table], [picture]), {"pooling": frame}
    )


EXPERIMENT = Experiment("pooling", "Section 7: unmatched requests against the size of the pool", tasks, item)
