"""Arrivals that give no interval, whatever policy serves them."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import Command

from analysis.capacity import Bench
from analysis.compare import compare
from analysis.experiments.capacity import Question, measure
from analysis.outcome import Outcome, evaluate
from analysis.replications import ONE_LOG
from analysis.ruled_out import ruled_out
from analysis.stability import WorkRates
from analysis.study import read_study
from analysis.study.curves import over_replications
from analysis.study.measure import measure as measure_cell
from policies import parse_policy
from serving_sim import StepTime, Workload, simulate
from workloads import make_workload, parse_arrivals, parse_lengths, replication_seed
from workloads.arrivals import requests_a_round

LENGTHS = parse_lengths("geometric:mean=10")


def note(periods: str, replications: int = 1) -> str:
    needed = "of one run need 10 or more" if replications == 1 else "over replications need 1 or more"
    return f"arrivals have a period: intervals {needed}, whole but for 0.1 %, found {periods}"


@pytest.mark.parametrize("periods", [9.991, 10, 10.01, 20.02, 19.981, 500.5, 1234.5])
def test_enough_whole_periods_rule_nothing_out(periods: float) -> None:
    assert ruled_out(periods=periods) is None


@pytest.mark.parametrize(
    ("periods", "found"),
    [(0.5, "0.5"), (9, "9"), (9.98, "9.98"), (10.02, "10.02"), (20.5, "20.5"), (499.5, "499.5")],
)
def test_parts_of_periods_are_no_sample_of_them(periods: float, found: str) -> None:
    assert ruled_out(periods=periods) == note(found)


@pytest.mark.parametrize(
    ("periods", "fair"), [(0.5, False), (0.998, False), (1, True), (3, True), (3.1, False)]
)
def test_replications_of_one_whole_period_are_a_sample(periods: float, fair: bool) -> None:  # noqa: FBT001
    found = ruled_out(periods=periods, replications=2)
    assert found == (None if fair else note(f"{periods:g}", 2))


def test_without_a_period_one_log_alone_rules_out() -> None:
    assert ruled_out() is None
    assert ruled_out(one_log=True, periods=0.5) == ONE_LOG


@pytest.mark.parametrize(
    ("text", "requests"),
    [
        ("sinusoidal:rate=2,swing=0.6,period=50", 100),
        ("sinusoidal:rate=2,swing=0,period=50", None),
        ("piecewise:rate=2,levels=1+3,duration=50", 200),
        ("piecewise:rate=2,levels=1+3+1+3,duration=50", 200),
        ("piecewise:rate=2,levels=1+3+1,duration=50", 300),
        ("piecewise:rate=2,levels=7+7+7,duration=50", None),
        ("profile:rate=2,levels=1+3+1+3,duration=50,gaps=0+1+4", 200),
        ("profile:rate=2,levels=1,duration=50,gaps=0+1+4", None),
        ("mmpp:rate=2,burst=4,busy=0.2,cycle=100", None),
        ("batch:size=8,rate=2", None),
        ("fixed:rate=2", None),
        ("gamma:rate=2,burstiness=0.5", None),
        ("backlog", None),
    ],
)
def test_what_has_a_period_states_it(text: str, requests: float | None) -> None:
    assert requests_a_round(parse_arrivals(text)) == requests


class Weekly:
    """Somebody's own process, whose rate is another on every day of a week."""

    rate, rhythm = 2.0, 7.0

    def releases(self, n: int, rng: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.sort(rng.uniform(0, n / self.rate, n))


def test_processes_of_ones_own_may_state_a_period() -> None:
    assert requests_a_round(Weekly()) == 14


def test_a_rate_that_never_begins_anew_has_no_long_run() -> None:
    periods = WorkRates(requests_a_round=math.inf).periods(10**9)
    assert [ruled_out(periods=periods, replications=each) for each in (1, 5)] == [note("0"), note("0", 5)]


def half_a_day(replication: int) -> tuple[Workload, WorkRates]:
    """4,000 requests between the lows of a sine, at load 0.5: all of them come while it is busy."""
    arrivals = parse_arrivals("sinusoidal:rate=0.05,swing=0.6,period=160000")
    workload = make_workload(4_000, LENGTHS, arrivals, replication_seed(5, replication))
    return workload, WorkRates(0.5, dispersion=1.0, requests_a_round=requests_a_round(arrivals))


def outcome(policy: str, replications: int) -> Outcome:
    made = [half_a_day(each) for each in range(1, replications + 1)]
    runs = [simulate(workload, parse_policy(policy), slots=1) for workload, _ in made]
    return evaluate(runs, percentiles=[50], rates=made[0][1])


@pytest.mark.parametrize("replications", [1, 3])
def test_half_a_day_says_nothing_of_all_days(replications: int) -> None:
    """Its median is nearly three times that of the long run, and replications agree on it."""
    fcfs, sjf = (outcome(policy, replications) for policy in ("fcfs", "sjf"))
    found = note("0.5", replications)
    assert {each.note for metric in fcfs.metrics.values() for each in metric.values()} == {found}
    assert {each.note for each in fcfs.summaries[0].metrics["e2el"].estimates().values()} == {note("0.5")}
    differences = compare([fcfs, sjf], percentiles=[50]).differences
    assert {(each.estimate.note, each.verdict, each.variance_reduction) for each in differences} == {
        (found, "not enough data", None)
    }


def test_no_capacity_of_half_a_day() -> None:
    workload, rates = half_a_day(1)
    bench = Bench(parse_policy("fcfs"), workload, 1, StepTime())
    found = measure(
        [[bench, bench]],
        Question("e2el", (50,), (0.5,), None, 0.99),
        jobs=1,
        done=lambda _: None,
        ruled_out=ruled_out(periods=rates.periods(len(workload)), replications=2),
    )
    assert {found.note, found.stable["fcfs"].rate.note, *(each.estimate.note for each in found.curve)} == {
        note("0.5", 2)
    }


def test_a_study_knows_the_period_of_its_arrivals(tmp_path: Path) -> None:
    """Half of a round of two levels; the first 100 requests are left out."""
    file = tmp_path / "half.toml"
    file.write_text(
        'policy = "fcfs"\nslots = 1\nload = 0.5\nlengths = "fixed:length=10"\nnum-prompts = 600\n'
        'arrivals = "piecewise:levels=1+3,duration=10000"\nwarmup = 100\nreplications = 2\n',
        encoding="utf-8",
    )
    rows = [measure_cell(cell) for cell in read_study(file).cells]
    assert [row["periods"] for row in rows] == [0.5, 0.5]
    assert over_replications(pd.DataFrame(rows), "e2el_mean").note == note("0.5", 2)


@pytest.mark.parametrize("words", ["run --policy fcfs", "compare --policy fcfs --policy sjf"])
def test_a_line_says_so(command: Command, words: str) -> None:
    day = "--arrivals sinusoidal:swing=0.6,period=1000 --load 0.5 --num-prompts 475 --slots 1"
    assert note("9.5") in command(f"{words} --lengths geometric:mean=10 {day}")[1]
