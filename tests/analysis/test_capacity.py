"""The fastest arrivals that a policy can serve."""

from __future__ import annotations

import json
import re
from functools import cache
from inspect import signature
from pathlib import Path

import numpy as np
import pytest
from command_line import Command
from joblib import cpu_count
from refusal import refusal

from analysis import replications
from analysis.attainment import ALL_OR_NONE, attained, attainment
from analysis.capacity import (
    AT_LEAST,
    BELOW,
    ONE_SEQUENCE,
    WIDTH,
    Bench,
    Edge,
    Limit,
    attaining_rate,
    keeps_up,
    largest,
    over_replications,
    stable_rate,
)
from analysis.cli import calibrate, capacity, reproduce, study, validate
from analysis.cli.parsing import parse_loads, parse_share
from analysis.estimate import Estimate
from analysis.experiments.capacity import Capacity, Point, Question, capacity_section, measure
from analysis.queueing import slotted_fcfs
from analysis.replications import ONE_LOG
from analysis.stability import judge
from analysis.time_unit import TimeUnit
from analysis.workers import processes
from policies import parse_policy
from serving_sim import Run, StepTime, Workload, simulate
from workloads import make_workload, parse_arrivals, parse_lengths, rate_for_load
from workloads.lengths import Geometric

SLOTS, MEAN_LENGTH = 4, 10


@cache
def benches(policy: str, *, count: int = 20_000, replications: int = 5, slotted: bool = False) -> list[Bench]:
    """At speed 1 the load is 1."""
    arrivals = parse_arrivals("poisson", rate=rate_for_load(1, slots=SLOTS, mean_length=MEAN_LENGTH))
    lengths = parse_lengths(f"geometric:mean={MEAN_LENGTH}")
    return [
        Bench(parse_policy(policy), make_workload(count, lengths, arrivals, seed), SLOTS, StepTime(), slotted)
        for seed in range(replications)
    ]


@pytest.mark.parametrize("edge", [0.9, 0.3, 0.042, 3.1e-4, 2e-5])
def test_bisection_ends_where_it_saw_the_property_hold(edge: float) -> None:
    tried: dict[float, bool] = {}

    def holds(value: float) -> bool:
        assert value not in tried
        tried[value] = value <= edge
        return tried[value]

    found = largest(holds, 1.0)
    assert found.holds is not None
    assert found.fails is not None
    assert (tried[found.holds], tried[found.fails]) == (True, False)
    assert found.holds < found.fails <= (1 + WIDTH) * found.holds
    assert all(float(f"{value:.4g}") == value for value in tried)  # what a table prints is what was tried
    assert len(tried) <= 17


def test_bisection_that_finds_no_edge_says_which_end_it_came_to() -> None:
    assert largest(lambda _: True, 1.0) == Edge(1.0, None)
    assert largest(lambda _: False, 1.0) == Edge(None, float(f"{2**-16:.4g}"))


def test_of_a_property_that_comes_and_goes_one_end_is_found() -> None:
    found = largest(
        lambda value: value <= 0.1 or 0.4 <= value <= 0.6, 1.0
    )  # a half holds, a quarter does not
    assert found.holds == pytest.approx(0.6, rel=WIDTH)
    assert largest(lambda value: value <= 0.1 or 0.8 <= value <= 0.9, 1.0).holds == pytest.approx(
        0.1, rel=WIDTH
    )  # none of 1, 1 / 2 and 1 / 4 holds


def test_speed_divides_times_and_nothing_else() -> None:
    workload = Workload([3.0, 1.0, 2.0], [1, 2, 3])
    bench = Bench(parse_policy("fcfs"), workload, 1, StepTime())
    run = bench.run(4.0)
    assert run.requests is not None
    assert run.requests.release.tolist() == [0.25, 0.5, 0.75]
    assert run.requests.length.tolist() == [2, 3, 1]
    assert bench.run(1.0, part=2).requests.length.tolist() == [2]  # type: ignore[union-attr]
    assert (bench.rate, bench.work) == (1.0, 2.0)


def test_first_come_first_served_keeps_up_to_a_load_of_one() -> None:
    mine = benches("fcfs")
    limit = over_replications(mine, [stable_rate(bench) for bench in mine])
    load = limit.work.scaled(1 / SLOTS)
    assert load.low is not None
    assert load.high is not None
    assert load.low <= 1 <= load.high
    assert load.high - load.low < 0.03
    assert limit.rate.value == pytest.approx(SLOTS / MEAN_LENGTH, rel=0.02)


def test_fairness_costs_capacity() -> None:
    limits = {}
    for alpha in (2, 20):
        mine = benches(f"isjl:alpha={alpha}", replications=2)
        edges = [stable_rate(bench) for bench in mine]
        limits[alpha] = over_replications(mine, edges).work.value
        for bench, edge in zip(mine, edges, strict=True):
            assert edge.holds is not None
            assert edge.fails is not None
            assert keeps_up(bench, edge.holds / bench.rate)
            assert not keeps_up(bench, edge.fails / bench.rate)
    assert limits[2] is not None
    assert limits[20] is not None
    assert limits[2] < 0.9 * limits[20] < 0.9 * SLOTS


def test_objectives_are_met_up_to_the_load_that_theory_says() -> None:
    # P99 of the latency grows with the load: at the ends of the interval it lies around the objective
    mine = benches("fcfs", slotted=True)
    edges = [attaining_rate(bench, {"e2el": 70.0}, 0.99) for bench in mine]
    load = over_replications(mine, edges).work.scaled(1 / SLOTS)
    assert load.low is not None
    assert load.high is not None
    assert load.high - load.low < 0.06
    low, high = (
        slotted_fcfs(SLOTS, Geometric(MEAN_LENGTH), end * SLOTS / MEAN_LENGTH).quantile(0.99)
        for end in (load.low, load.high)
    )
    assert low <= 70 <= high


def test_the_share_counts_requests_after_the_warm_up() -> None:
    bench = Bench(parse_policy("fcfs"), Workload([0, 1, 50, 60], [9, 9, 9, 20]), 1, StepTime())
    run = bench.run(1.0)
    assert attained(run, {"e2el": 9.0}) == 0.5  # the second waits, the fourth is long
    assert attained(run, {"e2el": 9.0}, warmup=2) == 0.5
    assert attained(run, {"e2el": 9.0}, warmup=3) == 0.0


def test_the_rate_of_one_sequence_is_one_that_was_seen_to_hold() -> None:
    bench = benches("isjl:alpha=2", count=2_000, replications=1)[0]
    limit = over_replications([bench], [attaining_rate(bench, {"ttft": 60.0}, 0.95)])
    assert limit.rate.value is not None
    assert limit.fails_at is not None
    shares = [
        attained(bench.run(rate / bench.rate), {"ttft": 60.0}) for rate in (limit.rate.value, limit.fails_at)
    ]
    assert shares[1] < 0.95 <= shares[0]
    assert limit.rate.note == ONE_SEQUENCE
    assert limit.work.value == pytest.approx(limit.rate.value * bench.work / bench.rate)


def test_the_interval_holds_what_bisection_leaves_open() -> None:
    mine = benches("fcfs", count=500, replications=2)
    rate = over_replications(mine, [Edge(0.3, 0.302), Edge(0.3, 0.302)]).rate  # no chance, but a width
    assert (rate.low, rate.value, rate.high) == pytest.approx((0.3, 0.301, 0.302))


def test_what_no_rate_can_meet() -> None:
    mine = benches("fcfs", count=500, replications=2)
    edges = [attaining_rate(bench, {"e2el": 0.5}, 0.5) for bench in mine]
    assert [edge.holds for edge in edges] == [None, None]
    limit = over_replications(mine, edges)
    assert (limit.rate.note, limit.work.note, limit.rate.half_width) == (BELOW, BELOW, None)
    assert limit.rate.value == limit.fails_at
    assert limit.rate.value == pytest.approx(
        np.mean([bench.rate * bench.fastest for bench in mine]) / 2**16, rel=1e-3
    )


def test_what_the_fastest_arrivals_still_meet_is_a_lower_bound() -> None:
    mine = benches("fcfs", count=500, replications=2)
    edges = [attaining_rate(bench, {"e2el": 1e6}, 0.99) for bench in mine]
    limit = over_replications(mine, edges)
    assert (limit.rate.half_width, limit.rate.note, limit.fails_at) == (None, AT_LEAST, None)
    assert limit.rate.value == pytest.approx(
        np.mean([bench.rate * bench.fastest for bench in mine]), rel=1e-3
    )


def test_no_policy_keeps_up_with_more_than_all_slots_can_do() -> None:
    # 200 requests on 64 slots hardly ever queue: the run alone would let far more pass
    arrivals = parse_arrivals("poisson", rate=rate_for_load(1, slots=64, mean_length=200))
    workload = make_workload(200, parse_lengths("geometric:mean=200"), arrivals, 0)
    bench = Bench(parse_policy("fcfs"), workload, 64, StepTime())
    found = judge(bench.run(1.05 * 64 / bench.work))
    assert found is not None
    assert found.verdict == "stable"
    assert not keeps_up(bench, 1.05 * 64 / bench.work)


SMALL = (
    "capacity", "--policy", "fcfs", "--policy", "isjl:alpha=5", "--slots", 4,
    "--lengths", "geometric:mean=10", "--num-prompts", 2000, "--replications", 2,
    "--loads", "0.3,0.9", "--goodput", "e2el:60", "--jobs", 1,
)  # fmt: skip


def small(objectives: str) -> list[str | int]:
    return [objectives if word == "e2el:60" else word for word in SMALL]


def test_a_metric_that_no_request_has_is_told_and_not_drawn(command: Command, tmp_path: Path) -> None:
    code, _, _ = command(
        "capacity --policy fcfs --slots 4 --lengths fixed:length=1 --num-prompts 200 --replications 2 "
        "--jobs 1 --loads 0.3 --metric tpot --percentiles 50 --goodput e2el:9 --out",
        tmp_path,
    )
    assert code == 0
    assert [path.name for path in tmp_path.glob("*.png")] == ["attainment-against-load.png"]
    assert "-: no request has a value" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_command_writes_table_curve_pictures_and_page(command: Command, tmp_path: Path) -> None:
    code, out, err = command(*SMALL, "--out", tmp_path)
    assert code == 0
    assert err.startswith("fcfs, isjl:alpha=5 on 4 slots: 2,000 requests")
    assert re.search(r"^fcfs +0\.\d+ ± ", out, re.MULTILINE)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "attainment-against-load.png",
        "attainment-against-load.svg",
        "capacity.csv",
        "capacity.json",
        "latency-against-load.png",
        "latency-against-load.svg",
        "report.html",
    ]
    content = json.loads((tmp_path / "capacity.json").read_text(encoding="utf-8"))
    assert content["stable"]["fcfs"]["load"]["value"] > content["stable"]["isjl:alpha=5"]["load"]["value"]
    verdicts = {(row["policy"], row["load"]): row["verdict"] for row in content["curve"]}
    assert verdicts["isjl:alpha=5", 0.3] == "stable"
    assert verdicts["isjl:alpha=5", 0.9] == "unstable"
    shares = [row["value"] for row in content["curve"] if row["statistic"] == "attainment"]
    assert len(shares) == 4
    assert all(0 <= share <= 1 for share in shares)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "! the queue grows: the number depends on the length of the run" in page


def test_the_same_in_one_process_or_two(command: Command) -> None:
    words = [word for word in SMALL if word != "--jobs"][:-1]
    one, two = (json.loads(command(*words, "--jobs", jobs, "--json")[1]) for jobs in (1, 2))
    assert one == two


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0.5,0.4", "loads='0.5,0.4': must rise from above 0, found 0.4 after 0.5"),
        ("0,0.4", "loads='0,0.4': must rise from above 0, found 0 after 0"),
        ("x", "loads='x': must be a finite number"),
    ],
)
def test_loads_that_cannot_be(text: str, message: str) -> None:
    assert refusal(lambda: parse_loads(text)) == message


@pytest.mark.parametrize("text", ["99", "0%", "101%"])
def test_shares_that_cannot_be(text: str) -> None:
    assert parse_share("99.5%") == pytest.approx(0.995)
    assert refusal(lambda: parse_share(text)) == (
        f"attainment={text!r}: must be a percentage above 0% and at most 100%"
    )


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("--arrivals backlog --num-prompts 50", "--arrivals"),
        ("--requests at-once.csv", "--requests"),
        ("--workload at-once.toml", "--workload"),
        ("--workload at-once.toml --arrivals backlog", "--arrivals"),
        ("--preset demo --num-prompts 1", "--num-prompts=1"),
    ],
)
def test_a_backlog_has_no_rate(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, option: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("at-once.csv").write_text("release,length\n0,3\n0,4\n", encoding="utf-8")
    Path("at-once.toml").write_text(
        'num-prompts = 9\nlengths = "fixed:length=3"\narrivals = "backlog"\n', encoding="utf-8"
    )
    assert command(f"capacity --policy fcfs {words}") == (
        2, "", f"serving-sim: error: {option}: all requests come at once, there is no rate to change\n",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("count", "why"),
    [
        (50, "too few to tell how fast they can come, 64 slots take them all at once"),
        (
            100,
            (
                "too few to tell what fcfs keeps up with, as fast as 64 slots can serve them half of them "
                "come within a mean service"
            ),
        ),
    ],
)
def test_too_few_requests_to_tell(command: Command, count: int, why: str) -> None:
    words = ("--slots", 64, "--num-prompts", count, "--lengths", "geometric:mean=200", "--policy", "fcfs")
    code, out, err = command("capacity", *words, "--jobs", 1, "--quiet")
    assert (code, out, err) == (2, "", f"serving-sim: error: {count} requests: {why}\n")


def test_one_replication_is_one_where_it_is_asked_for(command: Command) -> None:
    words = (
        "capacity",
        "--policy",
        "fcfs",
        "--slots",
        2,
        "--lengths",
        "geometric:mean=5",
        "--num-prompts",
        200,
    )
    headlines = [
        command(*words, *asked, "--loads", 0.3, "--jobs", 1)[2].splitlines()[0]
        for asked in ((), ("--replications", 1))
    ]
    assert headlines[0] == f"{headlines[1]}, 5 replications"


def test_objectives_that_do_not_bind(command: Command) -> None:
    _, out, _ = command(*small("e2el:1e6"), "--quiet")
    assert re.search(r"^fcfs .* at least 0\.\d+ +at least 1\.\d+$", out, re.MULTILINE)
    assert "at least: so it still is where requests come a quarter faster" in out


def test_objectives_that_no_rate_meets(command: Command) -> None:
    code, out, _ = command(*small("e2el:0.5"), "--quiet")
    assert code == 0
    assert re.search(r"^fcfs .* below \d\.\d+e-06 +below \d\.\d+e-05$", out, re.MULTILINE)
    assert "below: so it is not yet at this rate, the slowest that was tried" in out


def test_other_step_times_have_rates_but_no_loads(command: Command) -> None:
    words = ("--step-time", "base=1,per_request=0.1", "--request-rate", 0.2)
    _, out, _ = command(*SMALL, *words, "--json")
    content = json.loads(out)
    assert content["stable"]["fcfs"]["load"]["value"] is None
    # a full batch of four takes 1.4 time units a step, so at most 4 / 14 requests per time unit
    assert content["stable"]["fcfs"]["rate"]["value"] == pytest.approx(4 / 14, rel=0.1)


def test_policies_meet_the_same_requests() -> None:
    one, other = benches("fcfs", count=500, replications=1)[0], benches("sjf", count=500, replications=1)[0]
    first, second = one.run(0.5).requests, other.run(0.5).requests
    assert first is not None
    assert second is not None
    assert np.array_equal(first.release, second.release)


def test_what_the_engine_refuses_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = benches("fcfs", count=100, replications=1)[0]
    calls: list[None] = []

    def refuse(*_: object, **__: object) -> Run:
        calls.append(None)
        raise ValueError("once")

    monkeypatch.setattr("analysis.capacity.simulate", refuse)
    assert refusal(lambda: bench.run(1.0)) == "once"
    assert len(calls) == 1


def test_texts_are_left_behind_once() -> None:
    workload = Workload([3.0, 1.0], [1, 2], request_id=["b", "a"], tenant=["x", "y"], upper=[4, 5])
    run = Bench(parse_policy("fcfs"), workload, 1, StepTime()).run(2.0)
    assert run.requests is not None
    assert (run.requests.request_id, run.requests.tenant) == (None, None)
    assert run.requests.upper is not None
    assert run.requests.upper.tolist() == [5, 4]


def test_warm_up_is_one_number_for_all_loads(command: Command) -> None:
    head = ("capacity", "--policy", "fcfs", "--num-prompts", 50, "--quiet", "--warmup")
    assert command(*head, "auto") == (
        2, "",
        "serving-sim: error: --warmup=auto: must be a number here, every load would have one of its own\n",
    )  # fmt: skip
    assert command(*head, "-1") == (
        2, "", "serving-sim: error: warmup='-1': must be auto or a whole number >= 0\n",
    )  # fmt: skip


def test_processes_are_counted_alike_by_all_commands() -> None:
    assert processes(3) == 3
    assert processes(None) == cpu_count()
    commands = (capacity.capacity, calibrate.calibrate, validate.validate, reproduce.reproduce, study.run)
    assert {signature(each).parameters["jobs"].default for each in commands} == {None}


def test_a_load_at_which_nobody_can_tell_is_marked_and_has_no_interval() -> None:
    question = Question("e2el", (50,), (0.5, 0.7, 0.9), None, 0.99)
    verdicts = {0.5: "stable", 0.7: "undecided", 0.9: "unstable"}
    curve = tuple(
        Point("fcfs", load, load, verdict, statistic, Estimate(100 * load))
        for load, verdict in verdicts.items()
        for statistic in ("mean", "p50")
    )
    limit = Limit(Estimate(0.6), Estimate(0.6), 0.602)
    section = capacity_section(Capacity({"fcfs": limit}, {}, curve, 1.0), question, TimeUnit("step"))
    assert section.tables[1].rows == [("fcfs", "50", "70 ?", "90 !")]
    assert [note[0] for note in section.tables[1].notes] == ["!", "?"]
    line, squares = section.pictures[0].figure.axes[0].lines
    assert list(np.asarray(line.get_xdata())) == [0.5, 0.7]  # it ends where the policy no longer keeps up
    assert (squares.get_marker(), list(np.asarray(squares.get_xdata()))) == ("s", [0.7])


def test_a_stable_load_without_an_interval_is_marked_with_what_it_would_take() -> None:
    question = Question("e2el", (), (0.5, 0.9), None, 0.99)
    points = tuple(
        Point("fcfs", load, load, "stable", "mean", Estimate(9.0, note=f"about {need} needed"))
        for load, need in ((0.5, "2,200"), (0.9, "100,000"))
    )
    limit = Limit(Estimate(0.6, note=ONE_SEQUENCE), Estimate(0.6, note=ONE_SEQUENCE), 0.602)
    found = Capacity({"fcfs": limit}, {}, points, 1.0, ONE_SEQUENCE)
    section = capacity_section(found, question, TimeUnit("step"))
    limits, means = section.tables
    assert limits.title == "largest arrival rates in requests per step"
    assert limits.notes == [
        "each rate was seen to be served so; bisection ended where one at most 0.5 % above was not",
        "one sequence of arrivals: no interval",
    ]
    assert means.rows == [("fcfs", "9 ?", "9 ?")]
    assert means.notes == [
        "? no interval: about 100,000 needed for fcfs at load 0.9, the highest of these loads"
    ]
    assert "in every replication" not in section.measures[0]
    assert (
        "(one sequence of arrivals: no interval, and it holds for a log of this length" in section.measures[0]
    )


@pytest.mark.parametrize(
    ("notes", "said"),
    [
        (["few", None], "few, or too short to tell whether the queue grows as long as requests arrive"),
        ([None], "too short to tell whether the queue grows as long as requests arrive"),
        ([ONE_SEQUENCE, ONE_SEQUENCE], "one sequence of arrivals"),
        (["few", "more"], "more for fcfs at load 2, the highest of these loads"),
    ],
)
def test_one_line_says_what_a_question_mark_stands_for(notes: list[str | None], said: str) -> None:
    points = tuple(
        Point("fcfs", load, load, "stable" if note else "undecided", "mean", Estimate(9.0, note=note))
        for load, note in enumerate(notes, start=1)
    )
    limit = Limit(Estimate(3.0), Estimate(3.0), 3.01)
    loads = [point.load for point in points]
    section = capacity_section(
        Capacity({"fcfs": limit}, {}, points, 1.0), Question("e2el", (), loads, None, 0.99), TimeUnit("step")
    )
    assert section.tables[1].notes == [f"? no interval: {said}"]


def test_rotations_of_one_log_give_a_limit_without_an_interval() -> None:
    question = Question("e2el", (50,), (0.5,), None, 0.99)
    several = [benches("fcfs", count=600, replications=2)]
    made, drawn = (
        measure(several, question, jobs=1, done=lambda _: None, ruled_out=note) for note in (None, ONE_LOG)
    )
    assert (made.stable["fcfs"].rate.note, made.note) == (None, None)
    assert {drawn.stable["fcfs"].rate.note, drawn.note} == {ONE_LOG}
    assert {point.estimate.note for point in drawn.curve} == {ONE_LOG}


def queues(count: int, load: float, replications: int) -> list[Run]:
    process = parse_arrivals("poisson", rate=rate_for_load(load, slots=1, mean_length=MEAN_LENGTH))
    lengths = parse_lengths(f"geometric:mean={MEAN_LENGTH}")
    return [
        simulate(make_workload(count, lengths, process, seed), parse_policy("fcfs"), slots=1)
        for seed in range(replications)
    ]


def test_the_share_that_meets_an_objective_has_the_guard_of_a_quantile() -> None:
    """Where three in a hundred miss it, five replications need ten of these apiece: 333 requests at tau 1."""
    short, long = queues(200, 0.2, 5), queues(4_000, 0.2, 5)
    found = attainment(short, {"e2el": 45.0})
    assert found.low is None
    assert found.value == pytest.approx(0.97, abs=0.02)
    assert found.note is not None
    assert re.fullmatch(
        r"not enough data for attainment \(n = 200, about [\d,]+ needed\) in each replication", found.note
    )
    sure = attainment(long, {"e2el": 45.0})
    shares = [attained(run, {"e2el": 45.0}) for run in long]
    assert sure == replications.interval(shares)


@pytest.mark.parametrize(("limit", "share"), [(1e9, 1.0), (0.5, 0.0)])
def test_one_kind_of_requests_has_no_interval(limit: float, share: float) -> None:
    assert attainment(queues(200, 0.2, 3), {"e2el": limit}) == Estimate(share, note=ALL_OR_NONE)


def test_no_share_lies_beyond_all_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analysis.attainment.enough_observations", lambda _: 0.01)
    found = attainment(queues(200, 0.2, 2), {"e2el": 60.0})
    assert found.value is not None
    assert 0.97 < found.value < 1
    assert found.high == 1.0
