"""Policies against adversaries, each ratio certified for the very instance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from analysis.optimum import check_schedule, optimum
from policies import ISJL, Delayed, Fair, parse_policy, states
from policies.continuous import FCFS
from serving_sim import Policy, simulate
from workloads.adversaries import (
    GoldenRatio,
    Instance,
    jigsaw,
    long_then_short,
    over_inserting,
    static_waste,
    under_inserting,
)

GOLDEN = (sqrt(5) - 1) / 2
"""The best ratio any deterministic online policy can guarantee (Yao and Zhou, proposition 3.27)."""


@dataclass(frozen=True)
class Duel:
    """One policy on one instance, beside the optimum or its bracket.

    Attributes
    ----------
    adversary, policy : str
        Who played.
    requests : int
        Requests released.
    makespan : float
        Of the policy, in steps.
    lower, upper : float
        Bracket of the best makespan under the same rules, equal where proven.
    expected : float or None
        The ratio the construction tends to against the policy it was made for.
    """

    adversary: str
    policy: str
    requests: int
    makespan: float
    lower: float
    upper: float
    expected: float | None

    @property
    def ratio(self) -> tuple[float, float]:
        """Optimum over makespan: at least and at most."""
        return self.lower / self.makespan, self.upper / self.makespan


Family = Callable[[float, int, int], tuple[Instance, float | None]]

FAMILIES: dict[str, Family] = {
    "over-inserting": lambda gamma, length, _: (over_inserting(gamma, length), over_inserting_limit(gamma)),
    "under-inserting": lambda gamma, length, _: (
        under_inserting(gamma, length),
        under_inserting_limit(gamma),
    ),
    "jigsaw": lambda _, __, slots: (jigsaw(slots), 3 * slots / (4 * slots - 1)),
    "long-then-short": lambda _, length, __: (long_then_short(length), None),
    "static-waste": lambda _, __, slots: (static_waste(slots), slots / (2 * slots - 1)),
}
"""Adversaries that do not react, by name: (gamma, length, slots) to instance and limit."""


def over_inserting_limit(gamma: float) -> float:
    """CR_over(gamma) (Yao and Zhou, lemma 4.1)."""
    return (1 + gamma) / (1 + 2 * gamma) if gamma <= 1 / 2 else (2 - gamma) / (3 - 2 * gamma)


def under_inserting_limit(gamma: float) -> float:
    """CR_under(gamma) (Yao and Zhou, lemma 4.2)."""
    return (1 + gamma) / (1 + 2 * gamma) if gamma <= 1 / 3 else 2 * (1 + gamma) / (3 + gamma)


def play(
    name: str,
    policy: str,
    *,
    gamma: float = 0.5,
    length: int = 200,
    slots: int = 2,
    alpha: int | None = None,
    time_limit: float = 10.0,
) -> Duel:
    """A policy against an adversary that does not react.

    ``alpha`` is the budget of the optimum and of a policy that leaves it open, by default that of the
    construction. Where the policy's own text says it, the optimum has that budget, too.

    Raises
    ------
    ValueError
        If there is no such adversary or a value breaks its rule.
    """
    if name not in FAMILIES:
        raise ValueError(f"adversary {name!r}: must be one of golden-ratio, search, {', '.join(FAMILIES)}")
    instance, expected = FAMILIES[name](gamma, length, slots)
    budget = instance.alpha if alpha is None else alpha
    scheduler = parse_policy(policy, defaults={"alpha": budget})
    run = simulate(instance.workload, scheduler, slots=instance.slots)
    best = optimum(
        instance.lengths,
        instance.slots,
        # a policy that promises no fairness competes with all schedules
        None if scheduler.alpha is None else budget_beside(policy, scheduler, budget),
        time_limit=time_limit,
    )
    return Duel(name, scheduler.describe(), len(instance), run.makespan, best.lower, best.upper, expected)


def budget_beside(text: str, policy: Policy, otherwise: int) -> int:
    """The budget of those whom a policy is measured by: the one that its text says, if it says one."""
    return policy.alpha if policy.alpha is not None and states(text, "alpha") else otherwise


def play_golden_ratio(policy: Policy, length: int, alpha: int, epsilon: float = 0.5) -> Duel:
    """A policy with two slots against the reactive release-time adversary.

    The optimum starts all requests together at the last release. No schedule ends before the last
    release plus a length, so this one is optimal; that it is feasible is checked independently.
    """
    run = simulate(GoldenRatio(length, alpha, epsilon), policy, slots=2)
    assert run.requests is not None
    releases = run.requests.release.tolist()
    # the worker is empty until the last release, so steps are counted from there
    best = releases[-1] + check_schedule([0] * len(releases), [length] * len(releases), 2, alpha)
    expected = golden_ratio_limit(float(run.start[0]) / length, (alpha + epsilon) / length)
    return Duel("golden-ratio", policy.describe(), len(releases), run.makespan, best, best, expected)


def golden_ratio_limit(x: float, eta: float = 0.0) -> float:
    """The worse of the two continuations for a first start at x L (Yao and Zhou, proof 3.28)."""
    return min(1 / (1 + x), (1 + x + eta) / (2 + x))


def best_delay(eta: float) -> float:
    """The x at which both continuations are equally bad: x^2 + (1 + eta) x + eta - 1 = 0."""
    return (sqrt((1 + eta) ** 2 + 4 * (1 - eta)) - (1 + eta)) / 2


@dataclass(frozen=True)
class Curve:
    """Ratio of delayed(fair-fcfs, x) against the golden-ratio adversary, for one length."""

    length: int
    x: tuple[float, ...]
    ratio: tuple[float, ...]

    @property
    def peak(self) -> tuple[float, float]:
        """Where the ratio is best, and the ratio there."""
        at = int(np.argmax(self.ratio))
        return self.x[at], self.ratio[at]


def golden_ratio_curve(length: int, alpha: int = 5, points: Sequence[float] | None = None) -> Curve:
    """Measured ratios over a grid of delays that holds the best one."""
    grid = np.linspace(0, 1.5, 61).tolist() if points is None else list(points)
    grid = sorted({*grid, best_delay((alpha + 0.5) / length)})
    duels = [play_golden_ratio(Delayed(Fair(FCFS(), alpha), x), length, alpha) for x in grid]
    return Curve(length, tuple(grid), tuple(duel.ratio[1] for duel in duels))


def measured_ratio_of_gamma(family: str, gammas: Sequence[float], length: int = 200) -> list[Duel]:
    """ISJL on an inserting family for each gamma (Yao and Zhou, figure 4), optimum proven."""
    return [play(family, ISJL.name, gamma=gamma, length=length) for gamma in gammas]
