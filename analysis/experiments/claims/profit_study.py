"""The simulation behind tables 1 and 2, replicated (Yao and Zhou, section 5.2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from analysis.bounds import best_lower_bound
from policies import parse_policy
from serving_sim import Run, Workload, simulate
from serving_sim.request import FloatArray, IntArray

SLOTS = 50
PRICE = 1 / 500
STEP_COST = 0.0005
TOKEN_COST = 1e-6
REPLICATIONS = 5
"""Replications the paper averages over."""

METRICS = ("profit", "cost", "intrinsic", "time", "externality", "throughput", "extent")
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
        error = float(values.std(ddof=1)) * np.sqrt(1 / REPLICATIONS + 1 / len(values))
        distance = abs(float(values.mean()) - stated) - 0.005
        return 0.0 if distance <= 0 else float(distance / error) if error else np.inf

    def largest_saving(self, alpha: int) -> FloatArray:
        """How many steps less than LJF any alpha-fair schedule can take, at the very most."""
        static = self.column("ljf", "time") / STEP_COST
        least = [best_lower_bound(lengths, SLOTS, alpha).value for lengths in self.lengths]
        saved: FloatArray = static - np.array(least)
        return saved


def profit_study(rng: np.random.Generator, sets: int, policies: Iterable[str]) -> ProfitStudy:
    """Run ``sets`` times five replications; policies as on the command line, all on the same requests."""
    lengths = [accepted_lengths(rng) for _ in range(sets * REPLICATIONS)]
    rows = {policy: np.array([_row(_serve(policy, each)) for each in lengths]) for policy in policies}
    return ProfitStudy(lengths, rows)


def accepted_lengths(rng: np.random.Generator) -> IntArray:
    """400 uniform lengths from 1 to 1,000, thinned by a price that grows with the length.

    A request in bucket b of ten accepts with probability ``max(0, 1 - o / ((2 b - 1) 100))``.
    """
    lengths = rng.integers(1, 1001, 400)
    bucket = 1 + (lengths - 1) // 100
    accepted = rng.random(400) < np.maximum(0, 1 - lengths / ((2 * bucket - 1) * 100))
    kept: IntArray = lengths[accepted]
    return kept


def _serve(policy: str, lengths: IntArray) -> Run:
    return simulate(Workload(np.zeros(len(lengths)), lengths), parse_policy(policy), slots=SLOTS)


def _row(run: Run) -> tuple[float, ...]:
    intrinsic, externality = TOKEN_COST * run.intrinsic, TOKEN_COST * run.externality
    time = STEP_COST * run.steps
    cost = intrinsic + time + externality
    revenue = PRICE * run.totals.tokens
    return revenue - cost, cost, intrinsic, time, externality, run.throughput, run.extent_mean
