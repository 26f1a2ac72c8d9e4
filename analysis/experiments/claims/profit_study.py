"""The simulation behind tables 1 and 2, replicated (Yao and Zhou, section 5.2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from analysis.bounds import best_lower_bound
from analysis.economics import costs, linear_revenue
from analysis.experiments import paper
from analysis.experiments.pricing import COST, PRICE, SET, SLOTS, accepted_lengths, serve
from serving_sim import Run
from serving_sim.request import FloatArray, IntArray

METRICS = tuple(metric for metric in paper.METRICS if metric != "gain")
"""Columns of table 1 but for the gain, which is a ratio of two of them."""


@dataclass(frozen=True)
class ProfitStudy:
    """Replications of the experiment.

    Attributes
    ----------
    lengths : list of ndarray of int
        The accepted requests of each replication, in tokens.
    rows : dict of str to ndarray, shape (replications, 7)
        By policy, the columns `METRICS`.
    """

    lengths: list[IntArray]
    rows: dict[str, FloatArray]

    def column(self, policy: str, metric: str) -> FloatArray:
        """A column of table 1 over the replications."""
        values: FloatArray = self.rows[policy][:, METRICS.index(metric)]
        return values

    def mean(self, policy: str, metric: str) -> float:
        """Its mean."""
        return float(self.column(policy, metric).mean())

    def score(self, policy: str, metric: str, stated: float) -> float:
        """Distance of a stated mean of five to ours, in standard errors; half a last digit is forgiven."""
        values = self.column(policy, metric)
        error = float(values.std(ddof=1)) * np.sqrt(1 / SET + 1 / len(values))
        distance = abs(float(values.mean()) - stated) - 0.005
        return 0.0 if distance <= 0 else float(distance / error) if error else np.inf

    def largest_saving(self, alpha: int) -> FloatArray:
        """How many steps less than LJF any alpha-fair schedule can take, at the very most."""
        static = self.column("ljf", "c_t") / COST.c
        least = [best_lower_bound(lengths, SLOTS, alpha).value for lengths in self.lengths]
        saved: FloatArray = static - np.array(least)
        return saved


def profit_study(rng: np.random.Generator, sets: int, policies: Iterable[str]) -> ProfitStudy:
    """Run ``sets`` times five replications; policies as on the command line, all on the same requests."""
    lengths = [accepted_lengths(rng, rng) for _ in range(sets * SET)]
    rows = {policy: np.array([_row(serve(each, policy)) for each in lengths]) for policy in policies}
    return ProfitStudy(lengths, rows)


def _row(run: Run) -> tuple[float, ...]:
    split = costs(run, COST)
    return (
        split.profit(linear_revenue(split.tokens, PRICE)),
        split.total,
        split.intrinsic_cost,
        split.time_cost,
        split.externality_cost,
        run.throughput,
        run.extent_mean,
    )
