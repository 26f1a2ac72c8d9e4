"""How much a policy can serve: the fastest arrivals that it keeps up with, or serves within objectives."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import mul
from statistics import fmean
from typing import Literal

import numpy as np

from analysis import replications
from analysis.attainment import attained
from analysis.estimate import Estimate
from analysis.stability import WorkRates, backlog_of, is_stream, judge, sustained_work
from serving_sim import Policy, Run, StepTime, Workload, simulate
from serving_sim.compiled.choice import can_compile
from serving_sim.how_many import how_many

WIDTH = 0.005
"""What bisection may leave open of a rate: that large a part of it."""

_FACTORS = tuple(2**2**power for power in range(5))
"""What the fastest arrivals are divided by until a rate holds: 2, 4, 16, 256, 65,536.

Each the square of the one before, so that bisection, which works on logarithms, needs one halving more
for each.
"""

_EARLY = (4, 2)
"""Parts of the requests, a quarter and a half, after which growth of the queue is looked for."""

AT_LEAST = "at least this: it holds for the fastest arrivals that were tried"

BELOW = "below this: it does not hold for the slowest arrivals that were tried"

ONE_SEQUENCE = "one sequence of arrivals: no interval"

_BEYOND = 1.25  # of what a backlog is served at: no policy has been seen to do more


@dataclass(frozen=True)
class Bench:
    """One policy before one replication of the arrivals, which may come at any speed.

    At speed s all times between arrivals are divided by s; requests and their pattern stay, so that
    all policies at all speeds meet the same.

    Attributes
    ----------
    policy : Policy
        Who serves.
    workload : Workload
        Arrivals at speed 1.
    slots, step_time, slotted, information
        As for `serving_sim.simulate`.
    """

    policy: Policy
    workload: Workload
    slots: int
    step_time: StepTime
    slotted: bool = False
    information: Literal["exact", "interval"] = "exact"

    def run(self, speed: float, part: int = 1) -> Run:
        """The run on the first ``1 / part`` of the requests."""
        return self._serve(self._at(speed).take(np.arange(len(self.workload) // part)))

    @cached_property
    def _arriving(self) -> Workload:
        """The requests in arrival order, without the texts that no run looks at and every copy checks."""
        order = self.workload.arrival_order
        first = self.workload if order is None else self.workload.take(order)
        return replace(first, request_id=None, tenant=None, model=None)

    @property
    def rate(self) -> float:
        """Requests per time unit at speed 1."""
        return (len(self.workload) - 1) / float(np.ptp(self.workload.release))

    @property
    def work(self) -> float:
        """Tokens per time unit at speed 1."""
        return self.rate * self.workload.total_length / len(self.workload)

    @cached_property
    def sustained(self) -> float:
        """Speed at which as much work arrives as the policy does on a backlog.

        Raises
        ------
        ValueError
            If the slots hold all requests at once, so that nobody ever waits.
        """
        work = sustained_work(self._serve(backlog_of(self._arriving)))
        if math.isinf(work):
            raise ValueError(
                f"{how_many(len(self.workload), 'request')}: too few to tell how fast they can come, "
                f"{self.slots} slots take them all at once"
            )
        return work / self.work

    @property
    def fastest(self) -> float:
        """A speed that the policy cannot keep up with."""
        return _BEYOND * self.sustained

    def check_stream(self) -> None:
        """Refuse requests so few that nobody can tell whether the policy keeps up.

        Raises
        ------
        ValueError
            If, arriving as fast as they can be served, they are no `analysis.stability.is_stream`.
        """
        if not is_stream(self._at(self.sustained), self.step_time):
            raise ValueError(
                f"{how_many(len(self.workload), 'request')}: too few to tell what "
                f"{self.policy.describe()} keeps up with, as fast as {self.slots} slots can serve "
                "them half of them come within a mean service"
            )

    def _at(self, speed: float) -> Workload:
        return replace(self._arriving, release=self._arriving.release / speed)

    @cached_property
    def _engine(self) -> Literal["compiled", "auto"]:
        """The compiled one wherever it can: one process plays many runs, so that loading it pays."""
        fits = can_compile(self._arriving, self.policy, self.step_time)
        return "compiled" if fits else "auto"

    def _serve(self, workload: Workload) -> Run:
        return simulate(
            workload,
            self.policy,
            slots=self.slots,
            step_time=self.step_time,
            slotted=self.slotted,
            information=self.information,
            engine=self._engine,
        )


@dataclass(frozen=True)
class Limit:
    """The fastest arrivals of some kind.

    Attributes
    ----------
    rate : Estimate
        In requests per time unit. Of one sequence of arrivals it is a rate at which a run was seen to hold.
    work : Estimate
        In tokens per time unit.
    fails_at : float or None
        The slowest arrivals above, in requests per time unit, that were tried and not seen to hold: the
        mean over the replications. None where some held at the fastest that were tried.
    """

    rate: Estimate
    work: Estimate
    fails_at: float | None


@dataclass(frozen=True)
class Edge:
    """Where a property was seen to end.

    Attributes
    ----------
    holds : float or None
        The largest value at which it was seen to hold; None where it held at none that was tried.
    fails : float or None
        The smallest value tried above, at which it was not seen to hold; None where it held at the largest.
    """

    holds: float | None
    fails: float | None

    @property
    def middle(self) -> float:
        """Between the two; the one that there is, where there is only one."""
        return fmean(end for end in (self.holds, self.fails) if end is not None)


def keeps_up(bench: Bench, speed: float) -> bool:
    """Whether the waiting queue still empties in the second half of the arrivals at this speed.

    A sequential test: it ends after a quarter or a half of the requests where growth of the queue is
    already beyond chance (`analysis.stability.judge`). The work that arrives is known, it is that of the
    bench times the speed, so that no policy keeps up with more than all slots can do. Where nothing can
    be told, the policy has not been seen to keep up; `Bench.check_stream` refuses what is too short for
    any speed.
    """
    rates = WorkRates(offered=bench.work * speed)
    for part in _EARLY:
        found = judge(bench.run(speed, part), rates)
        if found is not None and found.verdict == "unstable":
            return False
    found = judge(bench.run(speed), rates)
    return found is not None and found.verdict == "stable"


def largest(holds: Callable[[float], bool], highest: float) -> Edge:
    """The largest value at which a property is seen to hold, by bisection in relative terms.

    The highest value is divided by 2, 4, 16 .. 65,536 until the property holds, and from there on the
    logarithm of the interval is halved. All values tried have four significant digits, so that the one found
    can be printed, and tried again, as it is.

    Parameters
    ----------
    holds : callable
        True below some value, False above it. Where it is true and false in turns, what is found is one of
        the places where it ends, not always the last.
    highest : float
        Where to look at most, above 0.

    Returns
    -------
    Edge
        Its ends are at most `WIDTH` of the lower one apart, unless one is None.
    """
    high = _four_digits(highest)
    if holds(high):
        return Edge(high, None)
    for factor in _FACTORS:
        low = _four_digits(highest / factor)
        if holds(low):
            return _narrowed(holds, low, high)
        high = low
    return Edge(None, high)


def _narrowed(holds: Callable[[float], bool], low: float, high: float) -> Edge:
    while high > (1 + WIDTH) * low:
        middle = _four_digits(math.sqrt(low * high))
        if holds(middle):
            low = middle
        else:
            high = middle
    return Edge(low, high)


def _four_digits(value: float) -> float:
    return float(f"{value:.4g}")


def stable_rate(bench: Bench) -> Edge:
    """The largest rate, in requests per time unit, that the policy keeps up with.

    Raises
    ------
    ValueError
        If there are too few requests to tell.
    """
    bench.check_stream()
    return _largest_rate(bench, lambda speed: keeps_up(bench, speed))


def attaining_rate(bench: Bench, objectives: Mapping[str, float], share: float, warmup: int = 0) -> Edge:
    """The largest rate, in requests per time unit, at which a share of the requests meets every objective.

    The policy need not keep up for ever: the share counts the requests that there are.
    """
    return _largest_rate(bench, lambda speed: attained(bench.run(speed), objectives, warmup) >= share)


def _largest_rate(bench: Bench, holds: Callable[[float], bool]) -> Edge:
    return largest(lambda rate: holds(rate / bench.rate), bench.fastest * bench.rate)


def over_replications(
    benches: Sequence[Bench], edges: Sequence[Edge], *, ruled_out: str | None = None
) -> Limit:
    """What was seen of one sequence of arrivals, or the mean over R replications.

    From R = 2 on it has an interval, widened by what bisection leaves open on both sides of the middle.

    Parameters
    ----------
    benches : sequence of Bench, length R
        One policy before each replication.
    edges : sequence of Edge, length R
        What each came to, in requests per time unit. A rate counts as the work that it brings, as measured:
        of two replications the one that happens to bring more work is at its limit at a lower speed. Where
        one of them is as fast as was tried, the mean is a lower bound and has no interval; where one holds
        at no rate that was tried, it is an upper bound.
    ruled_out : str or None
        Why the arrivals give no interval, as `analysis.ruled_out.ruled_out` finds.
    """
    holds, fails = [edge.holds for edge in edges], [edge.fails for edge in edges]
    tokens = [bench.work / bench.rate for bench in benches]
    slowest = None if None in fails else fmean(rate for rate in fails if rate is not None)
    if None in holds:
        return _without_interval([edge.fails or edge.middle for edge in edges], tokens, slowest, BELOW)
    lower = [rate for rate in holds if rate is not None]
    note = AT_LEAST if None in fails else ONE_SEQUENCE if len(edges) == 1 else ruled_out
    if note is not None:
        return _without_interval(lower, tokens, slowest, note)
    return Limit(_interval(edges, [1.0] * len(edges)), _interval(edges, tokens), slowest)


def _without_interval(
    rates: Sequence[float], tokens: Sequence[float], fails_at: float | None, note: str
) -> Limit:
    return Limit(
        Estimate(fmean(rates), note=note), Estimate(fmean(map(mul, rates, tokens)), note=note), fails_at
    )


def _interval(edges: Sequence[Edge], factors: Sequence[float]) -> Estimate:
    """Of the middles of the edges, each times its factor."""
    estimate = replications.interval(
        [edge.middle * factor for edge, factor in zip(edges, factors, strict=True)]
    )
    assert estimate.low is not None
    assert estimate.high is not None
    open_ = fmean(
        (edge.middle - edge.holds) * factor
        for edge, factor in zip(edges, factors, strict=True)
        if edge.holds is not None
    )
    return Estimate(estimate.value, max(0.0, estimate.low - open_), estimate.high + open_)
