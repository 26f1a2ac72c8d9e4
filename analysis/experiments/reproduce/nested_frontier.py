"""The nested frontier: more freedom never makes the best schedule longer (Yao and Zhou, proposition 5.6)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
import pandas as pd

from analysis.bounds import best_lower_bound
from analysis.experiments.pricing import SLOTS, backlog
from analysis.experiments.reproduce.experiment import Experiment, Item, Results, Settings
from analysis.experiments.reproduce.pricing import set_lengths
from analysis.experiments.reproduce.task import Rows, Task
from analysis.optimum import optimum
from analysis.plots.frontier import makespan_brackets
from analysis.report import Picture, Section
from analysis.tables import Table
from analysis.text import number
from policies import parse_policy
from serving_sim import simulate

_INSTANCES = 6
_SMALL = {"requests": 8, "longest": 24, "slots": 2, "alphas": (0, 1, 2, 4, 6, 8, 12, 16, 24)}
_LARGE_ALPHAS = (0, 25, 50, 100, 150, 200, 250, 300, 400, 500, 750, 1000)
_POLICIES = ("ljf", "isjl", "fair-lpt")

_MEASURES = (
    (
        "A schedule that keeps requests within alpha tokens of each other also keeps them within any "
        "larger budget. So the best makespan, in steps, can only fall as alpha grows, and the best "
        "throughput only rise."
    ),
    (
        f"Small instances ({_SMALL['requests']} requests, {_SMALL['slots']} slots) are solved exactly for "
        "every alpha. For a workload of the size of table 1 the best makespan lies between a proven lower "
        "bound and the best schedule that LJF, ISJL or LPT with an admission test find for this or a "
        "smaller alpha."
    ),
)


def tasks(settings: Settings) -> list[Task]:
    """One task a small instance, and one for the large one."""
    small = [
        Task(
            f"nested-frontier/small-{place}",
            solve_small,
            {"seed": settings.seed, "place": place, **_SMALL},
        )
        for place in range(_INSTANCES)
    ]
    large = {"seed": settings.seed, "alphas": _LARGE_ALPHAS}
    return [*small, Task("nested-frontier/large", bracket_large, large)]


def solve_small(
    *, seed: int, place: int, requests: int, longest: int, slots: int, alphas: Sequence[int]
) -> Rows:
    """The proven best makespan of one random instance for every alpha."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(place,)))
    lengths = rng.integers(1, longest, requests, endpoint=True).tolist()
    return [_bracket(f"small {place + 1}", lengths, slots, alpha) for alpha in alphas]


def _bracket(name: str, lengths: list[int], slots: int, alpha: int) -> dict[str, object]:
    best = optimum(lengths, slots, alpha, time_limit=30.0)
    return {
        "instance": name,
        "alpha": alpha,
        "lower": int(best.lower),
        "upper": int(best.upper),
        "by": "solver",
    }


def bracket_large(seed: int, alphas: Sequence[int]) -> Rows:
    """The best bound and the best policy on one workload of table 1, for every alpha."""
    lengths = set_lengths(seed, 0, 0)
    workload = backlog(lengths)
    rows: Rows = []
    best: tuple[int, str] | None = None
    for alpha in alphas:
        found = [
            (simulate(workload, parse_policy(name, defaults={"alpha": alpha}), slots=SLOTS).steps, name)
            for name in _POLICIES
        ]
        best = min(
            [*([best] if best else []), *found], key=lambda pair: pair[0]
        )  # a schedule fair for less is fair for more
        rows.append(
            {
                "instance": "large",
                "alpha": alpha,
                "lower": int(best_lower_bound(lengths, SLOTS, alpha).value),
                "upper": best[0],
                "by": best[1],
            }
        )
    return rows


def item(results: Results) -> Item:
    """Brackets of the best makespan by instance and alpha."""
    frame = pd.DataFrame(list(chain.from_iterable(results.values())))
    frame["proven"] = frame["lower"] == frame["upper"]
    large = frame[frame["instance"] == "large"]
    small = frame[frame["instance"] != "large"]
    brackets = {
        str(name): (
            group["alpha"].tolist(),
            group["lower"].astype(float).tolist(),
            group["upper"].astype(float).tolist(),
        )
        for name, group in frame.groupby("instance", sort=False)
    }
    exact = {name: lines for name, lines in brackets.items() if name != "large"}
    pictures = [
        Picture(
            "nested-frontier-small",
            "Best makespan against alpha, small instances",
            "One line an instance, every point proven; no line ever rises.",
            makespan_brackets(exact),
        ),
        Picture(
            "nested-frontier-large",
            "Best makespan against alpha, a workload of table 1",
            "The best makespan lies in the band between what no schedule can beat and the best found.",
            makespan_brackets({"best found": brackets["large"]}),
        ),
    ]
    table = Table(
        f"a workload of table 1 on {SLOTS} slots, makespans in steps",
        ("alpha, tokens", "no schedule below", "best found", "found by", "gap, %"),
        [
            (str(alpha), number(lower), number(upper), str(by), f"{100 * (upper / lower - 1):.1f}")
            for alpha, lower, upper, by in large[["alpha", "lower", "upper", "by"]].itertuples(index=False)
        ],
    )
    section = Section("nested-frontier", EXPERIMENT.title, _MEASURES, _found(small, large), [table], pictures)
    return Item(section, {"nested-frontier": frame})


def _found(small: pd.DataFrame, large: pd.DataFrame) -> list[str]:
    rises = sum(int((np.diff(group["upper"]) > 0).sum()) for _, group in small.groupby("instance"))
    proven = int(small["proven"].sum())
    falls = [group["upper"].iloc[0] / group["upper"].iloc[-1] for _, group in small.groupby("instance")]
    first, last = large.iloc[0], large.iloc[-1]
    return [
        f"Of {len(small)} small cases {proven} are proven; the best makespan rises with alpha {rises} times.",
        (
            "From alpha = 0 to no constraint the best throughput of a small instance grows by "
            f"{100 * (np.mean(falls) - 1):.0f} % on average."
        ),
        (
            f"On the workload of table 1 no schedule takes less than {number(first['lower'])} steps at "
            f"alpha = {first['alpha']} and {number(last['lower'])} at alpha = {last['alpha']}; found are "
            f"{number(first['upper'])} and {number(last['upper'])}."
        ),
    ]


EXPERIMENT = Experiment(
    "nested-frontier", "Proposition 5.6: the best makespan against the fairness budget", tasks, item
)
