"""Whether a policy keeps up with its arrivals, or its queue grows for as long as they come."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Literal

import numpy as np
from scipy.special import stdtrit

from analysis.latency import served_requests
from analysis.queue_memory import queue_memory
from analysis.statistic import SECTIONS, squared_variation
from serving_sim import Run, StepTime, Workload
from serving_sim.request import FloatArray, IntArray, exact_sum

_log = logging.getLogger(__name__)

Verdict = Literal["stable", "unstable", "undecided"]

_FEWEST = 40
"""Arrivals below which nobody could tell a trend."""

_SURE = 0.99  # of a claim that rests on the noise of one run

_LONG = 10_000
"""Arrivals, times the variability of work, from which a queue that never empties is no chance.

At load 0.95 an excursion of the queue that lasts half as long has not been seen in 60 runs of twice as
many arrivals; at 0.98 it has, now and then.
"""

_GROWTH = 1.25
"""Least growth of the queue over the second half: from nothing it doubles, a level one stays."""

_BLOCKS = 50
"""Sums of gaps that tell the dispersion in the long run, to a fifth."""

_PROBED = 20_000
"""Requests of a backlog from which its pace is measured; more would tell little more."""


@dataclass(frozen=True)
class WorkRates:
    """What is known of the work beside the run.

    Attributes
    ----------
    offered : float or None
        Tokens that arrive per time unit in the long run. None where nobody knows; they are then
        measured, and count as beyond a limit only where their standard error leaves no doubt.
    sustained : float or None
        Most tokens that the policy can do per time unit, as `sustained_work` measures it.
    dispersion : float or None
        Index of dispersion of the arrivals in the long run, as `workloads.arrivals.process.PointProcess`
        states it; measured where nobody knows.
    requests_a_round : float or None
        Requests in one round of a rate that goes up and down over and over, on average; None where the
        arrivals have no such rhythm, or nobody knows.
    span : float or None
        Time units from 0 on in which these requests came and no others, as in a window of a log; None where
        nobody knows when arrivals began and ended but by the first and the last.
    """

    offered: float | None = None
    sustained: float | None = None
    dispersion: float | None = None
    requests_a_round: float | None = None
    span: float | None = None

    def periods(self, requests: int) -> float | None:
        """Rounds of the rate in which so many requests come, on average; None without a rhythm."""
        return None if self.requests_a_round is None else requests / self.requests_a_round


UNKNOWN = WorkRates()

ONE_BACKLOG = "all requests are released at once: intervals need replications"
ONE_BURST = "half of the requests or more come within the time that one takes: intervals need replications"
GROWING = "the queue grows as long as requests arrive: no steady state"
UNDECIDED = "too short to tell whether the queue grows as long as requests arrive"

_NO_LONG_RUN: dict[Verdict, str] = {"unstable": GROWING, "undecided": UNDECIDED}


@dataclass(frozen=True)
class Stability:
    """Whether a policy kept up.

    Attributes
    ----------
    verdict : {"stable", "unstable", "undecided"}
        Under "unstable" no latency has a long-run value: the longer the run, the larger.
    reason : str
        What the verdict rests on.
    load : float or None
        Work that arrives, as a fraction of what all slots together can do; None where steps have no
        fixed duration.
    growth : float
        Requests per time unit by which the waiting queue grew over the second half of the arrivals.
    utilization : float or None
        Work that arrives, as a fraction of the most that the policy can do; None where nobody knows.
    variability : float
        Squared coefficients of variation of gaps and lengths together, 2 for Poisson arrivals of
        geometric lengths.
    clustering : float
        How many requests come together, so that they are one observation rather than many: 1 for Poisson
        arrivals, the size of batches, all of them where all come at one instant but for a few.
    """

    verdict: Verdict
    reason: str
    load: float | None
    growth: float
    utilization: float | None
    variability: float
    clustering: float = 1.0

    @property
    def memory(self) -> float:
        """`queue_memory` of the traffic, in requests; 0 where nobody knows what the policy can do."""
        return 0.0 if self.utilization is None else queue_memory(self.utilization, self.variability)


def judge(run: Run, rates: WorkRates | None = UNKNOWN) -> Stability | None:
    """Judge whether the policy of a run keeps up with its arrivals.

    Parameters
    ----------
    run : Run
        A run that kept its requests.
    rates : WorkRates or None
        What is known of the work beside the run; None where arrivals wait for answers (a closed loop),
        so that nothing comes faster than it is served.

    Returns
    -------
    Stability or None
        None where the question makes no sense: for a closed loop, and for what is no `is_stream`.

    Notes
    -----
    A run is unstable if (1) all slots together cannot do the work that arrives, (2) the policy cannot,
    even when it may choose among all requests, or (3) in the second half of the arrivals nobody ever
    finds the waiting queue empty, and the queue grows. A fair policy leaves slots empty, so (1) alone
    would prove little. In (3) growth is beyond chance where increments of the queue over ten sections
    have a mean above 0 by a one-sided t test at 99 %, or where the run is so long that excursions of a
    stable queue have come to an end; not where all who wait have started before the span of the arrivals
    is over.
    """
    requests = served_requests(run).requests
    if rates is None or not is_stream(requests, run.step_time):
        return None
    arrivals = _Arrivals.of(requests, rates.span)
    queue = waiting_at_arrivals(run)
    work = arrivals.work() if rates.offered is None else _Work(rates.offered)
    full = run.slots / run.step_time.base if run.step_time.constant else None
    variability = arrivals.dispersion(rates.dispersion) + squared_variation(requests.length)
    verdict, reason = _verdict(
        queue,
        work,
        full,
        rates.sustained,
        long=len(queue) >= _LONG * max(1.0, variability),
        cleared=rates.span is not None and float(run.start.max()) < rates.span,
    )
    most = min((each for each in (full, rates.sustained) if each is not None), default=None)
    return Stability(
        verdict=verdict,
        reason=reason,
        load=None if full is None else work.value / full,
        growth=arrivals.growth(queue),
        utilization=None if most is None else work.value / most,
        variability=variability,
        clustering=arrivals.clustering(rates.dispersion),
    )


def is_stream(requests: Workload, step_time: StepTime) -> bool:
    """Whether requests come for so long that a policy can be seen to keep up with them or not.

    A burst is no stream, nor are so few arrivals that nobody could tell a trend.
    """
    return len(requests) >= _FEWEST and not is_burst(requests, step_time)


def no_steady_state(run: Run, stability: Stability | None) -> str | None:
    """Why one run cannot give intervals whatever its size, None if it can.

    A burst is a single draw: its latencies are what happens to one finite set of requests, and
    sections of it are not repetitions of anything. Of the queue `no_long_run` tells.
    """
    requests = served_requests(run).requests
    if is_backlog(requests):
        return ONE_BACKLOG
    if is_burst(requests, run.step_time):
        return ONE_BURST
    return no_long_run(None if stability is None else stability.verdict)


def no_long_run(*verdicts: Verdict | None, ruled_out: str | None = None) -> str | None:
    """Why latencies behind queues with these verdicts have no intervals, None if they may have.

    Behind a growing queue latencies grow with the length of the run, and an interval would be one around
    nothing. Where nobody can tell whether the queue grows, nobody can say that it would not be.

    Parameters
    ----------
    verdicts : {"stable", "unstable", "undecided"} or None
        On each of the queues behind them.
    ruled_out : str or None
        Why the arrivals themselves give none, as `analysis.ruled_out.ruled_out` finds.
    """
    found = next((reason for verdict, reason in _NO_LONG_RUN.items() if verdict in verdicts), None)
    return found or ruled_out


def is_backlog(requests: Workload) -> bool:
    """Whether all requests are released at once."""
    return bool(np.all(requests.release == requests.release[0]))


def is_burst(requests: Workload, step_time: StepTime) -> bool:
    """Whether requests come as one finite set rather than in a stream that could go on.

    So they do where half of them or more come within the time that a request of mean length takes alone. A
    stream of which that is true would end before its first requests have: it shows no steady state. And a few
    requests before or behind a backlog, however far, make no stream of it.
    """
    release = requests.release[_arrival_rows(requests)]
    half = max(2, (len(release) + 1) // 2)
    one = step_time.alone(math.ceil(requests.total_length / len(requests)))
    return len(release) < half or bool(np.any(release[half - 1 :] - release[: 1 - half] <= one))


def are_finite(bursts: Iterable[bool]) -> bool:
    """Whether replications are finite sets of requests, by what `is_burst` says of each.

    Only where all are. A stream among them is a piece of a steady state, which it may be too short to
    tell: then the guard for streams holds for them all, in whatever order they come.
    """
    return all(bursts)


def of_burst(run: Run) -> bool:
    """Whether the requests that a run served are an `is_burst`."""
    return is_burst(served_requests(run).requests, run.step_time)


def backlog_of(requests: Workload, most: int = _PROBED) -> Workload:
    """The first ``most`` of the requests, all released at once; with their predictions."""

    def first(column: IntArray | None) -> IntArray | None:
        return None if column is None else column[:most]

    length = requests.length[:most]
    return Workload(np.zeros(len(length)), length, lower=first(requests.lower), upper=first(requests.upper))


def judge_together(found: Sequence[Stability | None]) -> Stability | None:
    """Verdict on several replications: that of the majority, undecided where there is none."""
    judged = [each for each in found if each is not None]
    if not judged:
        return None
    verdict, reason = _majority(judged)
    return Stability(
        verdict=verdict,
        reason=reason,
        load=_mean_of_known([each.load for each in judged]),
        growth=fmean(each.growth for each in judged),
        utilization=_mean_of_known([each.utilization for each in judged]),
        variability=fmean(each.variability for each in judged),
        clustering=fmean(each.clustering for each in judged),
    )


def _mean_of_known(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def common_verdict(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict of the majority, undecided where there is none."""
    most = max(verdicts, key=verdicts.count)
    return most if verdicts.count(most) > len(verdicts) / 2 else "undecided"


def _majority(judged: Sequence[Stability]) -> tuple[Verdict, str]:
    verdicts = [each.verdict for each in judged]
    common = common_verdict(verdicts)
    if verdicts.count(common) > len(judged) / 2:
        return common, next(each.reason for each in judged if each.verdict == common)
    split = " and ".join(
        f"{verdicts.count(verdict)} {'is' if verdicts.count(verdict) == 1 else 'are'} {verdict}"
        for verdict in dict.fromkeys(verdicts)
    )
    return common, f"of {len(judged)} replications {split}"


def probed_work(serve: Callable[[Workload], Run], requests: Workload) -> float | None:
    """Most work that a policy does, as `sustained_work` measures it on the backlog of the requests.

    Parameters
    ----------
    serve : callable
        Runs the policy, as an object that has served nobody: one that has may keep what it saw.
    requests : Workload
        What it has served.

    Returns
    -------
    float or None
        None for a backlog, where nothing has to keep up, and where the policy breaks on it, whatever the
        error: it has served what it was made for, and that run is not lost. A log message names the error.
    """
    if is_backlog(requests):
        return None
    try:
        return sustained_work(serve(backlog_of(requests)))
    except Exception as error:  # noqa: BLE001  (a policy of one's own may raise anything)
        _log.info("nobody knows the most a policy can do, a backlog ended it: %r", error)
        return None


def waiting_at_arrivals(run: Run) -> IntArray:
    """Requests that wait right after each arrival, itself included unless it starts at once.

    Returns
    -------
    ndarray of int, shape (n,)
        In arrival order.
    """
    requests = served_requests(run).requests
    rows = _arrival_rows(requests)
    # a stable sort makes use of the order that is there: most requests start about in arrival order
    start = np.sort(run.start[rows], kind="stable")
    started = np.searchsorted(start, requests.release[rows], side="right")
    return np.arange(1, len(start) + 1) - started


def sustained_work(backlog: Run) -> float:
    """Work that a policy does while requests wait, in tokens per time unit.

    Parameters
    ----------
    backlog : Run
        The policy on a backlog. Among all requests at once it chooses at least as well as among
        those that happen to wait.

    Notes
    -----
    Counts all work up to the last start, what is then still in the slots included, so it errs
    upwards. A policy without idle slots is credited with all of them.
    """
    last = float(backlog.start.max())
    return backlog.totals.tokens / last if last > 0 else math.inf


def _verdict(
    queue: IntArray, work: _Work, full: float | None, sustained: float | None, *, long: bool, cleared: bool
) -> tuple[Verdict, str]:
    beyond = ", by more than the error of measuring it" if work.error else ""
    if full is not None and work.exceeds(full):
        return "unstable", (
            f"load {work.value / full:.3g}, more work arrives than all slots together can do{beyond}"
        )
    if sustained is not None and work.exceeds(sustained):
        return "unstable", (
            f"work arrives {work.value / sustained:.3g} times as fast as the policy does it on a backlog of "
            f"these requests{beyond}"
        )
    half = len(queue) // 2
    if np.any(queue[half:] <= 1):
        return "stable", "the waiting queue empties in the second half of the arrivals"
    if cleared:
        return "stable", "the waiting queue empties before the span of the arrivals is over"
    never = "the waiting queue never empties in the second half of the arrivals"
    if _beyond_chance(queue[half:], long=long):
        return "unstable", never
    return "undecided", f"{never}, but the run is too short to tell its growth from chance"


def _beyond_chance(queue: IntArray, *, long: bool) -> bool:
    piece = len(queue) // SECTIONS
    if long and float(np.mean(queue[-piece:])) > _GROWTH * float(np.mean(queue[:piece])):
        return True
    steps = np.diff(queue[np.linspace(0, len(queue) - 1, SECTIONS + 1).astype(np.int64)])
    error = float(np.std(steps, ddof=1)) / math.sqrt(SECTIONS)
    return float(np.mean(steps)) > float(stdtrit(SECTIONS - 1, _SURE)) * error


def _arrival_rows(requests: Workload) -> IntArray | slice:
    order = requests.arrival_order
    return slice(None) if order is None else order


@dataclass(frozen=True)
class _Work:
    """Tokens that arrive per time unit, and how much of them could be chance."""

    value: float
    error: float = 0.0

    def exceeds(self, limit: float) -> bool:
        return self.value - self.error >= limit


@dataclass(frozen=True)
class _Arrivals:
    """Releases and lengths of requests in arrival order, and the span they came in where that is known."""

    release: FloatArray
    length: IntArray
    span: float | None

    @classmethod
    def of(cls, requests: Workload, span: float | None) -> _Arrivals:
        rows = _arrival_rows(requests)
        return cls(requests.release[rows], requests.length[rows], span)

    @cached_property
    def _rounded(self) -> FloatArray:
        """The releases and, where the span is known, the first one again behind it.

        The silence at both ends is then one gap more, so that the mean gap is the span over the requests.
        """
        if self.span is None:
            return self.release
        return np.append(self.release, self.release[0] + self.span)

    def dispersion(self, known: float | None) -> float:
        """Squared variation of gaps in the long run, as heavy-traffic theory asks: the index of dispersion.

        Where nobody knows it, by how they vary one by one or in the long run, whichever is less: where stamps
        are rounded or requests come in groups the one is too large, where the rate drifts the other.
        """
        return min(self._variation(), self._measured_dispersion()) if known is None else known

    def clustering(self, known: float | None) -> float:
        """Requests that come together, >= 1: n gaps of squared variation v are worth n / (1 + v) like ones.

        A smaller dispersion says that what looks like groups are rounded stamps.
        """
        return max(1.0, min(self._variation(), self.dispersion(known)))

    def _variation(self) -> float:
        return squared_variation(np.diff(self._rounded))

    def _measured_dispersion(self) -> float:
        """The squared variation of sums of so many gaps, times their number.

        Cox and Lewis (1966), "The statistical analysis of series of events", section 4.5.
        """
        release = self._rounded
        size = max(1, (len(release) - 1) // _BLOCKS)
        return size * squared_variation(np.diff(release[::size]))

    def work(self) -> _Work:
        """As measured, with the error that a one-sided t test over sections of time grants it.

        Bursts make neighbours alike, so that gaps taken one by one would look far surer than they are.
        """
        count = len(self.release)
        begin, end = (
            (float(self.release[0]), float(self.release[-1])) if self.span is None else (0.0, self.span)
        )
        span = end - begin
        gaps = len(self._rounded) - 1
        value = gaps / span * exact_sum(self.length) / count
        ends = np.searchsorted(self.release, begin + span * np.arange(1, SECTIONS) / SECTIONS)
        parts = [float(exact_sum(part)) for part in np.split(self.length, ends)]
        deviation = float(np.std(parts, ddof=1)) * SECTIONS / span
        return _Work(value, float(stdtrit(SECTIONS - 1, _SURE)) * deviation / math.sqrt(SECTIONS))

    def growth(self, queue: IntArray) -> float:
        half = len(queue) // 2
        return float((queue[-1] - queue[half]) / (self.release[-1] - self.release[half]))
