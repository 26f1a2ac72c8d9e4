"""Prediction error of a run, the paper's guarantee and the certified ratio."""

from __future__ import annotations

import pytest
from refusal import refusal

from analysis.delta_pack import PackableError
from analysis.optimum import optimum
from analysis.optimum.bracket import Bracket
from analysis.robustness import Robustness, robustness
from policies import make_policy
from serving_sim import Run, StepTime, Workload, simulate


def backlog(length: list[int], upper: list[int] | None = None, lower: list[int] | None = None) -> Workload:
    return Workload([0.0] * len(length), length, lower=lower, upper=upper)


def robust_run(workload: Workload, *, slots: int = 2, alpha: int = 4, policy: str = "robust-isjl") -> Run:
    return simulate(workload, make_policy(policy, alpha=alpha), slots=slots)


def test_by_hand() -> None:
    # slacks 2, 0, 4; lengths 8 and 6 fit together, so 2 of the 4 are saved; all three on two slots
    # take at least ceil(16 / 2) = 8 steps
    workload = backlog([8, 2, 6], upper=[10, 2, 10], lower=[5, 1, 6])
    found = robustness(robust_run(workload))
    assert found.kappa == 0.5
    assert (found.delta, found.mean_slack) == (6, 6 / 16)
    assert found.delta_pack == PackableError(4, 4)
    assert found.claim is not None
    assert found.claim.optimum_lower == 8
    assert found.claim.theorem_3_22 == 0.75 / (1 + 4 / 8)
    assert found.claim.corollary_3_24 == 0.75 / (1 + 2 * 6 / 16)
    assert not found.claim.refuted


def test_without_lower_bounds_nothing_but_one_token_is_sure() -> None:
    assert robustness(robust_run(backlog([8, 2], upper=[10, 4]))).kappa == 0.1


def test_exact_predictions_recover_three_quarters() -> None:
    found = robustness(robust_run(backlog([8, 2, 6], upper=[8, 2, 6], lower=[8, 2, 6])))
    assert (found.kappa, found.delta, found.delta_pack) == (1.0, 0, PackableError(0, 0))
    assert found.claim is not None
    assert found.claim.theorem_3_22 == found.claim.corollary_3_24 == 0.75


def test_a_known_optimum_lifts_the_guarantee_of_the_paper() -> None:
    workload = backlog([10, 7, 7, 5, 1], upper=[12, 7, 9, 5, 1])
    run = robust_run(workload)
    best = optimum(workload.length, 2, 4, time_limit=30, solver="milp")
    assert best.proven
    bounded, exact = robustness(run).claim, robustness(run, best).claim
    assert bounded is not None
    assert exact is not None
    assert exact.optimum_lower == best.lower == 15
    assert exact.theorem_3_22 == 0.75 / (1 + 2 / 15)  # lengths 10 and 7, both with slack 2, go together
    assert exact.theorem_3_22 >= bounded.theorem_3_22


def test_the_guarantee_of_the_paper_can_be_refuted() -> None:
    # theorem 3.19, and with it theorem 3.22 for exact predictions, fails here: 51 steps against 38
    length = [23, 18, 17, 14, 2]
    run = robust_run(backlog(length, upper=length), alpha=11)
    assert run.steps == 51
    best = optimum(length, 2, 11, time_limit=30, solver="milp")
    assert best.upper == 38
    claim = robustness(run, best).claim
    assert claim is not None
    assert claim.refuted
    assert not robustness(run, Bracket(38, 39, best.start)).claim.refuted  # type: ignore[union-attr]


def test_the_certified_ratio_never_exceeds_the_true_one() -> None:
    length = [23, 18, 17, 14, 2]
    found = robustness(robust_run(backlog(length, upper=length), alpha=11))
    assert found.certified_ratio <= 38 / 51


def unclaimed(found: Robustness) -> bool:
    return found.claim is None and found.certified_ratio > 0


def test_the_paper_claims_nothing_for_other_runs() -> None:
    workload = backlog([8, 2, 6], upper=[10, 2, 10])
    assert unclaimed(robustness(robust_run(workload, policy="isjl")))
    assert unclaimed(robustness(robust_run(workload, slots=1)))
    later = Workload([0, 0, 3], [8, 2, 6], upper=[10, 2, 10])
    assert unclaimed(robustness(robust_run(later)))
    other_beta = make_policy("robust-isjl", alpha=4, beta=0)
    assert unclaimed(robustness(simulate(workload, other_beta, slots=2)))
    growing = StepTime(base=1, per_token=0.1)
    policy = make_policy("robust-isjl", alpha=4)
    assert unclaimed(robustness(simulate(workload, policy, slots=2, step_time=growing)))


def test_without_a_budget_nothing_can_be_packed() -> None:
    found = robustness(simulate(backlog([8, 2], upper=[10, 4]), make_policy("fcfs"), slots=2))
    assert found.delta_pack is None
    assert found.claim is None


def test_refusals() -> None:
    run = robust_run(backlog([8, 2]), policy="isjl")
    assert refusal(lambda: robustness(run)) == "upper: the requests of the run have no predictions"


@pytest.mark.parametrize("slack", [0, 3, 10])
def test_the_corollary_is_the_weaker_claim(slack: int) -> None:
    length = [20, 18, 11, 7, 5, 5]
    claim = robustness(robust_run(backlog(length, upper=[each + slack for each in length]))).claim
    assert claim is not None
    assert claim.corollary_3_24 <= claim.theorem_3_22
