"""From the load of a worker to the rate of arrivals."""

from __future__ import annotations

import math

from workloads.parameters import check_positive


def rate_for_load(load: float, *, slots: int, mean_length: float, step_duration: float = 1.0) -> float:
    """Requests per time unit that keep the given fraction of the slots busy.

    Parameters
    ----------
    load : float
        Fraction of the slots, > 0; from 1 on the queue grows without bound.
    slots : int
        Requests served at once.
    mean_length : float
        Mean length in tokens.
    step_duration : float
        Time units a step takes, whatever the batch.

    Raises
    ------
    ValueError
        If an argument, or the rate, is not a finite number above 0.
    """
    for name, value in (("load", load), ("slots", slots), ("mean_length", mean_length)):
        check_positive(name, value)
    check_positive("step_duration", step_duration)
    rate = load * slots / (mean_length * step_duration)
    if not 0 < rate < math.inf:
        raise ValueError(f"load={load!r}: gives a rate of {rate:g}, must be a finite number > 0")
    return rate
