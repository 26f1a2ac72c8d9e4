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

HALVINGS = 8

_EARLY = (4, 2)
"""Parts of the requests, a quarter and a half, after which growth of the queue is looked for."""

AT_LEAST = "at least this: it holds for the fastest arrivals that were tried"

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
                f"{len(self.workload):,} requests: too few to tell how fast they can come, "
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
                f"{len(self.workload):,} requests: too few to tell what {self.policy.describe()} keeps up "
                f"with, as fast as {self.slots} slots can serve them half of them come within a mean service"
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
        In requests per time unit.
    work : Estimate
        In tokens per time unit.
    """

    rate: Estimate
    work: Estimate


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


def largest(holds: Callable[[float], bool], highest: float, halvings: int = HALVINGS) -> float | None:
    """The largest value up to which a property holds, by bisection.

    Parameters
    ----------
    holds : callable
        True below some value, False above it.
    highest : float
        Where to look at most, above 0.
    halvings : int
        How often the interval (0, highest) is halved.

    Returns
    -------
    float or None
        Middle of the last interval, ``highest / 2**halvings`` wide; ``highest`` itself where the property
        still holds there, so that nothing was found but a lower bound; None where it held nowhere.
    """
    if holds(highest):
        return highest
    low, high = 0.0, highest
    for _ in range(halvings):
        middle = (low + high) / 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return (low + high) / 2 if low > 0 else None


def stable_speed(bench: Bench) -> float | None:
    """The largest speed that the policy keeps up with, None if there is none.

    Raises
    ------
    ValueError
        If there are too few requests to tell.
    """
    bench.check_stream()
    return largest(lambda speed: keeps_up(bench, speed), bench.fastest)


def attaining_speed(
    bench: Bench, objectives: Mapping[str, float], share: float, warmup: int = 0
) -> float | None:
    """The largest speed at which a share of the requests meets every objective, None if there is none.

    The policy need not keep up for ever: the share counts the requests that there are.
    """
    return largest(lambda speed: attained(bench.run(speed), objectives, warmup) >= share, bench.fastest)


def over_replications(
    benches: Sequence[Bench], speeds: Sequence[float | None], *, ruled_out: str | None = None
) -> Limit:
    """Mean over R replications, from R = 2 on with intervals, widened by what bisection leaves open.

    Parameters
    ----------
    benches : sequence of Bench, length R
        One policy before each replication.
    speeds : sequence of float or None, length R
        What each came to. A speed counts as the work that it brings, as measured: of two replications
        the one that happens to bring more work is at its limit at a lower speed. Where one of them is
        as fast as was tried, the mean is a lower bound and has no interval.
    ruled_out : str or None
        Why the arrivals give no interval, as `analysis.ruled_out.ruled_out` finds.
    """
    if None in speeds:
        none = Estimate(None, note="no rate is low enough")
        return Limit(none, none)
    found = list(zip(benches, (speed for speed in speeds if speed is not None), strict=True))
    open_ = [bench.fastest / 2 ** (HALVINGS + 1) for bench in benches]
    rates = [bench.rate for bench in benches]
    works = [bench.work for bench in benches]
    limit = Limit(
        rate=_mean([bench.rate * speed for bench, speed in found], fmean(map(mul, rates, open_))),
        work=_mean([bench.work * speed for bench, speed in found], fmean(map(mul, works, open_))),
    )
    if any(speed >= bench.fastest for bench, speed in found):
        return Limit(limit.rate.withheld(AT_LEAST), limit.work.withheld(AT_LEAST))
    if ruled_out is not None:
        return Limit(limit.rate.withheld(ruled_out), limit.work.withheld(ruled_out))
    return limit


def _mean(values: Sequence[float], open_: float) -> Estimate:
    if len(values) == 1:
        return Estimate(values[0], note=ONE_SEQUENCE)
    estimate = replications.interval(values)
    assert estimate.low is not None
    assert estimate.high is not None
    return Estimate(estimate.value, max(0.0, estimate.low - open_), estimate.high + open_)
