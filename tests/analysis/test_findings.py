"""The head of a report says what was found."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from made_runs import queue_run

from analysis.compare import compare
from analysis.outcome import Outcome, evaluate
from analysis.report.findings import findings, headline
from analysis.tables import comparison_tables
from analysis.time_unit import TimeUnit
from policies import parse_policy
from serving_sim import Run, Workload, simulate

STEPS = TimeUnit("step")
FEW = Workload(release=[0, 0, 0, 0], length=[8, 6, 2, 2])


def outcome(policy: str, workload: Workload = FEW, alpha: int | None = None) -> Outcome:
    run = simulate(workload, parse_policy(policy), slots=1, alpha=alpha, record_batches=True)
    return evaluate([run])


def test_a_run_that_is_too_short_says_so() -> None:
    # fcfs finishes at 8, 14, 16, 18; sjf at 2, 4, 10, 18
    comparison = compare([outcome("fcfs"), outcome("sjf")])
    assert headline(comparison, STEPS) == (
        "sjf has the lowest mean end-to-end latency on these requests, 8.5 against 14 steps; "
        "whether it holds for others like them is open"
    )
    assert findings(comparison, STEPS) == [
        (
            "sjf has a mean end-to-end latency of 8.5 against 14 steps under fcfs on these requests; "
            "whether it holds for others like them is open."
        )
    ]


def test_only_a_longer_log_tells_more_than_a_log() -> None:
    outcomes = [evaluate(queue, rates=None) for queue in short_queues()]
    made, log = (comparison_tables(compare(outcomes, log=log), STEPS)[1] for log in (False, True))
    assert "? not enough data" in made.title
    assert made.notes == []
    assert log.notes == [
        (
            "? no interval: the number is that of the requests of this log, "
            "only a longer one tells of others like them"
        )
    ]


def short_queues() -> list[list[Run]]:
    """Two policies on a stream of requests, too few for an interval."""
    first = queue_run([3.0, 4.0, 5.0, 6.0] * 3, policy="p0")
    second = queue_run([3.0, 4.5, 5.0, 7.0] * 3, policy="p1")
    return [[first], [replace(second, requests=first.requests)]]


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


def shifted(*shifts: float, noise: float = 0.01) -> list[Outcome]:
    """Policies p0, p1, .. whose latencies differ by about these from those of the first."""
    rng = np.random.default_rng(1)
    common = rng.exponential(5.0, 4000) + 10
    made: list[Run] = []
    for place, shift in enumerate(shifts):
        values = common + (shift + noise * rng.standard_normal(4000) if shift else 0)
        run = queue_run(list(values), policy=f"p{place}")
        made.append(replace(run, requests=made[0].requests if made else run.requests))
    return [evaluate([run], rates=None) for run in made]


ON_THESE = (
    r"on these requests, 1[45][\d.]* against 1[45][\d.]* to 1[45][\d.]* steps; whether it holds for others "
    "like them is open"
)


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        (shifted(0, -0.5, -0.6), r"p2 has the lowest mean end-to-end latency: 14\.\d+ steps"),
        # both are surely below the baseline, but not one below the other
        (
            shifted(0, -0.5, -0.501, noise=0.5),
            rf"p[12] has the lowest mean end-to-end latency {ON_THESE}",
        ),
        (
            shifted(0, 0.5, 0.001, noise=0.5),
            rf"p[02] has the lowest mean end-to-end latency {ON_THESE}",
        ),
        (shifted(0, 0.5, 0), r"p0 and p2 have the lowest mean end-to-end latency: 14\.\d+ steps"),
        (shifted(0, 0), r"p0 and p1 have the same mean end-to-end latency: 14\.\d+ steps"),
    ],
)
def test_the_lowest_mean_is_held_against_every_other(outcomes: list[Outcome], expected: str) -> None:
    assert re.fullmatch(expected, headline(compare(outcomes), STEPS))


def test_the_order_of_policies_changes_no_headline() -> None:
    outcomes = shifted(0, -0.5, -0.501, noise=0.5)
    assert len({headline(compare(order), STEPS) for order in permutations(outcomes)}) == 1


def test_a_policy_that_keeps_up_alone_is_better_than_nobody() -> None:
    short, long = replicated("fcfs", 0.3), replicated("sjf", 0.3)
    assert short.stability is not None
    late = replace(long, stability=replace(short.stability, verdict="unstable"))
    alone = headline(compare([late, short]), STEPS)
    assert re.fullmatch(
        r"fcfs has a mean end-to-end latency of [\d.]+ steps; the queue grows under sjf", alone
    )


@pytest.mark.parametrize("replications", [1, 2])
def test_a_metric_that_no_request_has(replications: int) -> None:
    workload = Workload(np.arange(9), np.ones(9))
    compared = [
        evaluate([simulate(workload, parse_policy(policy), slots=1)] * replications)
        for policy in ("fcfs", "sjf")
    ]
    comparison = compare(compared, metrics=("tpot", "e2el"))
    absent = "There is no mean time per output token: no request has a value"
    if replications > 1:
        absent += " in a replication"
    assert headline(comparison, STEPS) == absent
    same = "sjf and fcfs have the same end-to-end latency throughout."
    assert findings(comparison, STEPS) == [same]
    assert findings(compare(compared, metrics=("e2el", "tpot")), STEPS) == [same, f"{absent}."]
    assert comparison.difference("sjf", "tpot", "mean").verdict == "not enough data"


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
