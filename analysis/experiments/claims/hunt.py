"""Look for the case on which a promise holds by the least, or breaks by the most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.experiments.claims.cases import Case
from analysis.experiments.claims.claim import Budget
from analysis.experiments.claims.promises import Number, Promise

_Scored = tuple[Number, Case]


@dataclass(frozen=True)
class Trophy:
    """What a hunt brings home.

    Attributes
    ----------
    instances : int
        Cases looked at.
    worst : Case
        The one with the smallest margin.
    margin : Fraction or float
        Its margin. It is the smallest over all cases looked at: one is skipped only where the quick
        bound proves that its margin is no smaller.
    smallest : Case or None
        A case that breaks the promise and has no reduction that does; None where none breaks it.
    """

    instances: int
    worst: Case
    margin: Number
    smallest: Case | None


def hunt(
    promise: Promise,
    rng: np.random.Generator,
    budget: Budget,
    *,
    restarts: int = 2,
    draws: int = 300,
    climbs: int = 150,
) -> Trophy:
    """Hill climbing, each time from the best of random draws.

    It starts ``restarts`` times, or fewer once the promise is broken; a larger budget goes on.
    """
    found: list[_Scored] = []
    while len(found) < budget.of(restarts):
        found.append(_climb(promise, rng, _best_draw(promise, rng, draws), climbs))
        if len(found) >= budget.effort and min(found, key=_margin)[0] < 0:
            break
    margin, worst = min(found, key=_margin)
    return Trophy(
        instances=len(found) * (draws + climbs),
        worst=worst,
        margin=margin,
        smallest=shrink(promise, worst) if margin < 0 else None,
    )


def shrink(promise: Promise, case: Case) -> Case:
    """Reduce a case for as long as it breaks the promise."""
    while True:
        broken = (smaller for smaller in promise.space.smaller(case) if _breaks(promise, case, smaller))
        reduced = next(broken, None)
        if reduced is None:
            return case
        case = reduced


def _breaks(promise: Promise, case: Case, smaller: Case) -> bool:
    return smaller != case and promise.margin_at_least(smaller) < 0 and promise.margin(smaller) < 0


def _best_draw(promise: Promise, rng: np.random.Generator, draws: int) -> _Scored:
    case = promise.space.draw(rng)
    best: _Scored = promise.margin(case), case
    for _ in range(draws - 1):
        case = promise.space.draw(rng)
        if promise.margin_at_least(case) < best[0]:
            best = min(best, (promise.margin(case), case), key=_margin)
    return best


def _climb(promise: Promise, rng: np.random.Generator, best: _Scored, climbs: int) -> _Scored:
    for _ in range(climbs):
        neighbour = promise.space.vary(rng, best[1])
        if promise.margin_at_least(neighbour) <= best[0]:
            margin = promise.margin(neighbour)
            if margin <= best[0]:  # equal ones too: plateaus are wide
                best = margin, neighbour
    return best


def _margin(scored: _Scored) -> Number:
    return scored[0]
