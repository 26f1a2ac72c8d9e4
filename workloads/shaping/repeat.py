"""More requests than a log holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from serving_sim import Workload
from serving_sim.how_many import how_many
from serving_sim.request import FloatArray, IntArray, TextArray
from workloads.parameters import check_count
from workloads.row_names import row_names
from workloads.shaping.shaping import Shaped, in_arrival_order

_MOST = 10**8
"""Requests beyond which memory runs out before patience does."""


@dataclass(frozen=True)
class Repeat:
    """The workload played several times, each time from a random request on and round to it.

    So another seed gives another sequence, in which bursts and the correlation of gaps and lengths
    are those of the log but for one seam a pass. The gap from the last request to the first is the
    mean gap. This is the circular block bootstrap of Politis and Romano (1992) with blocks as long as
    the log: it varies what follows what, not what there is.

    Parameters
    ----------
    times : int
        Passes, >= 1. A request without an id gets the number of its row, from 0; in a later pass ids get
        ``~2``, ``~3``, .. behind them.

    Raises
    ------
    ValueError
        If there is no pass or, when applied, more than 100 million requests would come of it, or an id
        made so exists already.
    """

    random: ClassVar[bool] = True
    times: int

    def __post_init__(self) -> None:
        check_count("times", self.times)

    def describe(self) -> str:
        return f"{how_many(self.times, 'pass', 'passes')} from random requests on"

    def apply(self, workload: Workload, rng: np.random.Generator) -> Shaped:
        if self.times * len(workload) > _MOST:
            raise ValueError(f"{self.describe()}: must not make more than {_MOST:,} requests")
        log = in_arrival_order(workload)
        offset = log.release - log.release[0]
        closing = offset[-1] / max(len(log) - 1, 1)
        period = offset[-1] + closing
        parts = []
        for number, first in enumerate(rng.integers(len(log), size=self.times).tolist()):
            rows = np.roll(np.arange(len(log)), -first)
            since = offset[rows] - offset[first]
            since[len(log) - first :] += period  # those before the first request come last
            parts.append(_pass(log, rows, log.release[0] + number * period + since, number))
        return Shaped(Workload.joined(parts))


def _pass(log: Workload, rows: IntArray, release: FloatArray, number: int) -> Workload:
    part = log.take(rows)
    ids = row_names(rows) if part.request_id is None else part.request_id
    return replace(part, release=release, request_id=_names(ids, number))


def _names(request_id: TextArray, number: int) -> TextArray:
    if number == 0:
        return request_id
    return np.array([f"{name}~{number + 1}" for name in request_id], dtype=np.object_)
