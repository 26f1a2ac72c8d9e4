"""Who keeps up and who does not, and by how much the queue grows."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_runs import Idle, queue_run, small_run

from analysis.compare import compare
from analysis.outcome import Outcome, evaluate
from analysis.stability import (
    GROWING,
    ONE_BURST,
    UNDECIDED,
    Stability,
    WorkRates,
    are_finite,
    backlog_of,
    is_burst,
    judge,
    judge_together,
    no_long_run,
    no_steady_state,
    of_burst,
    probed_work,
    sustained_work,
    waiting_at_arrivals,
)
from analysis.tables import run_tables
from analysis.time_unit import TimeUnit
from policies import parse_policy
from serving_sim import Run, StepTime, Workload, simulate
from serving_sim.compiled.choice import Engine
from serving_sim.request import FloatArray
from workloads import make_workload, parse_arrivals, parse_lengths, rate_for_load

MEAN_LENGTH, SLOTS = 20, 4


def poisson_run(
    policy: str,
    load: float,
    *,
    seed: int,
    count: int = 20_000,
    slots: int = SLOTS,
    engine: Engine = "compiled",
) -> Run:
    rate = rate_for_load(load, slots=slots, mean_length=MEAN_LENGTH)
    workload = make_workload(
        count, parse_lengths(f"geometric:mean={MEAN_LENGTH}"), parse_arrivals("poisson", rate=rate), seed
    )
    return simulate(workload, parse_policy(policy), slots=slots, engine=engine)


def verdict(run: Run, rates: WorkRates | None = None) -> str | None:
    found = judge(run) if rates is None else judge(run, rates)
    return None if found is None else found.verdict


def test_a_known_span_counts_for_load_and_verdict() -> None:
    # 100 requests of 20 steps in 100 of 4,000 steps: 4 slots need 500
    run = simulate(
        Workload(np.arange(500.0, 600.0), [20] * 100), parse_policy("fcfs"), slots=4, engine="simpy"
    )
    unknown, known = judge(run), judge(run, WorkRates(span=4000.0))
    assert unknown is not None
    assert known is not None
    assert (unknown.verdict, unknown.load) == ("unstable", 5.0)
    assert (known.verdict, known.load) == ("stable", 0.125)
    assert known.reason == "the waiting queue empties before the span of the arrivals is over"
    assert known.variability > 10 > unknown.variability  # the silence is a gap among the others
    ends_in_the_queue = judge(run, WorkRates(span=650.0))
    assert ends_in_the_queue is not None
    assert ends_in_the_queue.verdict == "unstable"


def test_queue_by_hand() -> None:
    # request 0 starts on arrival, request 1 waits for the end of a step, request 2 finds nobody
    assert waiting_at_arrivals(small_run()).tolist() == [0, 1, 0]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 10)), min_size=1, max_size=30))
def test_queue_as_counted_one_by_one(drawn: list[tuple[int, int]]) -> None:
    release = np.array(sorted(at for at, _ in drawn), dtype=float)
    start = release + np.array([wait for _, wait in drawn])
    run = queue_run(list(start - release + 1))
    made = simulate_columns(run, release, start)
    counted = [sum(release[: place + 1] <= at) - sum(start <= at) for place, at in enumerate(release)]
    assert waiting_at_arrivals(made).tolist() == counted


def test_the_verdict_is_the_same_whatever_the_order_of_rows() -> None:
    run = poisson_run("sjf", 0.95, seed=3, count=3_000)
    assert run.requests is not None
    shuffled = run.requests.take(np.random.default_rng(0).permutation(3_000))
    again = simulate(shuffled, parse_policy("sjf"), slots=SLOTS, engine="compiled")
    np.testing.assert_array_equal(waiting_at_arrivals(again), waiting_at_arrivals(run))
    assert judge(again) == judge(run) is not None
    assert not is_burst(shuffled, StepTime())


def simulate_columns(run: Run, release: FloatArray, start: FloatArray) -> Run:
    return replace(run, requests=Workload(release, np.ones(len(release), dtype=int)), start=start)


@pytest.mark.parametrize(("load", "expected"), [(0.8, "stable"), (0.95, "stable"), (1.05, "unstable")])
@pytest.mark.parametrize("slots", [1, 32])
def test_first_come_first_served_by_the_queue_alone(load: float, expected: str, slots: int) -> None:
    # a tenth of the work is said to arrive, so that the queue alone can tell
    rates = WorkRates(offered=0.1)
    found = Counter(verdict(poisson_run("fcfs", load, seed=seed, slots=slots), rates) for seed in range(10))
    assert found[expected] >= 9  # power at 1.05 is 0.98
    assert not {"stable", "unstable"} - {expected} & set(found)


def test_more_work_than_slots_needs_no_long_run() -> None:
    found = judge(poisson_run("fcfs", 1.05, seed=1, count=500), WorkRates(offered=1.05 * SLOTS))
    assert found is not None
    assert found.verdict == "unstable"
    assert found.load == pytest.approx(1.05)
    assert found.reason == "load 1.05, more work arrives than all slots together can do"


def test_measured_work_settles_it_only_beyond_its_error() -> None:
    found = [judge(poisson_run("fcfs", 1.05, seed=seed)) for seed in range(10)]
    reasons = [each.reason for each in found if each is not None]
    beyond = "more work arrives than all slots together can do, by more than the error of measuring it"
    assert sum(reason.endswith(beyond) for reason in reasons) >= 9  # 59 of 60 were seen
    first = next(each for each in found if each is not None and each.reason.endswith(beyond))
    assert first.reason.startswith(f"load {first.load:.3g}, ")


def test_bursts_make_measured_work_unsure() -> None:
    rate = rate_for_load(0.9, slots=SLOTS, mean_length=MEAN_LENGTH)
    arrivals = parse_arrivals("mmpp:burst=4,busy=0.2,cycle=3860", rate=rate)  # dispersion of counts: 501
    lengths = parse_lengths(f"geometric:mean={MEAN_LENGTH}")
    for seed in range(30):
        workload = make_workload(5000, lengths, arrivals, seed)
        found = judge(simulate(workload, parse_policy("fcfs"), slots=SLOTS, engine="compiled"))
        assert found is not None
        assert "all slots together" not in found.reason


def test_a_closed_loop_cannot_fall_behind() -> None:
    run = poisson_run("fcfs", 1.2, seed=1, count=2000)
    assert verdict(run) == "unstable"
    assert judge(run, None) is None
    assert evaluate([run], rates=None).stability is None


def test_tiny_time_units_change_no_verdict() -> None:
    def judged(unit: float) -> Stability | None:
        release = unit * np.arange(400.0)
        run = simulate(
            Workload(release, [1] * 400), parse_policy("fcfs"), slots=1, step_time=StepTime(2 * unit)
        )
        return judge(run, WorkRates(offered=0.4 / unit))

    tiny, usual = judged(1e-180), judged(1.0)  # the square of the first is no float
    assert tiny is not None
    assert usual is not None
    assert (tiny.verdict, tiny.reason) == (usual.verdict, usual.reason)
    assert usual.reason == "the waiting queue never empties in the second half of the arrivals"


def test_growth_is_what_arrives_beyond_what_is_served() -> None:
    found = judge(poisson_run("fcfs", 1.2, seed=2, count=50_000))
    assert found is not None
    # 0.24 requests arrive per step and 0.2 are served; the error of the difference is below 0.002
    assert found.growth == pytest.approx(0.04, abs=0.006)


def test_a_fair_policy_falls_behind_where_slots_are_left() -> None:
    behind, keeps_up = (judge(poisson_run("isjl:alpha=5", load, seed=3, count=4000)) for load in (0.9, 0.5))
    assert behind is not None
    assert keeps_up is not None
    assert (behind.verdict, keeps_up.verdict) == ("unstable", "stable")
    assert behind.growth > 0.02 > abs(keeps_up.growth)
    assert behind.load is not None
    assert behind.load < 1


def test_what_a_policy_cannot_sustain_even_from_a_backlog() -> None:
    run = poisson_run("fair-fcfs:alpha=5", 0.6, seed=4, count=300, engine="simpy")
    assert run.requests is not None
    backlog = simulate(backlog_of(run.requests), parse_policy("fair-fcfs:alpha=5"), slots=SLOTS)
    sustained = sustained_work(backlog)
    assert 0.45 * SLOTS < sustained < 0.6 * SLOTS
    found = judge(run, WorkRates(offered=0.6 * SLOTS, sustained=sustained))
    assert found is not None
    assert found.verdict == "unstable"
    assert found.reason == (
        f"work arrives {0.6 * SLOTS / sustained:.3g} times as fast as the policy does it on a backlog of "
        "these requests"
    )


def test_sustained_work_by_hand() -> None:
    # lengths 4, 2, 2 on one slot start at 0, 4, 6: 8 tokens by the last start
    backlog = simulate(Workload([0, 0, 0], [4, 2, 2]), parse_policy("fcfs"), slots=1)
    assert sustained_work(backlog) == 8 / 6
    assert sustained_work(simulate(Workload([0], [4]), parse_policy("fcfs"), slots=1)) == float("inf")


def test_a_backlog_and_a_burst_have_nothing_to_keep_up_with() -> None:
    backlog = simulate(Workload(np.zeros(100), np.full(100, 5)), parse_policy("fcfs"), slots=2)
    burst = simulate(Workload(np.arange(100) / 30, np.full(100, 5)), parse_policy("fcfs"), slots=2)
    assert (judge(backlog), judge(burst)) == (None, None)


FAR = np.append(np.zeros(2_999), 1e9)
BURSTS = {
    "one soon after": np.append(np.zeros(2_999), 1.0),
    "one far behind": FAR,
    "one far ahead": FAR[-1] - FAR[::-1],
    "half far behind": np.repeat([0.0, 1e9], 1_500),
    "in less time than one takes": np.linspace(0, 9, 3_000),
    "before a stream": np.append(np.zeros(1_500), np.arange(1_500) * 100.0),
}


@pytest.mark.parametrize("release", BURSTS.values(), ids=BURSTS)
def test_a_backlog_stays_one_whatever_comes_beside_it(release: FloatArray) -> None:
    # shortest first: latencies in the order of arrival look as if drawn one by one
    lengths = np.random.default_rng(5).geometric(0.1, 3_000)
    sjf, ljf = (
        [simulate(Workload(release, lengths[::turn]), parse_policy(name), slots=4) for turn in (1, -1)]
        for name in ("sjf", "ljf")
    )
    single = evaluate(sjf[:1])
    assert single.stability is None
    assert {each.note for each in single.metrics["e2el"].values()} == {ONE_BURST}
    difference = compare([evaluate(ljf[:1]), single], metrics=["e2el"]).difference("sjf", "e2el", "mean")
    assert (difference.estimate.low, difference.estimate.note) == (None, ONE_BURST)
    assert evaluate(sjf).metrics["e2el"]["p99"].low is not None  # of a finite set, from two draws of it
    assert not is_burst(Workload(np.arange(3_000) * 4.0, lengths), StepTime())


@pytest.mark.parametrize("bursts", [3, 10])
def test_few_bursts_hold_few_observations_however_far_apart(bursts: int) -> None:
    lengths = np.random.default_rng(5).geometric(0.1, 3_000)
    release = np.repeat(np.arange(bursts) * 1e9, 3_000 // bursts)
    found = evaluate([simulate(Workload(release, lengths), parse_policy("sjf"), slots=4)])
    assert found.stability is not None
    assert found.stability.clustering == pytest.approx(3_000 / (bursts - 1), rel=0.2)
    for name, estimate in found.metrics["e2el"].items():
        assert estimate.low is None
        assert str(estimate.note).startswith(f"not enough data for {name} (n = 3,000")


def test_a_level_queue_that_never_empties_does_not_grow() -> None:
    assert verdict(queue_run([9.0] * 30_000)) == "undecided"


def test_replications_decide_by_majority() -> None:
    stable, unstable = (Stability(each, each, 0.9, 0.5, 0.5, 2.0) for each in ("stable", "unstable"))
    assert judge_together([stable, unstable, unstable]) == Stability(
        "unstable", "unstable", 0.9, 0.5, 0.5, 2.0
    )
    tied = judge_together([stable, unstable])
    assert tied is not None
    assert (tied.verdict, tied.reason) == (
        "undecided",
        "of 2 replications 1 is stable and 1 is unstable",
    )
    split = judge_together([stable, stable, unstable, unstable])
    assert split is not None
    assert split.reason == "of 4 replications 2 are stable and 2 are unstable"
    assert judge_together([None, None]) is None


def both(load: float) -> list[Outcome]:
    runs = [poisson_run(name, load, seed=5) for name in ("fcfs", "isjl:alpha=5")]
    return [evaluate([run]) for run in runs]


def test_no_interval_over_a_growing_queue() -> None:
    steady, growing = both(0.8)
    assert (steady.unstable, growing.unstable) == (False, True)
    assert steady.metrics["e2el"]["p50"].half_width is not None
    assert growing.metrics["e2el"]["mean"].note == GROWING
    assert growing.metrics["e2el"]["mean"].value is not None
    assert {each.verdict for each in compare([steady, growing]).differences} == {"no steady state"}


def test_replications_of_a_growing_queue_get_none_either() -> None:
    outcome = evaluate([poisson_run("isjl:alpha=5", 0.9, seed=seed, count=4000) for seed in (6, 7)])
    assert outcome.metrics["e2el"]["mean"].note == GROWING
    assert outcome.to_dict()["stability"]["verdict"] == "unstable"


def test_no_interval_where_nobody_can_tell_whether_the_queue_grows() -> None:
    steady, growing = (poisson_run("isjl:alpha=5", load, seed=6, count=4000) for load in (0.3, 0.9))
    torn = evaluate([steady, growing])
    assert torn.verdict == "undecided"
    assert {each.note for each in torn.metrics["e2el"].values()} == {UNDECIDED}
    sure = evaluate([steady])
    assert sure.stability is not None
    assert sure.metrics["e2el"]["mean"].half_width is not None
    doubtful = replace(sure.stability, verdict="undecided")
    assert no_steady_state(steady, doubtful) == UNDECIDED
    unsure = replace(
        sure, policy="other", stability=doubtful, runs=(replace(steady, finish=steady.finish + 1),)
    )
    (mean, *_) = compare([sure, unsure]).differences
    assert (mean.estimate.low, mean.estimate.note, mean.verdict) == (None, UNDECIDED, "not enough data")
    assert no_long_run("undecided", "unstable") == GROWING
    assert no_long_run("stable", None) is None


def test_the_table_says_so() -> None:
    _, growing = both(0.9)
    latencies, whole = run_tables(growing, TimeUnit("step"))
    assert growing.stability is not None
    assert latencies.notes[0] == (
        "isjl:alpha=5 does not keep up: the waiting queue never empties in the second half of the arrivals; "
        f"its queue grows by {growing.stability.growth:.4g} requests per step, so latencies grow with the "
        "length of the run and carry no intervals"
    )
    assert whole.rows[-1] == ("keeps up", "no")


def test_the_pace_of_a_policy_is_probed_where_it_can_be() -> None:
    stream = Workload(np.arange(60.0), np.full(60, 4))
    fcfs = partial(simulate, policy=parse_policy("fcfs"), slots=2)
    probed = probed_work(fcfs, stream)
    assert probed == sustained_work(fcfs(backlog_of(stream)))
    assert probed_work(fcfs, backlog_of(stream)) is None
    # a policy may break on a backlog, which nobody asked for
    assert probed_work(lambda backlog: simulate(backlog, Idle(), slots=2), stream) is None


def test_whether_replications_are_finite_sets_is_asked_of_them_all() -> None:
    """The guard for streams holds from one stream on, in whatever order the replications come."""

    def run(seed: int) -> Run:
        rng = np.random.default_rng(seed)
        workload = Workload(rng.exponential(1 / 0.9, 220).cumsum(), rng.geometric(0.01, 220))
        return simulate(workload, parse_policy("fcfs"), slots=128)

    runs = [run(seed) for seed in range(40)]
    bursts = [each for each in runs if of_burst(each)][:1]
    streams = [each for each in runs if not of_burst(each)][:4]
    assert (len(bursts), len(streams)) == (1, 4)
    first, last = (evaluate(order, percentiles=[50, 99]) for order in (bursts + streams, streams + bursts))
    for outcome in (first, last):
        note = outcome.metrics["e2el"]["p99"].note
        assert note is not None
        assert re.fullmatch(
            r"not enough data for p99 \(n = 220, about [\d,]+ needed\) in each replication", note
        )
    assert are_finite([True, True])
    assert not are_finite([True, False])
