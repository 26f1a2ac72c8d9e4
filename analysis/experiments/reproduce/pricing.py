"""The profit experiment (Yao and Zhou, section 5.2): the runs behind tables 1 and 2, figures 5 and 6."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
import pandas as pd

from analysis.bounds import Pool, best_lower_bound, cohort_bound
from analysis.economics import costs, linear_revenue
from analysis.experiments.paper import ALPHAS
from analysis.experiments.pricing import COST, PRICE, SET, SLOTS, accepted_lengths, serve
from analysis.experiments.reproduce.experiment import Results, Settings
from analysis.experiments.reproduce.task import Rows, Task
from policies import parse_policy
from serving_sim.request import IntArray

BASELINES = ("fcfs", "ljf")
ISJL = tuple(f"isjl:alpha={alpha}" for alpha in ALPHAS)
BEYOND = ("lpt", *(f"isjl-as-printed:alpha={alpha}" for alpha in ALPHAS))
"""Policies that the paper's table does not have: a reference, and the algorithm as printed."""


def tasks(settings: Settings) -> list[Task]:
    """One task a set of five replications."""
    return [
        Task(f"pricing/set-{place:03}", serve_set, {"seed": settings.seed, "place": place})
        for place in range(settings.sets)
    ]


def serve_set(seed: int, place: int) -> Rows:
    """All policies on the five accepted workloads of one set, one row a policy and replication."""
    return list(
        chain.from_iterable(
            _serve(set_lengths(seed, place, replication), place, replication) for replication in range(SET)
        )
    )


def set_lengths(seed: int, place: int, replication: int) -> IntArray:
    """The accepted workload of one replication of a set."""
    streams = np.random.SeedSequence(seed, spawn_key=(place, replication)).spawn(2)
    return accepted_lengths(*map(np.random.default_rng, streams))


def _serve(lengths: IntArray, place: int, replication: int) -> Rows:
    rows: Rows = []
    for text in (*BASELINES, *ISJL, *BEYOND):
        alpha = parse_policy(text).alpha
        run = serve(lengths, text)
        split = costs(run, COST)
        rows.append(
            {
                "set": place,
                "replication": replication,
                "policy": text,
                "tokens": run.totals.tokens,
                "intrinsic": run.intrinsic,
                "steps": run.steps,
                "externality": run.externality,
                "throughput": run.throughput,
                "extent": run.extent_mean,
                "max_gap": run.max_gap,
                "cohort_bound": cohort_bound(Pool(lengths, SLOTS, alpha)),
                "best_bound": int(best_lower_bound(lengths, SLOTS, alpha).value),
                "cost": split.total,
                "profit": split.profit(linear_revenue(run.totals.tokens, PRICE)),
            }
        )
    return rows


def by_set(results: Results) -> pd.DataFrame:
    """Means of each set of five replications, as the paper's tables hold them.

    Returns
    -------
    DataFrame, index (set, policy)
        The columns of table 1 (money; tokens per step; per cent; tokens), ``saving`` (steps less than
        LJF), and by ``cohort_saving`` and ``best_saving`` how many steps less than LJF any schedule
        with the policy's fairness budget can take, by the cohort bound and by the best of all bounds.
    """
    rows = pd.DataFrame(list(chain.from_iterable(results.values())))
    means = rows.groupby(["set", "policy"], sort=False).mean()
    means["tau_q"] = COST.tau * means["intrinsic"]
    means["c_t"] = COST.c * means["steps"]
    means["tau_e"] = COST.tau * means["externality"]
    ljf = means.xs("ljf", level="policy")
    means["gain"] = 100 * (means["throughput"].div(ljf["throughput"], level="set") - 1)
    for column, steps in (
        ("saving", "steps"),
        ("cohort_saving", "cohort_bound"),
        ("best_saving", "best_bound"),
    ):
        means[column] = -means[steps].sub(ljf["steps"], level="set")
    return means


def values(sets: pd.DataFrame, policy: str, metric: str) -> Sequence[float]:
    """One value a set."""
    return [float(value) for value in sets.xs(policy, level="policy")[metric]]
