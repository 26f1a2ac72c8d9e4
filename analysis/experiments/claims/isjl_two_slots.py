"""Section 3.2: insert short jobs with limit on two slots."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from analysis.experiments.claims.cases import AROUND_HALF, Case, Space
from analysis.experiments.claims.claim import Budget, Claim, Kind, Verdict
from analysis.experiments.claims.hunt import hunt
from analysis.experiments.claims.promises import Fairness, Share
from analysis.experiments.claims.schedules import least_makespan, serve
from analysis.experiments.claims.verdicts import described, fairness, ratio, shares
from policies import ISJL, LPT
from workloads.adversaries import jigsaw

_BETA = (math.sqrt(17) - 1) / 4
"""The paper's best packing allowance, in units of alpha."""

_BEST = (25 + math.sqrt(17)) / 38
"""The share it is meant to guarantee."""

_LEFTOVERS = (
    "the proof compares a pack with later requests no longer than the pack; a longer one that would have "
    "fitted beside the first long is left over too"
)


def over_inserting_share(beta: Fraction) -> Fraction:
    """Bound of lemma 3.12; ``beta`` in units of alpha."""
    if beta <= 1:
        return (1 + 2 * beta) / (1 + 3 * beta)
    return (2 + beta) / (2 + 2 * beta)


def under_inserting_share(beta: Fraction) -> Fraction:
    """Bound of lemma 3.14; ``beta`` in units of alpha."""
    return 4 / (6 - beta)


def stage_share(beta: Fraction) -> Fraction:
    """Bound of theorem 3.9; ``beta`` in units of alpha."""
    return min(over_inserting_share(beta), under_inserting_share(beta))


def _fair(rng: np.random.Generator, budget: Budget) -> Verdict:
    promise = Fairness(
        Space(slots=(2,), most=9),
        lambda case: ISJL(case.instance.alpha, beta="optimal"),
    )
    return fairness(promise, hunt(promise, rng, budget), why="")


def _theorem(rng: np.random.Generator, budget: Budget) -> Verdict:
    betas = [Fraction(quarter, 4) for quarter in (0, 2, 4, 6, 8)]
    hunts = []
    for beta in betas:
        promise = Share(AROUND_HALF, partial(_isjl, beta), partial(whole_share, beta))
        hunts.append((promise, hunt(promise, rng, budget, restarts=1, draws=150, climbs=80)))
    best = _optimal_beta()
    return shares([*hunts, (best, hunt(best, rng, budget, restarts=4))], why=_LEFTOVERS)


def _best_guarantee(rng: np.random.Generator, budget: Budget) -> Verdict:
    promise = _optimal_beta()
    return shares([(promise, hunt(promise, rng, budget, restarts=4))], why=_LEFTOVERS)


def _best_beta(_rng: np.random.Generator, _budget: Budget) -> Verdict:
    over, under = (1 + 2 * _BETA) / (1 + 3 * _BETA), 4 / (6 - _BETA)
    grid = [float(stage_share(Fraction(step, 1000))) for step in range(2001)]
    error = max(abs(over - _BEST), abs(under - _BEST))
    at = grid.index(max(grid)) / 1000
    good = error < 1e-12 and max(grid) <= _BEST and abs(at - _BETA) < 1e-3
    return Verdict(
        Kind.REPRODUCED if good else Kind.FAILS,
        f"both bounds are {_BEST:.6f} at beta = {_BETA:.6f} alpha to twelve digits; of 2,001 values of beta "
        f"{at:g} alpha has the largest bound",
        len(grid),
        _BEST - max(grid),
    )


def _naive_beta(rng: np.random.Generator, budget: Budget) -> Verdict:
    over, under = over_inserting_share(Fraction(1)), under_inserting_share(Fraction(1))
    assert (over, under) == (Fraction(3, 4), Fraction(4, 5)), "the arithmetic of the remark"
    promise = Share(AROUND_HALF, partial(_isjl, Fraction(1)), partial(_constant, over))
    return shares([(promise, hunt(promise, rng, budget, restarts=12))], why=_LEFTOVERS)


def _over_inserting(_rng: np.random.Generator, budget: Budget) -> Verdict:
    def worst(alpha: int, beta: int) -> Fraction | None:
        longest = 5 * alpha
        first, second, pack = _grid(longest, longest, 2 * alpha)
        left_over = np.arange(1, 2 * alpha + 1)[:, None, None, None]
        allowed = (second <= first) & (pack <= second) & (left_over <= pack)
        allowed = allowed & (pack <= np.minimum(first - second + beta, 2 * alpha))
        allowed = allowed & (first > np.minimum(2 * alpha, pack + alpha)) & (second + pack > first)
        return _least(first + pack, second + pack + left_over, allowed)

    return _region(worst, over_inserting_share, alpha=6 + 2 * (budget.effort > 1))


def _under_inserting(_rng: np.random.Generator, budget: Budget) -> Verdict:
    def worst(alpha: int, beta: int) -> Fraction | None:
        longest = 5 * alpha
        first, second, pack = _grid(longest, longest, 2 * alpha)
        allowed = (second <= first) & (pack <= second) & (first - second + beta < pack)
        return _least(second + pack, first + pack, allowed)

    return _region(worst, under_inserting_share, alpha=12 + 12 * (budget.effort > 1))


def _region(
    worst: Callable[[int, int], Fraction | None], share: Callable[[Fraction], Fraction], alpha: int
) -> Verdict:
    """The least ratio over a grid of stages, for every whole beta from 0 to 2 alpha."""
    found = {beta: worst(alpha, beta) for beta in range(2 * alpha + 1)}
    margins = {
        beta: least - share(Fraction(beta, alpha)) for beta, least in found.items() if least is not None
    }
    beta, margin = min(margins.items(), key=lambda item: item[1])
    kind = Kind.HOLDS if margin >= 0 else Kind.FAILS
    evidence = (
        f"all whole stages with alpha = {alpha}: the least ratio over the bound is at beta = {beta}, "
        f"{float(margin):.4f} above it; the gap closes as the grid gets finer"
    )
    return Verdict(kind, evidence, len(margins), float(margin))


def _grid(*longest: int) -> list[np.ndarray[tuple[int, ...], np.dtype[np.int64]]]:
    return list(np.meshgrid(*(np.arange(1, most + 1) for most in longest), indexing="ij", sparse=True))


def _least(
    above: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    below: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    allowed: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
) -> Fraction | None:
    above, below, allowed = np.broadcast_arrays(above, below, allowed)
    if not allowed.any():  # without an allowance nothing is ever inserted
        return None
    place = int(np.argmin(np.where(allowed, above / below, np.inf)))
    return Fraction(int(above.flat[place]), int(below.flat[place]))


def _graham(rng: np.random.Generator, budget: Budget) -> Verdict:
    promise = Share(
        Space(slots=(2, 3), most=8, gamma=None),
        lambda _: LPT(),
        lambda case: 1 / (Fraction(4, 3) - Fraction(1, 3 * case.instance.slots)),
    )
    verdict = shares([(promise, hunt(promise, rng, budget, restarts=2, climbs=100))], why="")
    tight = []
    for slots in (2, 3, 4):
        instance = jigsaw(slots)
        tight.append(ratio(Fraction(least_makespan(instance).upper, serve(Case(instance), LPT()).steps)))
    return Verdict(
        verdict.kind,
        f"{verdict.evidence}; the jigsaw reaches {', '.join(tight)} for B = 2, 3, 4",
        verdict.instances + len(tight),
        verdict.margin,
        verdict.counterexample,
        verdict.why,
    )


def _no_limit_is_lpt(rng: np.random.Generator, budget: Budget) -> Verdict:
    space = Space(slots=(2, 3, 4), most=20, gamma=None)
    count = budget.of(200)
    for turn in range(count):
        case = space.draw(rng)
        mine, greedy = serve(case, ISJL(case.instance.alpha)), serve(case, LPT())
        if mine.start.tolist() != greedy.start.tolist():
            return Verdict(Kind.FAILS, f"{described(case)}: the schedules differ", turn + 1)
    return Verdict(Kind.EXACT, "request by request the schedule of longest processing time", count, 0.0)


def _optimal_beta() -> Share:
    return Share(
        AROUND_HALF, lambda case: ISJL(case.instance.alpha, beta="optimal"), partial(whole_share, _BETA)
    )


def _isjl(beta: Fraction, case: Case) -> ISJL:
    return ISJL(case.instance.alpha, beta=math.floor(beta * case.instance.alpha))


def whole_share(beta: Fraction | float, case: Case) -> Fraction:
    """What theorem 3.9 promises at the whole beta that the algorithm has in the case.

    Lengths are whole, so an allowance of 3.12 tokens packs what 3 tokens do, and the promise of 3 / alpha is
    all that can be asked.
    """
    alpha = case.instance.alpha
    return stage_share(Fraction(math.floor(beta * alpha), alpha) if alpha else Fraction(0))


def _constant(share: float | Fraction, _case: Case) -> float | Fraction:
    return share


CLAIMS = (
    Claim(
        "Algorithm 2",
        "ISJL on two slots keeps constraint (1).",
        _fair,
        assumes="two slots, all released at 0",
        tested="isjl, beta = 0.78 alpha (printed and guarded agree on two slots)",
    ),
    Claim(
        "Theorem 3.9",
        "On two slots ISJL reaches at least min((1 + 2b) / (1 + 3b), 4 / (6 - b)) of the optimal throughput, "
        "b = beta / alpha up to 1, and min((2 + b) / (2 + 2b), 4 / (6 - b)) above.",
        _theorem,
        assumes="two slots, all released at 0",
        reading="Tried for b = 0, 1/2, 0.78, 1, 3/2 and 2; lengths are whole, so beta counts as its floor, "
        "and an instance is held against the share at floor(beta) / alpha.",
        tested="isjl",
        needs_optimum=True,
    ),
    Claim(
        "Lemma 3.12",
        "Over-inserting in a stage costs no more than the first of the two bounds of theorem 3.9.",
        _over_inserting,
        assumes="the four lengths and the constraints that the proof lists",
        reading="The statement of the proof: the least of (L + P) / (S + P + Q) over its region. Whether the "
        "region covers what the algorithm does is decided by theorem 3.9.",
    ),
    Claim(
        "Lemma 3.14",
        "Under-inserting in a stage costs no more than 4 alpha / (6 alpha - beta).",
        _under_inserting,
        assumes="the three lengths and the constraints that the proof lists",
        reading="As for lemma 3.12: the least of (S + P) / (L + P) over the region.",
    ),
    Claim(
        "Proposition 3.16",
        "Without a limit on the gap Phase TWO needs at most 4/3 - 1/(3 B) times the optimal makespan.",
        _graham,
        assumes="all released at 0, no fairness; Graham (1969), theorem 2",
        tested="lpt",
        needs_optimum=True,
    ),
    Claim(
        "Proposition 3.16 (Phase TWO is LPT)",
        "Without a limit on the gap ISJL is longest processing time first.",
        _no_limit_is_lpt,
        assumes="alpha at least the longest length, all released at 0",
        reading="The paper uses it when it applies Graham's bound to Phase TWO.",
        tested="isjl",
    ),
    Claim(
        "Remark 3.17 (arithmetic)",
        "The two bounds of theorem 3.9 meet at beta = (sqrt(17) - 1) / 4 alpha, where the smaller one is "
        "largest: (25 + sqrt(17)) / 38.",
        _best_beta,
        assumes="the formulas of theorem 3.9",
    ),
    Claim(
        "Remark 3.17",
        "With that beta ISJL reaches at least 0.766 of the optimal throughput on two slots.",
        _best_guarantee,
        assumes="two slots, all released at 0",
        reading="As for theorem 3.9: beta counts as its floor, which promises no more than 0.766.",
        tested="isjl, beta = 0.78 alpha",
        needs_optimum=True,
    ),
    Claim(
        "Remark 3.18",
        "With beta = alpha the bounds are 4/5 and 3/4, so ISJL reaches 3/4 on two slots.",
        _naive_beta,
        assumes="two slots, all released at 0",
        tested="isjl, beta = alpha",
        needs_optimum=True,
    ),
)
