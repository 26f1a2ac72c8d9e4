"""Users who send the next request when they have read the answer to the last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from serving_sim import ReactiveSource, Workload
from serving_sim.arguments import check_kind, is_finite
from serving_sim.arrivals import Desk
from serving_sim.columns import instants
from serving_sim.request import FloatArray
from serving_sim.source import Process
from workloads.generate import Stream, stream
from workloads.parameters import check_count


@dataclass(frozen=True, eq=False)
class ClosedLoop(ReactiveSource):
    """A fixed number of users, each of whom thinks, sends a request, waits for the answer, and again.

    So no more requests than users are ever in the system, and the faster the answers, the more
    requests: over a long run the rate is ``users / (mean latency + mean think time)`` (the response
    time law, Denning and Buzen 1978, "The operational analysis of queueing network models").
    Whoever begins to think takes the next row of the workload, until none is left.

    Parameters
    ----------
    workload : Workload
        n requests, in the order in which users take them; their releases do not count.
    users : int
        How many there are, >= 1.
    thinking : array_like of float, shape (n,)
        Time units of thought before each request, >= 0.

    Raises
    ------
    TypeError
        If the workload is none.
    ValueError
        If a value breaks a rule.
    """

    workload: Workload
    users: int
    thinking: FloatArray

    def __init__(self, workload: Workload, users: int, thinking: ArrayLike) -> None:
        check_kind("workload", workload, Workload, "a Workload")
        check_count("users", users)
        times = instants("thinking", thinking)
        if len(times) != len(workload):
            raise ValueError(f"thinking: must hold {len(workload)} numbers, one a request")
        times.flags.writeable = False
        object.__setattr__(self, "workload", workload)
        object.__setattr__(self, "users", users)
        object.__setattr__(self, "thinking", times)

    def process(self, desk: Desk) -> Process:
        rows = iter(range(len(self.workload)))
        for _ in range(min(self.users, len(self.workload))):
            desk.spawn(self._user(desk, rows))
        yield desk.at(desk.now)

    def _user(self, desk: Desk, rows: Iterator[int]) -> Process:
        for row in rows:
            yield desk.at(desk.now + float(self.thinking[row]))
            yield desk.finished(desk.release(**self.workload.row(row)))


def think_times(n: int, mean: float, seed: int | np.random.SeedSequence) -> FloatArray:
    """``n`` independent exponential times in time units; all 0 where the mean is.

    They have a random stream of their own, so they leave lengths and predictions as they are.

    Raises
    ------
    ValueError
        If ``n`` is below 1, the mean negative or not finite, or the seed negative.
    """
    check_count("n", n)
    if not (is_finite(mean) and mean >= 0):
        raise ValueError(f"think_time={mean!r}: must be a finite number >= 0")
    return stream(seed, Stream.THINKING).exponential(mean, size=n)
