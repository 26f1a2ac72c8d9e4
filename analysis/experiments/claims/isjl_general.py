"""Section 3.3: insert short jobs with limit on any number of slots."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from analysis.experiments.claims.cases import AROUND_HALF, Case, Space
from analysis.experiments.claims.claim import Budget, Claim, Verdict
from analysis.experiments.claims.hunt import hunt
from analysis.experiments.claims.promises import Fairness, PolicyFor, Share
from analysis.experiments.claims.verdicts import fairness, shares
from policies import ISJL, ISJLAsPrinted

_ALPHA_FAIR = Space(slots=(2, 3, 4, 6), most=10)

GUARD = (
    "Phase ONE starts packs and longs without any test: a long whose pack is empty starts at once, another "
    "up to 2 alpha later; the proofs look at Phase TWO only"
)
"""Why the printed algorithm breaks constraint (1)."""

PAIRS = (
    "the proof looks at the longest request and one other at a time; the longs of all slots are held for the "
    "longest pack, and what Phase TWO finds left over may be longer than any pack"
)
"""Why theorem 3.19 fails."""


def guarded(case: Case) -> ISJL:
    """ISJL that keeps constraint (1)."""
    return ISJL(case.instance.alpha)


def as_printed(case: Case) -> ISJLAsPrinted:
    """ISJL as algorithm 3 is printed."""
    return ISJLAsPrinted(case.instance.alpha)


def _guarded_is_fair(rng: np.random.Generator, budget: Budget) -> Verdict:
    promise = Fairness(_ALPHA_FAIR, guarded)
    return fairness(promise, hunt(promise, rng, budget), why="")


def _printed_is_fair(rng: np.random.Generator, budget: Budget) -> Verdict:
    promise = Fairness(_ALPHA_FAIR, as_printed)
    return fairness(promise, hunt(promise, rng, budget), why=GUARD)


def _printed_is_fair_on_two(rng: np.random.Generator, budget: Budget) -> Verdict:
    promise = Fairness(Space(slots=(2,), most=10), as_printed)
    return fairness(promise, hunt(promise, rng, budget), why="")


def _two(rng: np.random.Generator, budget: Budget) -> Verdict:
    promise = _three_quarters(AROUND_HALF, guarded)
    return shares([(promise, hunt(promise, rng, budget, restarts=12))], why=PAIRS)


def _three(rng: np.random.Generator, budget: Budget) -> Verdict:
    return _share(3, guarded, rng, budget)


def _four(rng: np.random.Generator, budget: Budget) -> Verdict:
    return _share(4, guarded, rng, budget)


def _printed(rng: np.random.Generator, budget: Budget) -> Verdict:
    return _share(3, as_printed, rng, budget)


def _share(slots: int, policy: PolicyFor, rng: np.random.Generator, budget: Budget) -> Verdict:
    promise = _three_quarters(Space(slots=(slots,), most=slots + 4), policy)
    return shares([(promise, hunt(promise, rng, budget, restarts=3))], why=PAIRS)


def _three_quarters(space: Space, policy: PolicyFor) -> Share:
    return Share(space, policy, lambda _: Fraction(3, 4))


CLAIMS = (
    Claim(
        "Algorithm 3 (fairness, guarded)",
        "ISJL keeps constraint (1).",
        _guarded_is_fair,
        assumes="2, 3, 4 and 6 slots, all released at 0",
        reading="With a guard in Phase ONE that the paper does not print.",
        tested="isjl",
    ),
    Claim(
        "Algorithm 3 (fairness, as printed)",
        "ISJL keeps constraint (1): the packing budgets and the prefix of alpha tokens see to it.",
        _printed_is_fair,
        assumes="2, 3, 4 and 6 slots, all released at 0",
        reading="Phase ONE starts what it says, when it says; Phase TWO keeps its test.",
        tested="isjl-as-printed",
    ),
    Claim(
        "Algorithm 3 (fairness, as printed, B = 2)",
        "The same on two slots.",
        _printed_is_fair_on_two,
        assumes="two slots, all released at 0",
        tested="isjl-as-printed",
    ),
    Claim(
        "Theorem 3.19",
        "ISJL reaches at least 3/4 of the optimal throughput, here on two slots.",
        _two,
        assumes="B = 2, all released at 0, beta = alpha",
        reading="On two slots the guarded and the printed algorithm are the same.",
        tested="isjl",
        needs_optimum=True,
    ),
    Claim(
        "Theorem 3.19 (B = 3)",
        "The same on three slots.",
        _three,
        assumes="B = 3, all released at 0",
        reading="Guarded: the printed algorithm can leave the schedules that the theorem compares with.",
        tested="isjl",
        needs_optimum=True,
    ),
    Claim(
        "Theorem 3.19 (B = 4)",
        "The same on four slots.",
        _four,
        assumes="B = 4, all released at 0",
        reading="Guarded, as for three slots.",
        tested="isjl",
        needs_optimum=True,
    ),
    Claim(
        "Theorem 3.19 (as printed, B = 3)",
        "The same on three slots without the guard.",
        _printed,
        assumes="B = 3, all released at 0",
        reading="The printed algorithm may break constraint (1), the optimum it is held against may not.",
        tested="isjl-as-printed",
        needs_optimum=True,
    ),
)
