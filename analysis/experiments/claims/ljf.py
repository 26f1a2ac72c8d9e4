"""Section 3.1: longest job first."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np

from analysis.experiments.claims.cases import Case, Space
from analysis.experiments.claims.claim import Budget, Claim, Kind, Verdict
from analysis.experiments.claims.hunt import hunt
from analysis.experiments.claims.promises import Share
from analysis.experiments.claims.schedules import least_makespan, serve
from analysis.experiments.claims.verdicts import described, exact, ratio, shares
from policies import FCFS, LJF, LPT, SJF
from workloads.adversaries import static_waste

_ANY = Space(slots=(1, 2, 3, 4, 6), most=25, longest=60)
_ONLINE = Space(slots=(1, 2, 3, 4, 6), most=25, longest=60, released=True)


def bound(slots: int) -> Fraction:
    """B / (2 B - 1)."""
    return Fraction(slots, 2 * slots - 1)


def _fair(rng: np.random.Generator, budget: Budget) -> Verdict:
    count = budget.of(400)
    for turn in range(count):
        case = (_ONLINE if turn % 2 else _ANY).draw(rng)
        run = serve(case, LJF())
        if run.max_gap:
            return exact("", turn + 1, broken=f"{described(case)}: gap {run.max_gap}")
    return exact("every gap is 0, half of the runs with arrivals", count)


def _makespan(rng: np.random.Generator, budget: Budget) -> Verdict:
    count = budget.of(400)
    for turn in range(count):
        case = _ANY.draw(rng)
        lengths = sorted(case.instance.lengths, reverse=True)
        expected = sum(lengths[:: case.instance.slots])
        steps = serve(case, LJF()).steps
        if steps != expected:
            return exact("", turn + 1, broken=f"{described(case)}: {steps} steps, not {expected}")
    return exact("T is the sum of every B-th length, from the longest", count)


def _equivalence(rng: np.random.Generator, budget: Budget) -> Verdict:
    count = budget.of(200)
    for turn in range(count):
        case = _ANY.draw(rng)
        runs = sorted(
            (serve(case, policy) for policy in (FCFS(), SJF(), LPT(), LJF())), key=lambda run: run.steps
        )
        rates = [Fraction(run.totals.tokens, run.steps) for run in runs]
        if any(
            (left.steps < right.steps) != (high > low)
            for (left, right), (high, low) in zip(pairwise(runs), pairwise(rates), strict=True)
        ):
            return exact("", turn + 1, broken=described(case))
    return exact(
        "four schedules an instance: the order by throughput is the order by makespan reversed", count
    )


def _share(rng: np.random.Generator, budget: Budget) -> Verdict:
    promise = Share(Space(slots=(2, 3, 4)), lambda _: LJF(), lambda case: bound(case.instance.slots))
    return shares([(promise, hunt(promise, rng, budget))], why="")


def _tight(_rng: np.random.Generator, _budget: Budget) -> Verdict:
    slots = range(1, 9)
    for count in slots:
        instance = static_waste(count)
        reached = Fraction(least_makespan(instance).upper, serve(Case(instance), LJF()).steps)
        if reached != bound(count):
            return Verdict(
                Kind.FAILS, f"{described(instance)}: {ratio(reached)}, not {bound(count)}", len(slots)
            )
    return Verdict(
        Kind.EXACT,
        "one request of B and B (B - 1) of 1 reach exactly B / (2 B - 1) for B = 1 .. 8",
        len(slots),
        margin=0.0,
    )


def _falls_with_slots(_rng: np.random.Generator, _budget: Budget) -> Verdict:
    reached = []
    for slots in range(2, 9):
        instance = static_waste(slots)
        reached.append(Fraction(instance.lengths[0], serve(Case(instance), LJF()).steps))
    falls = all(right < left for left, right in pairwise(reached)) and reached[0] == Fraction(2, 3)
    return Verdict(
        Kind.EXACT if falls else Kind.FAILS,
        f"worst cases for B = 2 .. 8: {', '.join(map(str, reached))}",
        len(reached),
    )


CLAIMS = (
    Claim(
        "Proposition 3.1",
        "LJF never lets two active requests differ in progress, so it is fair for every alpha.",
        _fair,
        assumes="any requests, any slots",
        tested="ljf",
    ),
    Claim(
        "Lemma 3.5",
        "Maximal throughput and minimal makespan are the same thing.",
        _equivalence,
        assumes="the requests are fixed and released at 0",
        tested="fcfs, sjf, lpt, ljf",
    ),
    Claim(
        "Theorem 3.3 (makespan)",
        "LJF takes o_1 + o_(B+1) + o_(2B+1) + .. steps, lengths sorted from the longest.",
        _makespan,
        assumes="all released at 0; a step of the proof",
        tested="ljf",
    ),
    Claim(
        "Theorem 3.3",
        "LJF reaches at least B / (2 B - 1) of the optimal throughput.",
        _share,
        assumes="all released at 0",
        tested="ljf",
        needs_optimum=True,
    ),
    Claim(
        "Theorem 3.3 (tight)",
        "The bound of theorem 3.3 cannot be raised for any B.",
        _tight,
        assumes="all released at 0",
        reading="The paper calls the bound a worst case without giving one; the family is ours.",
        tested="ljf",
        needs_optimum=True,
    ),
    Claim(
        "Remark 3.7",
        "The worst case of LJF gets worse with every slot and is 2/3 for two.",
        _falls_with_slots,
        assumes="B >= 2",
        reading="Measured on the family on which the bound is attained; its optimum is the longest length.",
        tested="ljf",
    ),
)
