"""Who pays for whom: the externality that each request suffers and causes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from serving_sim.record import Batches, Run
from serving_sim.request import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Shares:
    """The batching externality E split by request; both columns sum to E.

    Attributes
    ----------
    suffered : ndarray of int, shape (n,)
        Tokens that the longest cache of the batch was ahead, summed over the request's steps.
    caused : ndarray of int, shape (n,)
        What all others suffered while the request had the longest cache. Of several as long, the
        one of the lowest row counts.
    """

    suffered: IntArray
    caused: IntArray


def externality_shares(run: Run) -> Shares:
    """Split E of a run that recorded its batches.

    Complexity: O(n log n) for n requests.

    Raises
    ------
    ValueError
        If the run kept no batches or no requests, or is too long to be split in 64 bits.
    """
    spans = _recorded(run)
    if run.steps * run.steps * run.slots >= 2**63:  # sums of products of steps would not fit
        raise ValueError(f"steps={run.steps}: too many to split the externality in 64 bits")
    ends, first, last = _stays(run, spans)
    length = ends[last] - ends[first]
    oldest = ends[:-1] - spans.max_progress
    admitted = ends[first]
    # over a span the oldest request is ahead of the others by their admission steps less its own
    before = np.concatenate(([0], np.cumsum(spans.steps * oldest)))
    suffered = admitted * length - (before[last] - before[first])
    born = np.zeros(len(ends), dtype=np.int64)
    np.add.at(born, first, admitted)
    np.add.at(born, last, -admitted)
    ahead = spans.steps * (np.cumsum(born)[:-1] - spans.active * oldest)
    caused = np.zeros(len(length), dtype=np.int64)
    np.add.at(caused, _leaders(first, last, len(spans.steps)), ahead)
    return Shares(suffered, caused)


def step_shares(run: Run) -> FloatArray:
    """Busy steps that each request answers for: every step divided evenly among its batch.

    Returns
    -------
    ndarray of float, shape (n,)
        In input order; the sum is T.

    Raises
    ------
    ValueError
        If the run kept no batches or no requests.
    """
    spans = _recorded(run)
    _, first, last = _stays(run, spans)
    per_request = np.concatenate(([0.0], np.cumsum(spans.steps / spans.active)))
    shares: FloatArray = per_request[last] - per_request[first]
    return shares


def by_length_class(run: Run, shares: Shares, classes: int = 5) -> pd.DataFrame:
    """Externality suffered and caused, by classes of length with about as many requests each.

    Returns
    -------
    DataFrame
        One row a class: shortest, longest (tokens), requests, suffered, caused (token steps).
    """
    assert run.requests is not None
    frame = pd.DataFrame(
        {"length": run.requests.length, "suffered": shares.suffered, "caused": shares.caused}
    )
    groups = frame.groupby(pd.qcut(frame["length"], classes, duplicates="drop"), observed=True)
    return groups.agg(
        shortest=("length", "min"),
        longest=("length", "max"),
        requests=("length", "size"),
        suffered=("suffered", "sum"),
        caused=("caused", "sum"),
    ).reset_index(drop=True)


def _recorded(run: Run) -> Batches:
    if run.batches is None or run.requests is None:
        raise ValueError("batches: shares of the cost need record_batches=True and no sink")
    return run.batches


def _stays(run: Run, spans: Batches) -> tuple[IntArray, IntArray, IntArray]:
    """Busy steps before each span and after the last; of each request its first span and the one after."""
    assert run.requests is not None
    ends = np.concatenate(([0], np.cumsum(spans.steps)))
    first = np.searchsorted(spans.time, run.start, side="right") - 1
    last = np.searchsorted(ends, ends[first] + run.requests.length)  # every end of a request ends a span
    return ends, first, last


def _leaders(first: IntArray, last: IntArray, spans: int) -> IntArray:
    """For each span the request with the longest cache: the first admitted that still runs."""
    order = np.argsort(first, kind="stable")
    leaders = np.empty(spans, dtype=np.int64)
    place = 0
    for span in range(spans):
        while last[order[place]] <= span:
            place += 1
        leaders[span] = order[place]
    return leaders
