"""What scheduling costs: the profit decomposition of Yao and Zhou, section 5."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from serving_sim.record import Run
from serving_sim.request import IntArray, Workload, exact_sum

_HIGHEST = 1e100
"""Above any price; sums over the longest run, and the squares of their spread, stay finite."""


def check_price(name: str, value: float) -> None:
    """Refuse a price with which books would overflow.

    Raises
    ------
    ValueError
        If it is above 1e100.
    """
    if value > _HIGHEST:
        raise ValueError(f"{name}={value!r}: must be at most {_HIGHEST:g}, sums over a run would overflow")


@dataclass(frozen=True)
class CostModel:
    """Cost of a step with batch S: ``c + tau |S| max r`` (Yao and Zhou, equation 3).

    Attributes
    ----------
    c : float
        Fixed cost of a step, in money, >= 0.
    tau : float
        Cost per request of the batch and token of its longest cache, in money, > 0.

    Raises
    ------
    ValueError
        If a cost is out of range.
    """

    c: float
    tau: float

    def __post_init__(self) -> None:
        if not 0 <= self.c < np.inf:
            raise ValueError(f"c={self.c!r}: must be a finite number >= 0")
        if not 0 < self.tau < np.inf:
            raise ValueError(f"tau={self.tau!r}: must be a positive number")
        check_price("c", self.c)
        check_price("tau", self.tau)


@dataclass(frozen=True)
class Tariff:
    """Prices as providers quote them, in money per million tokens.

    A cached token is an input token whose prefix was in the cache; logs that do not tell have none.
    """

    input: float
    output: float
    cached: float = 0.0

    @classmethod
    def flat(cls, per_token: float) -> Tariff:
        """One price for every token (the paper's p_0)."""
        return cls(input=per_token * 1e6, output=per_token * 1e6, cached=per_token * 1e6)


@dataclass(frozen=True)
class Costs:
    """The cost of a run, exact in token steps until the last multiplication.

    Attributes
    ----------
    intrinsic : int
        Q, the same for every schedule of the workload (equation 5).
    steps : int
        T, busy steps.
    externality : int
        E, what batching adds (equation 6).
    tokens : int
        O, the sum of lengths.
    model : CostModel
        What steps and tokens cost.
    """

    intrinsic: int
    steps: int
    externality: int
    tokens: int
    model: CostModel

    @property
    def intrinsic_cost(self) -> float:
        """Intrinsic cost tau Q."""
        return self.model.tau * self.intrinsic

    @property
    def time_cost(self) -> float:
        """Time cost c T."""
        return self.model.c * self.steps

    @property
    def externality_cost(self) -> float:
        """Externality cost tau E."""
        return self.model.tau * self.externality

    @property
    def total(self) -> float:
        """C = tau Q + c T + tau E (theorem 5.1)."""
        return self.model.tau * (self.intrinsic + self.externality) + self.time_cost

    def profit(self, revenue: float) -> float:
        """Revenue less cost (equation 4)."""
        return revenue - self.total


def costs(run: Run, model: CostModel) -> Costs:
    """Cost decomposition of a finished run (Yao and Zhou, theorem 5.1)."""
    totals = run.totals
    return Costs(totals.intrinsic, totals.steps, totals.externality, totals.tokens, model)


def linear_revenue(tokens: int, per_token: float) -> float:
    """p_0 O, the same for every schedule (equation 2)."""
    return per_token * tokens


def revenue(workload: Workload, tariff: Tariff, cached_tokens: IntArray | None = None) -> float:
    """What a workload brings under separate prices for input, output and cached tokens.

    Raises
    ------
    ValueError
        If prompt and output tokens are not known.
    """
    if workload.prompt_tokens is None or workload.output_tokens is None:
        raise ValueError("prompt_tokens: separate prices need prompt and output tokens of every request")
    cached = 0 if cached_tokens is None else exact_sum(cached_tokens)
    fresh = exact_sum(workload.prompt_tokens) - cached
    written = exact_sum(workload.output_tokens)
    return (tariff.input * fresh + tariff.cached * cached + tariff.output * written) / 1e6


def profit_difference(ours: Costs, theirs: Costs) -> float:
    """Profit of ours less profit of theirs on one workload (proposition 5.3, equation 12)."""
    assert ours.intrinsic == theirs.intrinsic, "the two runs served different workloads"
    model = ours.model
    return model.c * (theirs.steps - ours.steps) + model.tau * (theirs.externality - ours.externality)


def guaranteed_difference(fair: Costs, other: Costs, alpha: int) -> float:
    """What equations 13 and 14 promise of an alpha-fair run over another, before E is measured."""
    model = fair.model
    return model.c * (other.steps - fair.steps) + model.tau * (other.externality - alpha * fair.tokens)


def break_even(fair: Costs, static: Costs) -> float | None:
    """Cost of a step at which both earn the same (section 5.2); None if none or every cost does.

    ``tau (E_fair - E_static) / (T_static - T_fair)``, with E_static = 0 for static batching.
    """
    saved = static.steps - fair.steps
    added = fair.externality - static.externality
    if saved == 0 or added * saved < 0:
        return None
    return fair.model.tau * float(Fraction(added, saved))


def profit_guarantee(best_steps: float, alpha: int, tokens: int, model: CostModel, ratio: float) -> float:
    """Most profit an alpha-fair run loses to the best fair schedule (theorem 5.2, equation 10).

    Parameters
    ----------
    best_steps : float
        Makespan of the most profitable fair schedule, or an upper bound on it, in steps.
    alpha : int
        Fairness budget in tokens.
    tokens : int
        O, the sum of lengths.
    model : CostModel
        What steps and tokens cost.
    ratio : float
        Proven or certified share of the best throughput, in (0, 1].

    Raises
    ------
    ValueError
        If the ratio is out of range.
    """
    if not 0 < ratio <= 1:
        raise ValueError(f"ratio={ratio!r}: must lie in (0, 1]")
    return model.c * (1 / ratio - 1) * best_steps + model.tau * alpha * tokens


def certified_loss(fair: Costs, least_steps: float, alpha: int) -> float:
    """`profit_guarantee` of a fair run with a proven lower bound in the place of the optimum.

    Parameters
    ----------
    fair : Costs
        Of an alpha-fair run.
    least_steps : float
        No alpha-fair schedule takes fewer busy steps.
    alpha : int
        Fairness budget in tokens.
    """
    model = fair.model
    # a schedule that earns more spends at most c T + tau E on its steps
    most_steps = 0.0 if model.c == 0 else fair.steps + fair.externality_cost / model.c
    return profit_guarantee(most_steps, alpha, fair.tokens, model, ratio=least_steps / fair.steps)


def measured_loss(fair: Costs, least_steps: float) -> float:
    """Most profit a run loses to the best fair schedule, its own E measured: ``c (T - least) + tau E``."""
    return fair.model.c * (fair.steps - least_steps) + fair.externality_cost


def alpha_for_cost_share(workload: Workload, share: float) -> float:
    """The alpha that keeps tau E within a share of tau Q for any fair schedule (section 5.1)."""
    if not 0 <= share < np.inf:
        raise ValueError(f"share={share!r}: must be a finite number >= 0")
    return share * float(Fraction(workload.intrinsic, workload.total_length))
