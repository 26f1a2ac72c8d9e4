"""Who pays for whom: the steps each request answers for, the externality it suffers and causes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.spans import first_spans, span_steps
from serving_sim.record import Batches, Run
from serving_sim.request import FloatArray, IntArray, exact_sum


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
    return _externality_shares(_stays(run), run)


def fits_64_bits(run: Run) -> bool:
    """Whether a run is short enough for its externality to be split."""
    return run.steps * run.steps * run.slots < 2**63  # sums of products of steps


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
    return _step_shares(_stays(run))


def request_shares(run: Run) -> pd.DataFrame:
    """What each request has of Q, T and E.

    Returns
    -------
    DataFrame
        One row a request in input order: length (tokens), intrinsic (token steps), steps, suffered
        and caused (token steps). The last four sum to Q, T, E and E.

    Raises
    ------
    ValueError
        As `externality_shares`.
    """
    stays = _stays(run)
    shares = _externality_shares(stays, run)
    assert run.requests is not None
    length = run.requests.length
    return pd.DataFrame(
        {
            "length": length,
            "intrinsic": length * (length + 1) // 2,  # fits, since no request has more steps than the run
            "steps": _step_shares(stays),
            "suffered": shares.suffered,
            "caused": shares.caused,
        }
    )


@dataclass(frozen=True)
class LengthClass:
    """Requests of similar length, and their shares of Q, T and E.

    Attributes
    ----------
    shortest, longest : int
        Lengths it holds, in tokens.
    requests, tokens : int
        How many requests, and the sum of their lengths.
    intrinsic, suffered, caused : int
        In token steps.
    steps : float
        Busy steps that they answer for.
    """

    shortest: int
    longest: int
    requests: int
    tokens: int
    intrinsic: int
    steps: float
    suffered: int
    caused: int


def by_length_class(shares: pd.DataFrame, classes: int | Sequence[int] = 5) -> list[LengthClass]:
    """Sum the shares of requests of similar length.

    Parameters
    ----------
    shares : DataFrame
        Of `request_shares`, of one run or of several on top of each other.
    classes : int or sequence of int
        That many classes with about as many requests each, or the longest length of each class but
        0 for the first entry, in rising order.

    Returns
    -------
    list of LengthClass
        Those that have requests, the shortest first.
    """
    length = shares["length"]
    ends = _even_classes(length.to_numpy(), classes) if isinstance(classes, int) else [*classes]
    return [_length_class(group) for _, group in shares.groupby(pd.cut(length, ends), observed=True)]


def _even_classes(length: IntArray, classes: int) -> list[int]:
    quantiles = np.quantile(length, np.arange(1, classes + 1) / classes, method="inverted_cdf")
    return [0, *np.unique(quantiles).tolist()]


def _length_class(shares: pd.DataFrame) -> LengthClass:
    length = shares["length"]
    return LengthClass(
        shortest=int(length.min()),
        longest=int(length.max()),
        requests=len(length),
        tokens=exact_sum(length.to_numpy()),
        intrinsic=exact_sum(shares["intrinsic"].to_numpy()),
        steps=float(shares["steps"].sum()),
        suffered=exact_sum(shares["suffered"].to_numpy()),
        caused=exact_sum(shares["caused"].to_numpy()),
    )


@dataclass(frozen=True, eq=False)
class _Stays:
    """Where the requests of a run stand among its k spans of constant batch.

    Attributes
    ----------
    ends : ndarray of int, shape (k + 1,)
        Busy steps before each span and after the last.
    first, last : ndarray of int, shape (n,)
        Of each request its first span and the one after its last.
    """

    spans: Batches
    ends: IntArray
    first: IntArray
    last: IntArray


def _stays(run: Run) -> _Stays:
    if run.batches is None or run.requests is None:
        raise ValueError("batches: shares of the cost need record_batches=True and no sink")
    ends = span_steps(run.batches)
    first = first_spans(run)
    last = np.searchsorted(ends, ends[first] + run.requests.length)  # every end of a request ends a span
    return _Stays(run.batches, ends, first, last)


def _externality_shares(stays: _Stays, run: Run) -> Shares:
    if not fits_64_bits(run):
        raise ValueError(f"steps={run.steps}: too many to split the externality in 64 bits")
    spans, ends, first, last = stays.spans, stays.ends, stays.first, stays.last
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
    return Shares(suffered, _sum_while_leading(stays, ahead))


def _sum_while_leading(stays: _Stays, values: IntArray) -> IntArray:
    """For each request the sum of ``values`` over the spans in which it has the longest cache."""
    order = np.argsort(stays.first, kind="stable")
    # the first admitted that still runs leads: each from where all before it have left to its own end
    until = np.maximum.accumulate(stays.last[order])
    sums = np.concatenate(([0], np.cumsum(values)))[until]
    led = np.empty_like(values, shape=len(order))
    led[order] = np.diff(sums, prepend=0)
    return led


def _step_shares(stays: _Stays) -> FloatArray:
    spans = stays.spans
    per_request = np.concatenate(([0.0], np.cumsum(spans.steps / spans.active)))
    shares: FloatArray = per_request[stays.last] - per_request[stays.first]
    return shares
