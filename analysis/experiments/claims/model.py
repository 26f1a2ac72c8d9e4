"""Section 2: the problem and its examples."""

from __future__ import annotations

import numpy as np

from analysis.experiments.claims.claim import Budget, Claim, Kind, Verdict
from analysis.experiments.claims.verdicts import exact, numbers
from policies import FCFS, SJF
from serving_sim import Run, Workload, simulate


def _np_hardness(_rng: np.random.Generator, _budget: Budget) -> Verdict:
    return Verdict(
        Kind.NOT_TESTABLE,
        "a statement about all algorithms; runs on finitely many instances say nothing about it",
        why="NP-hardness is proved by a reduction, not observed",
    )


def _fcfs_example(rng: np.random.Generator, budget: Budget) -> Verdict:
    count = budget.of(100)
    for _ in range(count):
        short = int(rng.integers(1, 20))
        middle = short * 10 + int(rng.integers(0, 100))
        lengths = [middle + int(rng.integers(1, 200)), middle, short]
        run = simulate(Workload([0, 0, 0], lengths), FCFS(), slots=2)
        if (run.max_gap, int(run.finish[2])) != (middle, middle + short):
            return exact("", count, broken=f"lengths {numbers(lengths)}: gap {run.max_gap}")
    return exact(
        "the short request starts beside o_2 tokens of progress and leaves at o_2 + o_3, more than ten times "
        "its length",
        count,
    )


def _sjf_example(rng: np.random.Generator, budget: Budget) -> Verdict:
    chain = _gaps_of_sjf([3**power for power in range(5)][::-1])
    count = budget.of(300)
    growing = 0
    for _ in range(count):
        lengths = np.sort(rng.choice(np.arange(1, 101), size=5, replace=False))[::-1].tolist()
        first, second, third = _gaps_of_sjf(lengths)
        growing += first < second < third
    kind = Kind.HOLDS if chain == sorted(set(chain)) else Kind.FAILS
    return Verdict(
        kind,
        f"lengths 81, 27, 9, 3, 1: requests 3, 2, 1 join beside {numbers(chain)} tokens of progress; an "
        f"example, not a rule: it grows for {growing} of {count} random quintuples",
        count + 1,
    )


def _gaps_of_sjf(lengths: list[int]) -> list[int]:
    """Progress of the other request when the third shortest, fourth and longest start (two slots)."""
    run = simulate(Workload([0] * 5, lengths), SJF(), slots=2)
    return [_gap_at_start(run, request) for request in (2, 1, 0)]


def _gap_at_start(run: Run, request: int) -> int:
    begin = run.start[request]
    active = (run.start <= begin) & (run.finish > begin)
    return int(begin - run.start[active].min())


CLAIMS = (
    Claim(
        "Proposition 2.1",
        "Finding an alpha-fair schedule of maximal throughput is NP-hard.",
        _np_hardness,
        assumes="more requests than slots",
    ),
    Claim(
        "Example 2.4",
        "Under FCFS a short request is batched with the tail of a long one and leaves far later than its own "
        "length warrants.",
        _fcfs_example,
        assumes="two slots, o_1 > o_2 >= 10 o_3, all released at 0 in this order",
        reading="The figure gives no numbers; we ask for gap and completion of the third request.",
        tested="fcfs",
    ),
    Claim(
        "Example 2.5",
        "Under shortest first, requests 3, 2 and 1 each join beside a larger progress than the one before.",
        _sjf_example,
        assumes="two slots, o_1 > .. > o_5, all released at 0",
        reading="An example: lengths exist for which it happens.",
        tested="sjf",
    ),
)
