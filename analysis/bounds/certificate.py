"""How far a finished run can be from the best schedule of its requests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.bounds.best import Bound, best_over_releases, best_steps
from analysis.bounds.pool import Pool
from analysis.bounds.steps import drains
from serving_sim.record import Run
from serving_sim.request import Workload, intrinsic_work
from serving_sim.steptime import StepTime


@dataclass(frozen=True)
class Certificate:
    """A makespan beside a bound that no schedule under the same rules can beat.

    Attributes
    ----------
    makespan : float
        Last finish of the run, in time units from 0.
    lower_bound : float
        Proven lower bound on the makespan of any schedule of these requests: nonpreemptive, on the
        same slots, with the same step time, and alpha-fair where ``alpha`` is given.
    bound_name : str
        Which bound gave it: a key of `analysis.bounds.steps.BOUNDS`.
    since : float
        Instant the bound counts from: a release, on a grid of steps the first whole step from it on.
    alpha : int or None
        Fairness budget that the schedules compared with keep; None admits all.
    """

    makespan: float
    lower_bound: float
    bound_name: str
    since: float
    alpha: int | None

    @property
    def ratio(self) -> float:
        """Share of the best throughput the run is sure to have: lower bound over makespan.

        Never above the paper's competitive ratio T_OPT / T of this instance.
        """
        return min(self.lower_bound / self.makespan, 1.0)  # off the grid the run may round down


def certify(run: Run) -> Certificate:
    """Certificate of a finished run, for any affine step time.

    The run is held against alpha-fair schedules where its audit found it fair, and against all
    schedules where it did not or was given no budget.

    Raises
    ------
    ValueError
        If the run's requests went to a sink.

    Notes
    -----
    In any schedule a step takes ``base + per_request |S| + per_max_token max r + per_token sum r``.
    Over the steps that serve given requests the second and the last term add up to fixed totals,
    ``sum o`` and Q (Yao and Zhou, equation 5); the steps and the sum of ``max r`` have bounds. Other
    requests in the batch only add to it.
    """
    workload = run.requests
    if workload is None:
        raise ValueError("run: its requests went to a sink; keep them in memory to certify it")
    alpha = run.audit.alpha if run.audit.fair else None
    pool = Pool(workload.length, run.slots, alpha)
    bound = (
        _bound_on_grid(workload, pool, run.step_time)
        if run.slotted
        else _bound(workload, pool, run.step_time)
    )
    return Certificate(run.makespan, float(bound.value), bound.name, float(bound.since), alpha)


def _bound(workload: Workload, pool: Pool, step_time: StepTime) -> Bound:
    return best_over_releases(workload, workload.release, pool, lambda part: _least_time(part, step_time))


def _bound_on_grid(workload: Workload, pool: Pool, step_time: StepTime) -> Bound:
    """The bound in whole steps, dated as the run dates them: not even rounding lifts it above a makespan."""
    pace = step_time.pace(0, 0, 0)
    instants, rank = np.unique(workload.release, return_inverse=True)
    ticks = np.array([pace.steps_to_reach(0.0, instant) for instant in instants.tolist()], np.float64)
    bound = best_over_releases(workload, ticks[rank], pool, best_steps)
    return Bound(pace.elapsed(int(bound.value)), bound.name, pace.elapsed(int(bound.since)))


def _least_time(pool: Pool, step_time: StepTime) -> tuple[float, str]:
    steps, name = best_steps(pool)
    return (
        step_time.base * steps
        + step_time.per_request * pool.tokens
        + step_time.per_max_token * _least_peak(pool)
        + step_time.per_token * pool.intrinsic
    ), name


def _least_peak(pool: Pool) -> int:
    """Lower bound on the sum over steps of ``max r``, with r = progress + 1.

    The maximum is at least the mean over the slots; and a step of level a counts a + 1, with the
    numbers of steps a level of `analysis.bounds.steps.drain_bound`.
    """
    mean = -(-pool.intrinsic // pool.slots)
    leaders = pool.leaders_above(pool.alpha)
    below = min(pool.alpha, pool.longest)
    levels = drains(pool) * _triangle(below) + intrinsic_work(leaders) - len(leaders) * _triangle(pool.alpha)
    return max(mean, levels)


def _triangle(number: int) -> int:
    return number * (number + 1) // 2
