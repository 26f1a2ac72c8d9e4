"""Bounds that are claimed for every input, as margins that a hunt can push down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from analysis.bounds import best_lower_bound
from analysis.experiments.claims.cases import Case, Space
from analysis.experiments.claims.schedules import least_makespan, serve
from serving_sim import Policy

Number = Fraction | float
PolicyFor = Callable[[Case], Policy]


class Promise(Protocol):
    """A bound and the cases it is claimed for."""

    @property
    def space(self) -> Space:
        """Where cases come from."""

    def margin(self, case: Case) -> Number:
        """Distance to the bound, negative where it is broken."""

    def margin_at_least(self, case: Case) -> Number:
        """A quick lower bound on `margin`."""


@dataclass(frozen=True)
class Share:
    """A policy reaches a share of the optimal throughput: T_OPT / T >= share.

    Attributes
    ----------
    space : Space
        Where cases come from.
    policy : callable
        The policy for a case.
    share : callable
        What is promised for a case; exact where the formula is rational.
    relief : callable
        Steps added to the optimum, the promise being (T_OPT + relief) / T >= share; 0 by default.
    symbol : str
        The ratio in the paper's letters.
    """

    space: Space
    policy: PolicyFor
    share: Callable[[Case], Number]
    relief: Callable[[Case], int] = lambda _: 0
    symbol: str = "T_OPT / T"

    def margin(self, case: Case) -> Number:
        """Reached share minus promised share."""
        return self.reached(case) - self.share(case)

    def margin_at_least(self, case: Case) -> Number:
        """The same with a lower bound in the place of the optimum."""
        instance = case.instance
        bound = best_lower_bound(instance.lengths, instance.slots, instance.alpha, instance.releases)
        return self._reached(case, int(bound.value)) - self.share(case)

    def reached(self, case: Case) -> Fraction:
        """The ratio, exact."""
        return self._reached(case, least_makespan(case.instance).upper)

    def makespan(self, case: Case) -> int:
        """T of the policy."""
        return int(serve(case, self.policy(case)).makespan)

    def _reached(self, case: Case, least: int) -> Fraction:
        return Fraction(least + self.relief(case), self.makespan(case))


@dataclass(frozen=True)
class Fairness:
    """A policy keeps constraint (1): no gap exceeds alpha. Margins are in tokens."""

    space: Space
    policy: PolicyFor

    def margin(self, case: Case) -> Number:
        """Budget minus largest gap."""
        return float(case.instance.alpha - serve(case, self.policy(case)).max_gap)

    def margin_at_least(self, case: Case) -> Number:
        """The same: running a policy is quick."""
        return self.margin(case)


@dataclass(frozen=True)
class Difference:
    """A whole number stays non-negative, in its own unit; nothing quicker bounds it."""

    space: Space
    value: Callable[[Case], Number]

    def margin(self, case: Case) -> Number:
        """The number."""
        return self.value(case)

    def margin_at_least(self, case: Case) -> Number:
        """The number itself."""
        return self.value(case)
