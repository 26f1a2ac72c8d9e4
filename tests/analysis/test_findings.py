"""The head of a report says what was found."""

from __future__ import annotations

import re

import numpy as np

from analysis.compare import compare
from analysis.outcome import Outcome, evaluate
from analysis.report.findings import findings, headline
from analysis.time_unit import TimeUnit
from policies import parse_policy
from serving_sim import Workload, simulate

STEPS = TimeUnit("step")
FEW = Workload(release=[0, 0, 0, 0], length=[8, 6, 2, 2])


def outcome(policy: str, workload: Workload = FEW, alpha: int | None = None) -> Outcome:
    run = simulate(workload, parse_policy(policy), slots=1, alpha=alpha, record_batches=True)
    return evaluate([run])


def test_a_run_that_is_too_short_says_so() -> None:
    # fcfs finishes at 8, 14, 16, 18; sjf at 2, 4, 10, 18
    comparison = compare([outcome("fcfs"), outcome("sjf")])
    assert headline(comparison, STEPS) == (
        "sjf has the lowest mean end-to-end latency, 8.5 steps, but this may be chance"
    )
    assert findings(comparison, STEPS) == [
        (
            "sjf has a mean end-to-end latency of 8.5 against 14 steps under fcfs; "
            "how much of it is chance is open."
        )
    ]


def replicated(policy: str, load: float) -> Outcome:
    runs = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        workload = Workload(np.cumsum(rng.exponential(5 / load, 1_000)), rng.geometric(1 / 20, 1_000))
        runs.append(simulate(workload, parse_policy(policy), slots=4, alpha=10, record_batches=True))
    return evaluate(runs)


def test_differences_that_are_sure_and_who_keeps_alpha() -> None:
    outcomes = [replicated(policy, 0.3) for policy in ("fcfs", "sjf", "ljf", "fair-fcfs:alpha=1000")]
    comparison = compare(outcomes)
    assert headline(comparison, STEPS).startswith("sjf has the lowest mean end-to-end latency: ")
    sjf, ljf, *rest = findings(comparison, STEPS)
    assert sjf.startswith("sjf has a lower mean end-to-end latency than fcfs: ")
    assert re.search(r"steps, lower by [\d.]+ to [\d.]+\.$", sjf)
    assert ljf.startswith("ljf has a higher mean end-to-end latency than fcfs: ")
    assert rest == [
        "fair-fcfs:alpha=1000 and fcfs have the same end-to-end latency throughout.",
        (
            "ljf keeps the requests of a batch within alpha tokens of each other; "
            "fcfs, sjf and fair-fcfs:alpha=1000 do not."
        ),
    ]
    assert headline(compare(outcomes[1:]), STEPS) == headline(comparison, STEPS)


def test_one_policy_has_no_differences() -> None:
    comparison = compare([outcome("sjf")])
    assert headline(comparison, STEPS) == "sjf has a mean end-to-end latency of 8.5 steps"
    assert findings(comparison, STEPS) == []


def test_a_growing_queue_is_not_compared() -> None:
    comparison = compare([replicated("fcfs", 1.6), replicated("sjf", 1.6)])
    assert headline(comparison, STEPS) == "No policy keeps up with these arrivals: fcfs, sjf"
    assert findings(comparison, STEPS) == [
        "sjf and fcfs are not compared, since the queue grows under sjf and fcfs.",
        "fcfs and sjf break alpha.",
    ]
