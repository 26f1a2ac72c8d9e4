"""What a policy does with each burst of arrivals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.latency import served_requests
from analysis.levels import present
from serving_sim import Run, Served
from serving_sim.request import FloatArray, IntArray


@dataclass(frozen=True)
class BurstOutcome:
    """How the requests of one burst fared.

    Attributes
    ----------
    first, last : float
        Release of its first and last request, in time units.
    requests : int
        How many came.
    most_waiting : int
        Largest number that waited at once, among all requests there were.
    drained : float
        Time units from the last release until all had finished.
    mean_latency : float
        Mean of finish - release in time units.
    idle_while_waiting : float
        Share of the slots' time, from the first release to the last finish, in which a slot was free
        and a request waited for it: what the policy held back, for fairness or by design.
    """

    first: float
    last: float
    requests: int
    most_waiting: int
    drained: float
    mean_latency: float
    idle_while_waiting: float


def find_bursts(release: FloatArray, quiet: float) -> list[IntArray]:
    """Rows of each burst: requests with no gap longer than ``quiet`` between them.

    Parameters
    ----------
    release : ndarray of float, shape (n,)
        Sorted release times in time units.
    quiet : float
        Longest silence within a burst, in time units.
    """
    cuts = np.flatnonzero(np.diff(release) > quiet) + 1
    return np.split(np.arange(len(release), dtype=np.int64), cuts)


def burst_outcomes(run: Run, quiet: float) -> list[BurstOutcome]:
    """What became of each burst, in order of time.

    Raises
    ------
    ValueError
        If the requests of the run went to a sink, or its releases are not sorted.
    """
    served = served_requests(run)
    if served.requests.arrival_order is not None:
        raise ValueError("release: must be sorted, so that bursts are rows that follow each other")
    instants, waiting, active = presence(served)
    held = np.minimum(waiting, run.slots - active) / run.slots
    bursts = find_bursts(served.requests.release, quiet)
    return [_outcome(served, rows, instants, waiting, held) for rows in bursts]


def presence(served: Served) -> tuple[FloatArray, IntArray, IntArray]:
    """When the numbers of waiting and active requests change, and what they are from then on.

    Returns
    -------
    instants : ndarray of float, shape (m,)
        In time units, growing.
    waiting, active : ndarray of int, shape (m,)
        Requests from each instant to the next.
    """
    instants = np.unique(np.concatenate([served.requests.release, served.start, served.finish]))
    return instants, *present(served, instants)


def _outcome(
    served: Served, rows: IntArray, instants: FloatArray, waiting: IntArray, held: FloatArray
) -> BurstOutcome:
    release, finish = served.requests.release[rows], served.finish[rows]
    end = float(finish.max())
    span = slice(*np.searchsorted(instants, [release[0], end]))
    lasting = np.diff(np.append(instants[span], end))
    return BurstOutcome(
        first=float(release[0]),
        last=float(release[-1]),
        requests=len(rows),
        most_waiting=int(waiting[span].max()),
        drained=end - float(release[-1]),
        mean_latency=float(np.mean(finish - release)),
        idle_while_waiting=float(held[span] @ lasting / (end - release[0])),
    )
