"""Choose the fairness budget from a request log (Yao and Zhou, section 5.1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd
from joblib import delayed

from analysis import sectioning
from analysis.economics import CostModel, alpha_for_cost_share, costs
from analysis.estimate import Estimate
from analysis.externality import externality_shares, step_shares
from analysis.latency import arrival_series
from analysis.metric_memory import memory_of_difference, memory_of_metric
from analysis.ruled_out import ruled_out
from analysis.series import Series
from analysis.simultaneous import confidence_of_each
from analysis.stability import Stability, WorkRates, judge, no_steady_state
from analysis.statistic import MEAN, Statistic, quantiles
from analysis.summary import distribution
from analysis.workers import results
from policies import ISJL
from serving_sim import StepTime, Workload, simulate
from serving_sim.request import FloatArray

_QUANTILES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
_MULTIPLES = (0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)


@dataclass(frozen=True)
class Goal:
    """What a budget must achieve.

    Attributes
    ----------
    cost : CostModel
        Prices of a step and of a token of cache.
    throughput : float or None
        Least tokens per time unit.
    latency : mapping of float to float
        By percentile, the most end-to-end latency in time units.
    smallest : bool
        Take the smallest budget within the limits, not the cheapest.
    confidence : float
        At which the cheapest must be told apart from every other candidate.
    """

    cost: CostModel
    throughput: float | None = None
    latency: Mapping[float, float] = field(default_factory=dict)
    smallest: bool = False
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            raise ValueError(f"confidence={self.confidence!r}: must lie strictly between 0 and 1")
        if self.throughput is not None and not 0 <= self.throughput < math.inf:
            raise ValueError(f"min_throughput={self.throughput!r}: must be a finite number >= 0")
        quantiles(tuple(self.latency))


@dataclass(frozen=True)
class Candidate:
    """One budget, replayed.

    Attributes
    ----------
    alpha : int
        Budget in tokens.
    throughput : float
        Tokens per time unit.
    latency : dict of str to Estimate
        Quantiles of the end-to-end latency by name, in time units.
    steps, externality : int
        T and E.
    time_cost, externality_cost : float
        c T and tau E, in money.
    missed : tuple of str
        Limits it breaks, in words.
    difference : Estimate
        Cost per request less that of the budget chosen, in money; none for the chosen itself.
    """

    alpha: int
    throughput: float
    latency: dict[str, Estimate]
    steps: int
    externality: int
    time_cost: float
    externality_cost: float
    missed: tuple[str, ...]
    difference: Estimate

    @property
    def total(self) -> float:
        """The part of the cost that the budget changes, c T + tau E."""
        return self.time_cost + self.externality_cost


@dataclass(frozen=True)
class Calibration:
    """What the replays say.

    Attributes
    ----------
    candidates : tuple of Candidate
        From the smallest budget.
    alpha : int or None
        The budget chosen; None if none meets the limits.
    confidence : float
        At which all candidates were compared with the chosen one, at once and whichever was chosen.
    rivals : tuple of int
        Budgets within the limits whose cost cannot be told from that of the chosen one.
    warnings : tuple of str
        Reasons to doubt the choice.
    scale : float
        Q / O in tokens, the natural scale of a budget.
    share : float
        The share of the intrinsic cost that ``alpha_cost`` guarantees.
    alpha_cost : float
        Budget that keeps tau E within that share of tau Q whatever the policy.
    """

    candidates: tuple[Candidate, ...]
    alpha: int | None
    confidence: float
    rivals: tuple[int, ...]
    warnings: tuple[str, ...]
    scale: float
    share: float
    alpha_cost: float

    def frame(self) -> pd.DataFrame:
        """One row a candidate."""
        return pd.DataFrame(
            [
                {
                    "alpha": each.alpha,
                    "throughput": each.throughput,
                    **{f"e2el_{name}": value.value for name, value in each.latency.items()},
                    "steps": each.steps,
                    "externality": each.externality,
                    "time_cost": each.time_cost,
                    "externality_cost": each.externality_cost,
                    "total_cost": each.total,
                    "difference": each.difference.value,
                    "difference_low": each.difference.low,
                    "difference_high": each.difference.high,
                    "missed": "; ".join(each.missed),
                    "chosen": each.alpha == self.alpha,
                }
                for each in self.candidates
            ]
        )


def grid_from_lengths(workload: Workload) -> list[int]:
    """Candidates at quantiles of the lengths from 5 % to 99 %."""
    return sorted({int(value) for value in np.quantile(workload.length, _QUANTILES, method="inverted_cdf")})


def grid_from_cost(workload: Workload) -> list[int]:
    """Candidates at multiples of Q / O, from a tenth to three times."""
    scale = alpha_for_cost_share(workload, 1.0)
    return sorted({max(1, round(multiple * scale)) for multiple in _MULTIPLES})


GRIDS: dict[str, Callable[[Workload], list[int]]] = {"lengths": grid_from_lengths, "cost": grid_from_cost}
"""Ways to find candidates, by name."""


def calibrate(
    workload: Workload,
    alphas: Sequence[int],
    goal: Goal,
    *,
    slots: int,
    step_time: StepTime,
    share: float = 0.1,
    percentiles: Sequence[float] = (50, 95, 99),
    jobs: int = 1,
    done: Callable[[str], None] = lambda _: None,
    one_log: bool = False,
    span: float | None = None,
) -> Calibration:
    """Replay a log under ISJL for every candidate and choose one.

    Parameters
    ----------
    workload : Workload
        The log.
    alphas : sequence of int
        Candidates in tokens.
    goal : Goal
        Prices, limits and which of the candidates within them to take.
    slots : int
        Requests that fit into a batch.
    step_time : StepTime
        How long a step takes.
    share : float
        For ``alpha_cost``.
    percentiles : sequence of float
        Of the end-to-end latency to report besides those that have a limit.
    jobs : int
        Processes.
    done : callable
        Told of each replay that is done.
    one_log : bool
        Whether the workload passes over its log more than once: that makes no new observations, so nothing
        has an interval.
    span : float, optional
        Time units from 0 on in which these requests came and no others, as in a window of a log.

    Notes
    -----
    The cost of a run splits exactly over its requests: a request answers for an even share of every
    step it was in, and for the externality it suffered. So the costs under two budgets are two series
    over the same arrivals, and batch means of their differences say whether another stretch of the
    same traffic would rank them alike.
    """
    if not alphas:
        raise ValueError("alphas: at least one candidate is needed, found none")
    statistics = quantiles(sorted({*percentiles, *goal.latency}))
    under = partial(
        _replay,
        workload,
        cost=goal.cost,
        statistics=statistics,
        slots=slots,
        step_time=step_time,
        one_log=one_log,
        span=span,
    )
    replays: dict[int, _Replay] = {}
    for each in results([delayed(under)(alpha) for alpha in sorted(set(alphas))], jobs, in_order=True):
        replays[each.alpha] = each
        done(f"alpha = {each.alpha}")
    chosen, candidates = _judged(replays, goal)
    return Calibration(
        candidates=candidates,
        alpha=chosen,
        confidence=goal.confidence,
        rivals=() if chosen is None else _rivals(candidates, chosen),
        warnings=() if chosen is None else tuple(_warnings(candidates, chosen, goal)),
        scale=alpha_for_cost_share(workload, 1.0),
        share=share,
        alpha_cost=alpha_for_cost_share(workload, share),
    )


def _judged(replays: Mapping[int, _Replay], goal: Goal) -> tuple[int | None, tuple[Candidate, ...]]:
    """The budget chosen, None where none meets the limits, and what speaks for and against each."""
    missed = {alpha: _missed(replay, goal) for alpha, replay in replays.items()}
    chosen = _choose(replays, missed, goal)
    # any candidate might have been chosen, so that the intervals of all pairs must hold
    confidence = confidence_of_each(math.comb(len(replays), 2), goal.confidence)
    return chosen, tuple(
        Candidate(
            alpha=alpha,
            throughput=replay.throughput,
            latency=replay.latency,
            steps=replay.steps,
            externality=replay.externality,
            time_cost=goal.cost.c * replay.steps,
            externality_cost=goal.cost.tau * replay.externality,
            missed=missed[alpha],
            difference=_difference(replay, None if chosen is None else replays[chosen], confidence),
        )
        for alpha, replay in replays.items()
    )


@dataclass(frozen=True, eq=False)
class _Replay:
    alpha: int
    throughput: float
    latency: dict[str, Estimate]
    steps: int
    externality: int
    total: float
    cost_of_request: FloatArray
    stability: Stability | None
    no_steady_state: str | None
    """Why the replay gives no intervals whatever its size, None if it can."""


def _replay(
    workload: Workload,
    alpha: int,
    *,
    cost: CostModel,
    statistics: Sequence[Statistic],
    slots: int,
    step_time: StepTime,
    one_log: bool,
    span: float | None,
) -> _Replay:
    run = simulate(workload, ISJL(alpha), slots=slots, step_time=step_time, record_batches=True)
    split = costs(run, cost)
    stability = judge(run, WorkRates(span=span))
    note = ruled_out(one_log=one_log) or no_steady_state(run, stability)
    own = cost.c * step_shares(run) + cost.tau * externality_shares(run).suffered
    order = workload.arrival_order
    return _Replay(
        alpha=alpha,
        throughput=run.throughput,
        latency=distribution(
            arrival_series(run, "e2el"), statistics, note, memory_of_metric("e2el", [run], stability)
        ).quantiles,
        steps=run.steps,
        externality=run.externality,
        total=split.time_cost + split.externality_cost,
        cost_of_request=own if order is None else own[order],
        stability=stability,
        no_steady_state=note,
    )


def _missed(replay: _Replay, goal: Goal) -> tuple[str, ...]:
    missed = []
    if goal.throughput is not None and replay.throughput < goal.throughput:
        missed.append(f"throughput below {goal.throughput:g}")
    for percentile, limit in goal.latency.items():
        name = quantiles([percentile])[0].name
        estimate = replay.latency[name]
        if estimate.value is None:  # nothing shows that the limit is met
            missed.append(f"{name} unknown, {estimate.note}")
        elif estimate.value > limit:
            missed.append(f"{name} above {limit:g}")
    return tuple(missed)


def _choose(replays: Mapping[int, _Replay], missed: Mapping[int, tuple[str, ...]], goal: Goal) -> int | None:
    within = [alpha for alpha in replays if not missed[alpha]]
    if not within:
        return None
    # of equally cheap budgets the smallest, which promises more
    return min(within) if goal.smallest else min(within, key=lambda alpha: (replays[alpha].total, alpha))


def _difference(replay: _Replay, chosen: _Replay | None, confidence: float) -> Estimate:
    if chosen is None:
        return Estimate(None, note="no budget meets the limits")
    if chosen is replay:
        return Estimate(None, note="the budget chosen")
    memory = memory_of_difference("cost", replay.stability, chosen.stability)
    costs, least = (Series(each.cost_of_request, [MEAN]) for each in (replay, chosen))
    estimate = sectioning.estimate_difference(MEAN, costs, least, confidence, memory=memory)
    note = chosen.no_steady_state or replay.no_steady_state
    return estimate if note is None else estimate.withheld(note)


def _rivals(candidates: Sequence[Candidate], chosen: int) -> tuple[int, ...]:
    return tuple(
        each.alpha
        for each in candidates
        if each.alpha != chosen and not each.missed and not each.difference.excludes_zero
    )


def _warnings(candidates: Sequence[Candidate], chosen: int, goal: Goal) -> list[str]:
    warnings = []
    if len(candidates) > 1 and chosen in (candidates[0].alpha, candidates[-1].alpha):
        warnings.append(f"alpha = {chosen} lies on the edge of the grid, a better one may lie beyond")
    rivals = _rivals(candidates, chosen)
    if not goal.smallest:
        reasons: dict[str | None, list[str]] = {}
        for each in candidates:
            if each.alpha in rivals:
                reasons.setdefault(each.difference.note, []).append(str(each.alpha))
        warnings += [
            f"alpha = {chosen} cannot be told apart in cost from {', '.join(names)} "
            f"at a confidence of {goal.confidence:g}{f' ({note})' if note else ''}"
            for note, names in reasons.items()
        ]
    best = next(each for each in candidates if each.alpha == chosen)
    for percentile, limit in goal.latency.items():
        name = quantiles([percentile])[0].name
        estimate = best.latency[name]
        if estimate.high is None:
            warnings.append(f"{name} has no interval ({estimate.note}), so its limit may be met by chance")
        elif estimate.high > limit:
            warnings.append(f"the limit of {limit:g} lies within the interval of {name}")
    return warnings
