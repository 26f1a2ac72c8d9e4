"""Users who send the next request when they have read the answer to the last."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from serving_sim import ReactiveSource, Workload
from serving_sim.arrivals import Desk
from serving_sim.request import FloatArray
from serving_sim.source import Process
from workloads.generate import Stream, stream


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
    thinking : ndarray of float, shape (n,)
        Time units of thought before each request, >= 0.

    Raises
    ------
    ValueError
        If a value breaks a rule.
    """

    workload: Workload
    users: int
    thinking: FloatArray

    def __post_init__(self) -> None:
        if not (isinstance(self.users, int | np.integer) and self.users >= 1):
            raise ValueError(f"users={self.users!r}: must be a whole number >= 1")
        good = np.isfinite(self.thinking) & (self.thinking >= 0)
        if self.thinking.shape != (len(self.workload),) or not good.all():
            raise ValueError(f"thinking: must hold {len(self.workload)} finite numbers >= 0, one a request")

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
        If the mean is negative or not finite, or the seed negative.
    """
    if not (math.isfinite(mean) and mean >= 0):
        raise ValueError(f"think_time={mean!r}: must be a finite number >= 0")
    return stream(seed, Stream.THINKING).exponential(mean, size=n)
