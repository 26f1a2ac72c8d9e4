"""What predictions were worth, and what can be said about a run that relied on them.

Two numbers are kept apart. The *guarantee of the paper* (Yao and Zhou, theorem 3.22 and corollary
3.24) is what they claim for every instance with these predictions; it rests on theorem 3.19, which
is false for some instances, so it is a claim. The *certified ratio* is proven for this very run: a
lower bound that holds for every schedule, over the makespan.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.bounds import best_lower_bound, certify
from analysis.delta_pack import PackableError, packable_error
from analysis.optimum.bracket import Bracket
from serving_sim import Run, Workload
from serving_sim.request import exact_sum


@dataclass(frozen=True)
class ClaimedRatio:
    """What the paper claims for one instance.

    Attributes
    ----------
    optimum_lower : int
        Proven lower bound in steps on the best alpha-fair makespan, at which theorem 3.22 is evaluated.
        Its guarantee grows with the optimum, so it is no smaller at the optimum itself.
    theorem_3_22 : float
        Least optimum / makespan, from the packable error (its upper bound where it is not exact).
    corollary_3_24 : float
        The same from the mean slack alone.
    refuted : bool
        Whether the run is a counterexample to theorem 3.22; only a known schedule can show it.
    """

    optimum_lower: int
    theorem_3_22: float
    corollary_3_24: float
    refuted: bool


@dataclass(frozen=True)
class Robustness:
    """Prediction error of the requests of a run, and what follows for its makespan.

    Attributes
    ----------
    kappa : float
        Prediction-interval accuracy, the least ``lower / upper``.
    delta : int
        Sum of the slacks ``upper - length`` in tokens.
    mean_slack : float
        ``delta`` over the sum of the lengths.
    delta_pack : PackableError or None
        Packable residual prediction error in tokens; None without a fairness budget.
    claim : ClaimedRatio or None
        None where the paper claims nothing: it speaks of robust-isjl with beta = alpha, two slots or
        more, requests that are all there at the start, and steps that take equally long.
    certified_ratio : float
        Proven lower bound on the best makespan over that of this run (`analysis.bounds.certify`).
    """

    kappa: float
    delta: int
    mean_slack: float
    delta_pack: PackableError | None
    claim: ClaimedRatio | None
    certified_ratio: float


def robustness(run: Run, optimum: Bracket | None = None) -> Robustness:
    """Measure the predictions of a run and evaluate the guarantee of the paper on it.

    Parameters
    ----------
    run : Run
        A run that kept its requests; they have a column ``upper``. Without ``lower`` it is 1.
    optimum : Bracket, optional
        What is known of the least makespan (`analysis.optimum.optimum`); by default a lower bound
        alone (`analysis.bounds.best_lower_bound`).

    Raises
    ------
    ValueError
        If the requests went to a sink or have no upper predictions.
    """
    requests, alpha = run.requests, run.audit.alpha
    if requests is None:
        raise ValueError("run: its requests went to a sink; keep them in memory to judge predictions")
    if requests.upper is None:
        raise ValueError("upper: the requests of the run have no predictions")
    lower = 1 if requests.lower is None else requests.lower
    delta = exact_sum(requests.upper - requests.length)
    mean_slack = delta / requests.total_length
    pack = None if alpha is None else packable_error(requests.length, requests.upper, run.slots, alpha)
    claim = None if pack is None or not _claimed(run, requests) else _claim(run, pack, mean_slack, optimum)
    return Robustness(
        kappa=float(np.min(lower / requests.upper)),
        delta=delta,
        mean_slack=mean_slack,
        delta_pack=pack,
        claim=claim,
        certified_ratio=certify(run).ratio,
    )


def _claimed(run: Run, requests: Workload) -> bool:
    return (
        run.policy == f"robust-isjl:alpha={run.audit.alpha}"
        and run.slots >= 2
        and run.step_time.constant
        and not requests.release.any()
    )


def _claim(run: Run, pack: PackableError, mean_slack: float, optimum: Bracket | None) -> ClaimedRatio:
    assert run.requests is not None
    if optimum is None:
        least = int(best_lower_bound(run.requests.length, run.slots, run.audit.alpha).value)
    else:
        least = optimum.lower
    return ClaimedRatio(
        optimum_lower=least,
        theorem_3_22=0.75 / (1 + pack.upper / least),
        corollary_3_24=0.75 / (1 + run.slots * mean_slack),
        refuted=optimum is not None and 3 * run.steps > 4 * (optimum.upper + pack.upper),
    )
