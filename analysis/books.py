"""What the runs of a policy cost and earn, whom they charge, and how far they are from the best."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import pandas as pd

from analysis.bounds import Pool
from analysis.bounds.best import best_steps
from analysis.economics import (
    Costs,
    break_even,
    certified_loss,
    costs,
    guaranteed_difference,
    linear_revenue,
    measured_loss,
    profit_difference,
    revenue,
)
from analysis.estimate import Estimate
from analysis.externality import LengthClass, by_length_class, fits_64_bits, request_shares
from analysis.prices import Prices
from analysis.replications import average
from serving_sim import Run


@dataclass(frozen=True)
class Guarantee:
    """How much more any schedule with the same budget could earn (Yao and Zhou, theorem 5.2).

    Attributes
    ----------
    alpha : int
        Budget in tokens.
    least_steps : Estimate
        Proven lower bound on the busy steps of every alpha-fair schedule of the requests.
    by_theorem : Estimate
        ``c (1 / rho - 1) T* + tau alpha O`` with rho = least_steps / T, and T* the most steps that a
        more profitable schedule can take, in money.
    by_run : Estimate
        ``c (T - least_steps) + tau E``: what this run leaves to earn at most, in money.
    """

    alpha: int
    least_steps: Estimate
    by_theorem: Estimate
    by_run: Estimate


@dataclass(frozen=True)
class Books:
    """Money side of the R >= 1 runs of one policy; means over the runs.

    Attributes
    ----------
    policy : str
        Name with parameters.
    figures : dict of str to Estimate
        By key of `analysis.definitions.COST_METRICS`, in money.
    tariffs : dict of str to Estimate
        Profit by tariff, in money.
    guarantee : Guarantee or None
        None for a policy without a budget or that broke it.
    classes : tuple of LengthClass or None
        Shares of requests by class of length, summed over the runs; None where
        batches were not recorded or a run is too long to be split in 64 bits.
    """

    policy: str
    figures: dict[str, Estimate]
    tariffs: dict[str, Estimate]
    guarantee: Guarantee | None
    classes: tuple[LengthClass, ...] | None

    def numbers(self) -> dict[str, Any]:
        """The books of a single run as plain numbers, without estimates around them."""
        promise = self.guarantee
        return {
            **{name: value.value for name, value in self.figures.items()},
            "profit_by_tariff": {name: value.value for name, value in self.tariffs.items()},
            "guarantee": None
            if promise is None
            else {
                "alpha": promise.alpha,
                "least_steps": promise.least_steps.value,
                "by_theorem": promise.by_theorem.value,
                "by_run": promise.by_run.value,
            },
            "classes": self._records(),
        }

    def to_dict(self) -> dict[str, Any]:
        """The books as plain objects for JSON."""
        return {
            "policy": self.policy,
            "figures": {name: asdict(value) for name, value in self.figures.items()},
            "tariffs": {name: asdict(value) for name, value in self.tariffs.items()},
            "guarantee": None if self.guarantee is None else asdict(self.guarantee),
            "classes": self._records(),
        }

    def _records(self) -> list[dict[str, Any]] | None:
        return None if self.classes is None else [asdict(each) for each in self.classes]


@dataclass(frozen=True)
class Lead:
    """What a policy earns more than the baseline on the same requests (Yao and Zhou, proposition 5.3).

    Attributes
    ----------
    policy, baseline : str
        Who is compared with whom.
    saved_steps : Estimate
        Busy steps less than the baseline.
    added_externality : Estimate
        tau E more than the baseline, in money.
    profit : Estimate
        Equation 12, in money.
    promised : Estimate or None
        What the budget promises of it before E is measured, equations 13 and 14; None without a
        budget that was kept.
    break_even : float or None
        Cost of a step at which both earn the same; None if there is none.
    """

    policy: str
    baseline: str
    saved_steps: Estimate
    added_externality: Estimate
    profit: Estimate
    promised: Estimate | None
    break_even: float | None


def keep_books(runs: Sequence[Run], prices: Prices, *, one_log: bool = False) -> Books:
    """Cost, earnings and shares of the R >= 1 runs of one policy; ``one_log`` as in `average`.

    Raises
    ------
    ValueError
        If there are tariffs and prompt or output tokens are not known.
    """
    split = [costs(run, prices.model) for run in runs]
    mean = partial(average, one_log=one_log)
    return Books(
        policy=runs[0].policy,
        figures=_figures(split, [run.totals.requests for run in runs], prices, mean),
        tariffs={
            name: mean(
                [part.profit(_brought(run, prices, name)) for run, part in zip(runs, split, strict=True)]
            )
            for name in prices.tariffs
        },
        guarantee=_guarantee(runs, split, mean),
        classes=_classes(runs),
    )


def lead_over(runs: Sequence[Run], baseline: Sequence[Run], prices: Prices, *, one_log: bool = False) -> Lead:
    """Compare the profits of two policies, paired by replication; ``one_log`` as in `average`."""
    mean = partial(average, one_log=one_log)
    ours = [costs(run, prices.model) for run in runs]
    theirs = [costs(run, prices.model) for run in baseline]
    pairs = list(zip(ours, theirs, strict=True))
    alpha = _kept_budget(runs)
    return Lead(
        policy=runs[0].policy,
        baseline=baseline[0].policy,
        saved_steps=mean([other.steps - own.steps for own, other in pairs]),
        added_externality=mean([own.externality_cost - other.externality_cost for own, other in pairs]),
        profit=mean([profit_difference(own, other) for own, other in pairs]),
        promised=None
        if alpha is None
        else mean([guaranteed_difference(own, other, alpha) for own, other in pairs]),
        break_even=break_even(_sum(ours), _sum(theirs)),  # of sums: in one run the saving can be near zero
    )


def prices_as_dict(prices: Prices) -> Mapping[str, object]:
    """The prices as plain objects for JSON."""
    return {
        "c": prices.model.c,
        "tau": prices.model.tau,
        "price": prices.per_token,
        "tariffs": {name: asdict(tariff) for name, tariff in prices.tariffs.items()},
    }


def _classes(runs: Sequence[Run]) -> tuple[LengthClass, ...] | None:
    if any(run.batches is None or not fits_64_bits(run) for run in runs):
        return None
    return tuple(by_length_class(pd.concat(map(request_shares, runs))))


def _figures(
    split: Sequence[Costs],
    requests: Sequence[int],
    prices: Prices,
    mean: Callable[[Sequence[float]], Estimate],
) -> dict[str, Estimate]:
    brought = [linear_revenue(part.tokens, prices.per_token) for part in split]
    values = {
        "intrinsic_cost": [part.intrinsic_cost for part in split],
        "time_cost": [part.time_cost for part in split],
        "externality_cost": [part.externality_cost for part in split],
        "cost": [part.total for part in split],
        "cost_per_request": [part.total / count for part, count in zip(split, requests, strict=True)],
        "revenue": brought,
        "profit": [part.profit(money) for part, money in zip(split, brought, strict=True)],
    }
    return {name: mean(each) for name, each in values.items()}


def _brought(run: Run, prices: Prices, tariff: str) -> float:
    assert run.requests is not None
    return revenue(run.requests, prices.tariffs[tariff])


def _guarantee(
    runs: Sequence[Run], split: Sequence[Costs], mean: Callable[[Sequence[float]], Estimate]
) -> Guarantee | None:
    alpha = _kept_budget(runs)
    if alpha is None:
        return None
    least = [_least_steps(run, alpha) for run in runs]
    pairs = list(zip(split, least, strict=True))
    return Guarantee(
        alpha=alpha,
        least_steps=mean(least),
        by_theorem=mean([certified_loss(part, bound, alpha) for part, bound in pairs]),
        by_run=mean([measured_loss(part, bound) for part, bound in pairs]),
    )


def _least_steps(run: Run, alpha: int) -> int:
    assert run.requests is not None
    # idle time and releases only take schedules away, so the bound for a backlog holds for busy steps
    steps, _ = best_steps(Pool(run.requests.length, run.slots, alpha))
    return steps


def _kept_budget(runs: Sequence[Run]) -> int | None:
    """The budget that all runs kept, None without one."""
    return runs[0].audit.alpha if all(run.audit.fair for run in runs) else None


def _sum(split: Sequence[Costs]) -> Costs:
    return Costs(
        sum(part.intrinsic for part in split),
        sum(part.steps for part in split),
        sum(part.externality for part in split),
        sum(part.tokens for part in split),
        split[0].model,
    )
