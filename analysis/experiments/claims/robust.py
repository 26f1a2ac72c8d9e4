"""Section 3.4: planning with upper predictions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from analysis.delta_pack import packable_error
from analysis.experiments.claims.cases import Case, Space
from analysis.experiments.claims.claim import Budget, Claim, Kind, Verdict
from analysis.experiments.claims.hunt import hunt
from analysis.experiments.claims.isjl_general import GUARD, as_printed
from analysis.experiments.claims.promises import Difference, Fairness, Share
from analysis.experiments.claims.schedules import by_itself, least_makespan, serve
from analysis.experiments.claims.verdicts import described, exact, fairness, shares
from policies import ISJL, RobustISJL

_UNCERTAIN = Space(slots=(3, 4), most=7, slack=0)
_ALWAYS_WRONG = Space(slots=(3,), most=6, slack=1)
_TINY = Space(slots=(2,), most=4, longest=8, slack=0)

_SYMBOL = "(T_OPT + Delta_pack) / T"

_THEOREM_3_19 = "it rests on theorem 3.19, which is false"


def _three_quarters(_case: Case) -> Fraction:
    return Fraction(3, 4)


def _robust(case: Case) -> RobustISJL:
    return RobustISJL(case.instance.alpha)


def _guarded_is_fair(rng: np.random.Generator, budget: Budget) -> Verdict:
    promise = Fairness(Space(slots=(2, 3, 4, 6), most=10, slack=0), _robust)
    return fairness(promise, hunt(promise, rng, budget), why="")


def _printed_is_fair(rng: np.random.Generator, budget: Budget) -> Verdict:
    promise = Fairness(Space(slots=(2, 3, 4, 6), most=10, slack=0), as_printed)
    return fairness(promise, hunt(promise, rng, budget), why=GUARD)


def _theorem(rng: np.random.Generator, budget: Budget) -> Verdict:
    promise = Share(_UNCERTAIN, _robust, _three_quarters, packable, _SYMBOL)
    return shares([(promise, hunt(promise, rng, budget, restarts=3))], why=_THEOREM_3_19)


def _theorem_with_errors(rng: np.random.Generator, budget: Budget) -> Verdict:
    promise = Share(_ALWAYS_WRONG, _robust, _three_quarters, packable, _SYMBOL)
    return shares([(promise, hunt(promise, rng, budget, restarts=8))], why=_THEOREM_3_19)


def _realized_is_shorter(rng: np.random.Generator, budget: Budget) -> Verdict:
    def steps(case: Case) -> tuple[int, int]:
        return serve(Case(case.predicted), ISJL(case.instance.alpha)).steps, serve(case, _robust(case)).steps

    def saved(case: Case) -> float:
        planned, realized = steps(case)
        return float(planned - realized)

    promise = Difference(Space(slots=(3,), most=6, slack=0), saved)
    trophy = hunt(promise, rng, budget, restarts=20, draws=200)
    case = trophy.smallest
    if case is None:
        return Verdict(Kind.HOLDS, described(trophy.worst), trophy.instances, float(trophy.margin))
    planned, realized = steps(case)
    return Verdict(
        Kind.FAILS,
        f"{described(case)}: {realized} steps, and {planned} if the predictions were the lengths",
        trophy.instances,
        float(trophy.margin),
        by_itself(case, _robust(case)),
        why="decisions react to a request that ends early: the next one starts sooner, and its progress then "
        "keeps another out",
    )


def _optimum_of_predictions(rng: np.random.Generator, budget: Budget) -> Verdict:
    def spare(case: Case) -> float:
        realized, predicted = least_makespan(case.instance), least_makespan(case.predicted)
        return float(realized.upper + packable(case) - predicted.upper)

    trophy = hunt(Difference(_TINY, spare), rng, budget, draws=60, climbs=60)
    case = trophy.smallest
    if case is None:
        return Verdict(
            Kind.HOLDS,
            f"closest for {described(trophy.worst)}",
            trophy.instances,
            float(trophy.margin),
        )
    realized, predicted = least_makespan(case.instance), least_makespan(case.predicted)
    return Verdict(
        Kind.FAILS,
        f"{described(case)}: {realized.upper} steps and a packable error of {packable(case)}, but the "
        f"predicted lengths need {predicted.upper}",
        trophy.instances,
        float(trophy.margin),
        why="the proof resumes requests that have left; service is nonpreemptive, so what it builds is no "
        "schedule of the predicted lengths",
    )


def _stretching(rng: np.random.Generator, budget: Budget) -> Verdict:
    def spare(case: Case) -> Fraction:
        realized, predicted = least_makespan(case.instance), least_makespan(case.predicted)
        return stretch(case) * realized.upper - predicted.upper

    promise = Difference(_TINY, spare)
    trophy = hunt(promise, rng, budget, draws=60, climbs=60)
    case = trophy.smallest
    if case is None:
        return Verdict(
            Kind.NOT_TESTABLE,
            "no instance tried shows it",
            trophy.instances,
            why="more instances may: --thorough",
        )
    realized, predicted = least_makespan(case.instance), least_makespan(case.predicted)
    return Verdict(
        Kind.HOLDS,
        f"{described(case)}: the optimum grows from {realized.upper} to {predicted.upper} steps, the "
        f"predictions by a factor of {stretch(case)} at most",
        trophy.instances,
    )


def _corollary(rng: np.random.Generator, budget: Budget) -> Verdict:
    def share(case: Case) -> Fraction:
        tokens = sum(case.instance.lengths)
        slack = sum(row.slack for row in case.rows)
        return Fraction(3, 4) / (1 + case.instance.slots * Fraction(slack, tokens))

    promise = Share(_UNCERTAIN, _robust, share)
    return shares([(promise, hunt(promise, rng, budget, restarts=3))], why=_THEOREM_3_19)


def _remark(rng: np.random.Generator, budget: Budget) -> Verdict:
    count = budget.of(200)
    for turn in range(count):
        requests, slots = int(rng.integers(1, 15)), int(rng.integers(1, 6))
        alpha, error = int(rng.integers(0, 30)), int(rng.integers(1, 50))
        lengths = rng.integers(40, 41 + alpha, requests)
        found = packable_error(lengths, lengths + error, slots, alpha)
        if (found.lower, found.upper) != (-(-requests // slots) * error,) * 2:
            return exact("", turn + 1, broken=f"{requests} requests, B = {slots}, error {error}: {found}")
    return exact("Delta is n e by definition, the packable error is ceil(n / B) e", count)


def packable(case: Case) -> int:
    """The packable residual prediction error; exact at this size."""
    assert case.upper is not None
    found = packable_error(case.instance.lengths, case.upper, case.instance.slots, case.instance.alpha)
    assert found.exact
    return found.upper


def stretch(case: Case) -> Fraction:
    """1 / kappa with the lengths as lower ends: the largest upper prediction over its length."""
    return max(Fraction(row.length + row.slack, row.length) for row in case.rows)


CLAIMS = (
    Claim(
        "Theorem 3.21",
        "Robust-ISJL keeps constraint (1) whatever the predictions.",
        _guarded_is_fair,
        assumes="upper predictions, all released at 0",
        reading="With the guard in Phase ONE, which looks at real progress.",
        tested="robust-isjl",
    ),
    Claim(
        "Theorem 3.21 (as printed)",
        "The same without the guard.",
        _printed_is_fair,
        assumes="upper predictions, all released at 0",
        reading="Algorithm 3 as printed, with upper predictions in the place of lengths.",
        tested="isjl-as-printed",
    ),
    Claim(
        "Section 3.4 (stretching)",
        "The optimum of the predictions can exceed that of the lengths by more than the largest factor "
        "between them.",
        _stretching,
        assumes="kappa taken with the true lengths as lower ends",
        needs_optimum=True,
    ),
    Claim(
        "Theorem 3.22",
        "Robust-ISJL needs at most 4/3 (T_OPT + Delta_pack) steps.",
        _theorem,
        assumes="upper predictions, all released at 0; tried for B = 3 and 4",
        reading="Margins are those of (T_OPT + Delta_pack) / T - 3/4.",
        tested="robust-isjl",
        needs_optimum=True,
    ),
    Claim(
        "Theorem 3.22 (every prediction wrong)",
        "The same where no prediction is exact.",
        _theorem_with_errors,
        assumes="upper predictions above every length, all released at 0, B = 3",
        tested="robust-isjl",
        needs_optimum=True,
    ),
    Claim(
        "Theorem 3.22 (step 1)",
        "Robust-ISJL never needs more steps than ISJL on the instance of the predictions.",
        _realized_is_shorter,
        assumes="a step of the proof",
        tested="robust-isjl",
    ),
    Claim(
        "Theorem 3.22 (step 3)",
        "The optimum of the predictions is at most the optimum of the lengths plus the packable error.",
        _optimum_of_predictions,
        assumes="a step of the proof; nonpreemptive service",
        needs_optimum=True,
    ),
    Claim(
        "Corollary 3.24",
        "Robust-ISJL reaches at least 3/4 / (1 + B e) of the optimal throughput, e the slack per token.",
        _corollary,
        assumes="upper predictions, all released at 0; tried for B = 3 and 4",
        tested="robust-isjl",
        needs_optimum=True,
    ),
    Claim(
        "Remark 3.25",
        "If all lengths lie within alpha of each other and all errors are e, Delta is n e and the packable "
        "error ceil(n / B) e.",
        _remark,
        assumes="up to 14 requests",
    ),
)
