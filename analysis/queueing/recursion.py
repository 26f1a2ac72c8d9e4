"""When requests start in a queue without steps."""

from __future__ import annotations

from heapq import heapreplace

import numpy as np

from serving_sim import Workload
from serving_sim.request import FloatArray


def continuous_starts(workload: Workload, servers: int) -> FloatArray:
    """Start of each request in G/G/c, first come first served, in input order and time units.

    The next request goes to the server that is free first: ``start = max(release, earliest)``, and
    that server is busy until ``start + length`` (Kiefer and Wolfowitz 1955, "On the theory of queues
    with many servers", equation 1.1, kept as instants and not as work left).

    Parameters
    ----------
    workload : Workload
        Requests in the order of arrival.
    servers : int
        c, >= 1.

    Raises
    ------
    ValueError
        If releases do not rise.
    """
    if workload.arrival_order is not None:
        raise ValueError("workload: releases must rise")
    free = [0.0] * servers
    starts = []
    for release, length in zip(workload.release.tolist(), workload.length.tolist(), strict=True):
        start = max(release, free[0])
        heapreplace(free, start + length)
        starts.append(start)
    return np.array(starts)
