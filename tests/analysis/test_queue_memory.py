"""What theory knows of the autocorrelation of waits agrees with exact results and with simulated queues."""

from __future__ import annotations

import math

import numpy as np
import pytest
from made_runs import queue_run
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import quad

from analysis import sectioning
from analysis.autocorrelation import integrated_autocorrelation_time
from analysis.metric_memory import memory_of_difference, memory_of_metric
from analysis.queue_memory import NO_THEORY, Memory, indicator_memory, queue_memory
from analysis.stability import Stability, WorkRates, judge
from analysis.statistic import MEAN, Statistic, quantiles
from policies import parse_policy
from serving_sim import Run, StepTime, Workload, simulate
from workloads.arrivals.markov_modulated import MarkovModulatedPoisson

Series = NDArray[np.float64]


def waits(rng: np.random.Generator, count: int, load: float, *, gap_scv: float = 1.0) -> Series:
    """Waiting times at one server, exponential services, gamma gaps (Lindley 1952)."""
    service = rng.exponential(load, count)
    gap = rng.gamma(1 / gap_scv, gap_scv, count)
    left = np.cumsum(service - gap)
    seen = np.concatenate([[0.0], left[:-1]])
    return seen - np.minimum.accumulate(seen)


@pytest.mark.parametrize("load", [0.8, 0.9, 0.95, 0.99])
def test_it_meets_the_exact_waits_of_one_memoryless_server(load: float) -> None:
    exact = (2 + 5 * load - 4 * load**2 + load**3) / ((2 - load) * (1 - load) ** 2)
    assert queue_memory(load, 2.0) == pytest.approx(exact, rel=0.03)


@pytest.mark.parametrize(("load", "gap_scv"), [(0.8, 1.0), (0.8, 4.0), (0.9, 0.25)])
def test_it_meets_simulated_waits(load: float, gap_scv: float) -> None:
    series = waits(np.random.default_rng(1), 2_000_000, load, gap_scv=gap_scv)
    memory = queue_memory(load, 1 + gap_scv)
    assert integrated_autocorrelation_time(series) == pytest.approx(memory, rel=0.2)
    for probability in (0.5, 0.9):
        below = (series <= np.quantile(series, probability)).astype(float)
        found = integrated_autocorrelation_time(below)
        assert found == pytest.approx(indicator_memory(probability) * memory, rel=0.2)


def test_no_steady_state_no_end_of_memory() -> None:
    assert queue_memory(1.0, 2.0) == queue_memory(1.2, 2.0) == math.inf
    assert queue_memory(0.0, 2.0) == queue_memory(0.9, 0.0) == 0


@pytest.mark.parametrize("probability", [0.1, 0.5, 0.9, 0.99])
def test_the_indicator_by_quadrature(probability: float) -> None:
    # asymptotic variance 4 int F^2 / pi of the reflected Brownian motion; that of the motion itself is
    # 1/2 over the variance 1/4, so 2 time units
    at = -math.log(1 - probability) / 2

    def below_it(x: float) -> float:
        collected = (1 - probability) * (1 - math.exp(-2 * x)) if x < at else probability * math.exp(-2 * x)
        return collected**2 / (2 * math.exp(-2 * x))

    variance = 4 * (quad(below_it, 0, at)[0] + quad(below_it, at, at + 30)[0])
    time = variance / (probability * (1 - probability))
    assert indicator_memory(probability) == pytest.approx(time / 2, rel=1e-6)


@pytest.mark.parametrize(
    ("memory", "time"),
    [
        (Memory(100), 1.5 * 0.5 * 100),
        (Memory(100, diluted=True), 1.5 * 0.25 * 100),
        (Memory(math.inf), math.inf),
        (NO_THEORY, 1),  # no request is more than one observation
        (Memory(100, together=80), 80),
        (Memory(100, together=60), 1.5 * 0.5 * 100),
    ],
)
def test_the_least_time_by_hand(memory: Memory, time: float) -> None:
    assert memory.least_time(part=0.5, as_mean=0.25) == time


def test_runs_that_saw_no_long_queue_get_no_interval() -> None:
    rng = np.random.default_rng(2)
    runs = [waits(rng, 22_000, 0.9)[2_000:] for _ in range(60)]
    memory = Memory(queue_memory(0.9, 2.0))
    lucky = [each for each in runs if sectioning.estimate(MEAN, each).low is not None]
    assert lucky  # by what they show of themselves
    truth = 0.9**2 / 0.1
    assert np.mean([each.mean() for each in lucky]) < 0.85 * truth
    for each in runs:
        assert sectioning.estimate(MEAN, each, memory=memory).low is None


def test_hardly_any_long_enough_run_is_held_back_by_what_it_saw() -> None:
    rng = np.random.default_rng(3)
    memory = Memory(queue_memory(0.8, 2.0))
    count = int(1.05 * 300 * memory.requests)
    shortages = [MEAN.shortage(waits(rng, count + 2_000, 0.8)[2_000:], memory) for _ in range(60)]
    assert sum(note is not None for note in shortages) <= 3


@pytest.mark.parametrize(
    ("statistic", "wanted"),
    [
        (MEAN, "54,000"),  # 1.5 * 50 * 4 * 180
        (Statistic("p90", 0.9), "110,000"),  # 1.5 * 50 * 10 * 180 * 0.744 = 100,464, upwards
    ],
)
def test_how_many_are_needed(statistic: Statistic, wanted: str) -> None:
    series = waits(np.random.default_rng(4), 5_000, 0.9)
    memory = Memory(queue_memory(0.9, 1.0))
    assert statistic.shortage(series, memory) == (
        f"not enough data for {statistic.name} (n = 5,000, about {wanted} needed)"
    )


@pytest.mark.parametrize(("sections", "wanted"), [(10, "9,000"), (20, "18,000")])
def test_every_section_spans_five_memories(sections: int, wanted: str) -> None:
    series = waits(np.random.default_rng(4), 5_000, 0.9)
    median = Statistic("p50", 0.5)  # whose 50 observations on either side would take 8,300 requests
    assert median.shortage(series, Memory(queue_memory(0.9, 1.0)), sections=sections) == (
        f"not enough data for p50 (n = 5,000, about {wanted} needed)"
    )


def test_no_number_suffices_where_all_that_can_be_done_arrives() -> None:
    series = waits(np.random.default_rng(4), 5_000, 0.9)
    assert MEAN.shortage(series, Memory(math.inf)) == (
        "not enough data for mean: as much work arrives as can be done"
    )


def test_latencies_that_hardly_feel_the_queue_need_a_run_that_is_long_for_it() -> None:
    rng = np.random.default_rng(5)
    (p99,) = quantiles([99])
    queue = waits(rng, 30_000, 0.8)
    latency = 30 * rng.exponential(size=30_000) + queue  # 2 % of the variance is from the queue
    memory = Memory(queue_memory(0.8, 2.0), diluted=True)
    assert p99.shortage(latency, memory) is None  # 30,000 > 1.5 * 200 * 80, what the mean of the waits needs
    assert p99.shortage(latency[:20_000], memory) is not None
    assert p99.shortage(queue, Memory(memory.requests)) is not None


ONE_STEP = StepTime()


def streamed(release: ArrayLike, length: ArrayLike, step_time: StepTime = ONE_STEP) -> Run:
    return simulate(Workload(release, length), parse_policy("fcfs"), slots=1, step_time=step_time)


def found(run: Run, rates: WorkRates) -> Stability:
    stability = judge(run, rates)
    assert stability is not None
    return stability


def test_utilization_counts_what_the_policy_can_do() -> None:
    run = streamed(np.arange(50.0) * 4, np.full(50, 3))
    assert found(run, WorkRates(offered=0.75)).utilization == 0.75
    assert found(run, WorkRates(offered=0.75, sustained=0.8)).utilization == pytest.approx(0.9375)
    assert found(run, WorkRates(offered=0.75, sustained=1.2)).utilization == 0.75
    slow = streamed(np.arange(50.0) * 4, np.full(50, 3), StepTime(base=0.5, per_request=0.1))
    unknown = found(slow, WorkRates(offered=0.75))
    assert (unknown.utilization, unknown.memory) == (None, 0)
    assert found(slow, WorkRates(offered=0.75, sustained=1.5)).utilization == 0.5


def test_variability_of_gaps_counts_where_it_lasts() -> None:
    rng = np.random.default_rng(6)
    poisson = np.cumsum(rng.exponential(10, 4_000))
    rounded = 100 * (poisson // 100)  # ten requests at once
    length = np.full(4_000, 8)
    for release in (poisson, rounded):
        assert found(streamed(release, length), WorkRates()).variability == pytest.approx(1, abs=0.5)
    clockwork = np.arange(4_000) * 10.0
    assert found(streamed(clockwork, length), WorkRates()).variability == pytest.approx(0, abs=1e-9)
    known = found(streamed(poisson, length), WorkRates(dispersion=0.25))
    assert known.variability == 0.25
    assert known.memory == queue_memory(known.utilization or 0, 0.25)


def test_arrivals_that_hang_together_count_by_what_is_known_of_them() -> None:
    rng = np.random.default_rng(8)
    arrivals = MarkovModulatedPoisson(0.08, burst=1.3, busy=0.5, cycle=50_000)
    release = arrivals.releases(5_000, rng)
    run = streamed(release, rng.geometric(0.1, 5_000))
    assert arrivals.dispersion > 100
    known = found(run, WorkRates(offered=0.8, dispersion=arrivals.dispersion)).variability
    assert known == pytest.approx(arrivals.dispersion + 0.9, abs=0.2)
    measured = found(run, WorkRates(offered=0.8)).variability
    assert measured is not None
    assert measured < 3  # gaps one by one show little of it


def test_requests_that_come_together_are_one_observation() -> None:
    rng = np.random.default_rng(9)
    length = np.full(4_000, 8)
    batches = np.repeat(np.cumsum(rng.exponential(1e6, 80)), 50)
    clumped = found(streamed(batches, length), WorkRates())
    assert clumped.clustering == pytest.approx(50, rel=0.4)
    assert clumped.memory < 1  # hardly ever does one batch meet another
    assert found(streamed(batches, length), WorkRates(dispersion=50)).clustering == 50
    poisson = np.cumsum(rng.exponential(100, 4_000))
    for release in (poisson, 1000 * (poisson // 1000)):  # a clock that tells ten gaps together
        assert found(streamed(release, length), WorkRates()).clustering == pytest.approx(1, abs=0.5)
    together = memory_of_difference("e2el", clumped, FAST).together
    assert together == memory_of_metric("queue_time", [], clumped).together == clumped.clustering


FAST, SLOW = (Stability("stable", "", load, 0.0, load, 2.0) for load in (0.5, 0.9))


def test_the_memory_of_a_difference_is_that_of_the_slower_queue() -> None:
    assert memory_of_difference("e2el", FAST, SLOW) == Memory(queue_memory(0.9, 2.0))
    assert memory_of_difference("e2el", None, FAST) == Memory(queue_memory(0.5, 2.0))
    assert memory_of_difference("e2el", None) == memory_of_difference("tpot", FAST) == NO_THEORY


def test_end_to_end_latency_is_diluted_where_it_is_mostly_service() -> None:
    rng = np.random.default_rng(7)
    release, length = np.cumsum(rng.exponential(10, 2_000)), rng.integers(1, 19, 2_000)
    few, many = (simulate(Workload(release, length), parse_policy("fcfs"), slots=slots) for slots in (1, 20))
    memory = queue_memory(0.5, 2.0)
    for run, metric, diluted in [
        (few, "e2el", False),
        (many, "e2el", True),
        (many, "queue_time", False),
        (many, "slowdown", False),
    ]:
        assert memory_of_metric(metric, [run], FAST) == Memory(memory, diluted=diluted)
    assert memory_of_metric("e2el", [few, many], FAST) == Memory(memory)
    assert memory_of_metric("tpot", [many], FAST) == memory_of_metric("e2el", [many], None) == NO_THEORY


def test_a_run_knows_nothing_of_a_queue_it_is_not_judged_on() -> None:
    assert judge(queue_run([1.0] * 10)) is None
