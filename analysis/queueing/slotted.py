"""First come, first served, in slotted time: exact for three kinds of systems."""

from __future__ import annotations

from analysis.queueing.equal_lengths import equal_lengths
from analysis.queueing.latency import SlottedLatency
from analysis.queueing.lengths import length_probabilities
from analysis.queueing.memoryless_lengths import memoryless_lengths
from analysis.queueing.one_slot import one_slot
from workloads.lengths import Fixed, Geometric, Lengths


def slotted_fcfs(slots: int, lengths: Lengths, rate: float) -> SlottedLatency:
    """Waits and latencies under Poisson arrivals; steps take one time unit.

    Parameters
    ----------
    slots : int
        Most requests in a batch (B).
    lengths : Lengths
        Fixed or geometric; on one slot uniform and lognormal as well.
    rate : float
        Requests per step.

    Raises
    ------
    ValueError
        If the load is not below 1 or no exact solution is known.
    """
    load = rate * lengths.mean / slots
    if not load < 1:
        raise ValueError(f"rate={rate!r}: the load must be below 1, found {load!r}")
    probabilities = length_probabilities(lengths)
    if slots == 1:
        return SlottedLatency(one_slot(probabilities, rate), probabilities)
    if isinstance(lengths, Fixed):
        return SlottedLatency(equal_lengths(slots, lengths.length, rate), probabilities)
    if isinstance(lengths, Geometric):
        return SlottedLatency(memoryless_lengths(slots, 1 / lengths.mean, rate), probabilities)
    raise ValueError(f"lengths={lengths!r}: on several slots they must be fixed or geometric")
