"""Users who look at the price and at the recent waiting before they send a request.

An extension that Yao and Zhou name in section 5.3 and leave out: there the accepted requests are
fixed before any policy serves them, here the policy decides how many accept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from serving_sim import ReactiveSource, Workload
from serving_sim.arrivals import Desk
from serving_sim.request import FloatArray
from serving_sim.source import Process


@dataclass(frozen=True, eq=False)
class Potential:
    """Requests that may come, one row each.

    Parameters
    ----------
    workload : Workload
        When each user decides, in time units and in rising order, and what it would send.
    surplus : array_like, shape (n,)
        What the answer is worth to the user less its price, v - p, in money.
    delay_cost : float
        What a time unit of waiting costs the user (h), in money, >= 0.

    Raises
    ------
    ValueError
        If a value breaks a rule.
    """

    workload: Workload
    surplus: FloatArray
    delay_cost: float

    def __init__(self, workload: Workload, surplus: ArrayLike, delay_cost: float) -> None:
        column = np.array(surplus, dtype=np.float64)
        if column.shape != (len(workload),) or not np.isfinite(column).all():
            raise ValueError(f"surplus: must hold {len(workload)} finite numbers, one a request")
        if workload.arrival_order is not None:
            raise ValueError("workload: releases must rise, users decide one after the other")
        if not 0 <= delay_cost < math.inf:
            raise ValueError(f"delay_cost={delay_cost!r}: must be a finite number >= 0")
        object.__setattr__(self, "workload", workload)
        object.__setattr__(self, "surplus", column)
        object.__setattr__(self, "delay_cost", delay_cost)


class DelaySensitiveDemand(ReactiveSource):
    """A request comes if v - p - h W >= 0, with W the waiting time expected from the recent past.

    W is the mean waiting time of the requests that started, each weighted by exp(-age / memory),
    together with one observation of no wait of weight 1. So users forget: where nobody starts any
    more, W falls and they come back.

    Parameters
    ----------
    potential : Potential
        Who may come.
    memory : float
        Time units after which an observation counts 1 / e, > 0.

    Attributes
    ----------
    accepted : list of int
        Rows of those who came in the last run.
    expected : list of float
        The W that each potential user saw in the last run, in time units.
    """

    def __init__(self, potential: Potential, memory: float) -> None:
        if not 0 < memory < math.inf:
            raise ValueError(f"memory={memory!r}: must be a positive number")
        self._potential = potential
        self._memory = memory

    def process(self, desk: Desk) -> Process:
        """Let users decide one after the other."""
        self.accepted: list[int] = []
        self.expected: list[float] = []
        self._recent = _Recent(self._memory)
        potential = self._potential
        surplus = potential.surplus.tolist()
        for row, instant in enumerate(potential.workload.release.tolist()):
            yield desk.at(instant)
            wait = self._recent.mean(instant)
            self.expected.append(wait)
            if surplus[row] - potential.delay_cost * wait >= 0:
                self.accepted.append(row)
                desk.spawn(self._watch(desk, desk.release(**potential.workload.row(row)), instant))

    def _watch(self, desk: Desk, request: int, released: float) -> Process:
        start = yield desk.started(request)
        self._recent.add(start, start - released)


class _Recent:
    """Mean with weights exp(-age / memory), and one observation of 0 that does not age."""

    def __init__(self, memory: float) -> None:
        self._memory = memory
        self._sum = 0.0
        self._weight = 0.0
        self._now = 0.0

    def add(self, instant: float, value: float) -> None:
        self._age(instant)
        self._sum += value
        self._weight += 1

    def mean(self, instant: float) -> float:
        self._age(instant)
        return self._sum / (1 + self._weight)

    def _age(self, instant: float) -> None:
        kept = math.exp((self._now - instant) / self._memory)
        self._sum *= kept
        self._weight *= kept
        self._now = instant
