"""The trace of a run holds the schedule, in a form that viewers can nest and add up."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chrome_trace import Trace, read_trace
from hypothesis import given
from hypothesis import strategies as st

from analysis import timeline
from analysis.cli import main
from analysis.time_unit import TimeUnit
from analysis.timeline import Window, trace_events, write_timeline
from policies import parse_policy
from serving_sim import Run, StepTime, Workload, simulate

Event = dict[str, Any]


def served() -> Run:
    workload = Workload(release=[0, 0, 0.5, 20], length=[3, 5, 2, 4], request_id=["a", "b", "<c>", ""])
    return simulate(workload, parse_policy("fcfs"), slots=2, record_batches=True)


def events(run: Run) -> list[Event]:
    return list(trace_events(run, Window().requests(run)))


def nanoseconds(stamp: float) -> int:
    return round(1000 * stamp)


def read(path: Path) -> list[Event]:
    content: list[Event] = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    return content


def test_a_schedule_by_hand() -> None:
    found = events(served())
    slices = {
        each["name"]: (each["tid"], each["ts"], each["dur"]) for each in found if each.get("cat") == "request"
    }
    assert slices == {
        "a": (1, 0.0, 3000.0),
        "b": (2, 0.0, 5000.0),
        "<c>": (1, 3000.0, 2000.0),
        "''": (1, 20000.0, 4000.0),
    }
    waiting = [(each["ph"], each["ts"]) for each in found if each.get("cat") == "waiting"]
    assert waiting == [("b", 500.0), ("e", 3000.0)]
    counters: dict[str, list[tuple[float, int]]] = {}
    for each in found:
        if each["ph"] == "C":
            counters.setdefault(each["name"], []).append((each["ts"], each["args"][each["name"]]))
    assert counters["waiting"] == [(0.0, 0), (500.0, 1), (3000.0, 0)]
    assert counters["active"] == [(0.0, 2), (5000.0, 0), (20000.0, 1), (24000.0, 0)]
    assert counters["gap"] == [(0.0, 0), (3000.0, 3), (5000.0, 0)]
    assert counters["max progress"] == [(0.0, 0), (3000.0, 3), (5000.0, 0)]


@pytest.mark.parametrize(
    ("unit", "last", "worker"),
    [
        (TimeUnit.of(steps=True, seconds=0.03), 720_000.0, "worker, fcfs"),  # 24 steps of 0.03 s
        (TimeUnit.of(steps=False, seconds=1), 24_000_000.0, "worker, fcfs"),
        (TimeUnit.of(steps=True, seconds=None), 24_000.0, "worker, fcfs (1 ms is a step)"),
        (TimeUnit.of(steps=False, seconds=None), 24_000.0, "worker, fcfs (1 ms is a time unit)"),
    ],
)
def test_the_clock_is_that_of_the_run_where_seconds_are_known(
    unit: TimeUnit, last: float, worker: str
) -> None:
    run = served()
    found = list(trace_events(run, Window().requests(run), unit))
    assert max(each["ts"] + each.get("dur", 0) for each in found if "ts" in each) == pytest.approx(last)
    assert next(each["args"]["name"] for each in found if each["name"] == "process_name") == worker


def test_the_timeline_of_a_log_in_seconds_is_in_seconds(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("arrival_s,input_tokens,output_tokens\n0,3,7\n60,5,5\n", encoding="utf-8")
    options = ["run", "--policy", "fcfs", "--slots", "2", "--time-unit", "0.5", "--timeline", "-q"]
    assert main([*options, "--requests", str(log), "--out", str(tmp_path / "out")]) == 0
    found = read(tmp_path / "out" / "timeline.json.gz")
    lives = {each["name"]: (each["ts"], each["dur"]) for each in found if each.get("cat") == "request"}
    assert lives == {"0": (0.0, 5e6), "1": (60e6, 5e6)}  # ten steps of half a second


def test_arrows_lead_from_the_slice_of_the_release_to_that_of_the_request() -> None:
    found = events(served())
    slices = [each for each in found if each["ph"] == "X"]
    for arrow in (each for each in found if each["ph"] in "sf"):
        around = [
            each["name"]
            for each in slices
            if (each["pid"], each["tid"]) == (arrow["pid"], arrow["tid"])
            and each["ts"] <= arrow["ts"] < each["ts"] + each["dur"]
        ]
        assert len(around) == 1
    assert sum(each["ph"] == "s" for each in found) == sum(each["ph"] == "f" for each in found) == 4


@given(
    releases=st.lists(st.floats(0, 50), min_size=1, max_size=12),
    lengths=st.lists(st.integers(1, 9), min_size=12, max_size=12),
    base=st.sampled_from([1.0, 0.03, 7.3]),
    policy=st.sampled_from(["fcfs", "isjl:alpha=3", "delayed:x=1,inner=fcfs"]),
)
def test_slices_of_a_thread_never_overlap(
    releases: list[float], lengths: list[int], base: float, policy: str
) -> None:
    workload = Workload(release=releases, length=lengths[: len(releases)])
    run = simulate(workload, parse_policy(policy), slots=3, step_time=StepTime(base), record_batches=True)
    found = events(run)
    ends: dict[tuple[int, int], int] = {}
    for each in sorted((each for each in found if each["ph"] == "X"), key=lambda each: each["ts"]):
        thread = (each["pid"], each["tid"])
        assert nanoseconds(each["ts"]) >= ends.get(thread, 0)
        ends[thread] = nanoseconds(each["ts"]) + nanoseconds(each["dur"])
    active = [each["args"]["active"] for each in found if each["name"] == "active"]
    assert active[-1] == 0
    assert max(active) <= 3


def test_threads_and_processes_have_numbers_of_their_own() -> None:
    found = events(served())
    processes = {each["pid"] for each in found}
    assert processes.isdisjoint({each["tid"] for each in found if "tid" in each})
    assert len(processes) == 2


def test_a_window_holds_what_waits_or_runs_in_it() -> None:
    run = served()
    assert Window(0.6, 3).requests(run).tolist() == [0, 1, 2]
    assert Window(5, 10).requests(run).tolist() == []
    assert Window(5, 21).requests(run).tolist() == [3]


def test_long_runs_are_cut_and_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "MOST_REQUESTS", 2)
    said = write_timeline(tmp_path / "timeline.json.gz", served())
    assert said == "timeline.json.gz: 2 of 4 requests, the first 2 admitted there"
    names = [each["name"] for each in read(tmp_path / "timeline.json.gz") if each.get("cat") == "request"]
    assert names == ["a", "b"]


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "other"):
        write_timeline(tmp_path / name / "timeline.json.gz", served())
    one, other = ((tmp_path / name / "timeline.json.gz").read_bytes() for name in ("one", "other"))
    assert one == other


# ---- by a reader that knows the format alone ----------------------------------------------------------


def busy() -> Run:
    rng = np.random.default_rng(5)
    workload = Workload(np.cumsum(rng.exponential(3.0, 60)).round(1), rng.geometric(0.1, 60))
    return simulate(workload, parse_policy("isjl:alpha=6"), slots=4, record_batches=True)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Trace]:
    run, path = busy(), tmp_path_factory.mktemp("trace") / "timeline.json.gz"
    write_timeline(path, run)
    return run, read_trace(path)


def test_a_reader_finds_every_request_on_its_slot(seen: tuple[Run, Trace]) -> None:
    run, trace = seen
    assert run.requests is not None
    slots = {
        slot: trace.track(f"worker, {run.policy} (1 ms is a time unit)", f"slot {slot}")
        for slot in range(run.slots)
    }
    for slot, track in slots.items():
        here = np.flatnonzero(run.slot == slot)
        here = here[np.argsort(run.start[here])]
        assert [each.name for each in trace.slices[track]] == here.astype(str).tolist()
        times = [(each.begin / 1000, each.end / 1000) for each in trace.slices[track]]
        np.testing.assert_allclose(times, np.column_stack([run.start[here], run.finish[here]]), atol=1e-6)
        told = [(each.arguments["length"], each.arguments["queue_time"]) for each in trace.slices[track]]
        wait = run.start[here] - run.requests.release[here]
        np.testing.assert_allclose(told, np.column_stack([run.requests.length[here], wait]))
    assert sum(map(len, trace.slices.values())) == 60 + len(np.unique(run.requests.release))


def test_a_reader_finds_who_waited_and_an_arrow_from_every_release_to_its_start(
    seen: tuple[Run, Trace],
) -> None:
    run, trace = seen
    assert run.requests is not None
    released, started = (np.round(1000 * each, 3).tolist() for each in (run.requests.release, run.start))
    waits = [(str(row), *span) for row, span in enumerate(zip(released, started, strict=True))]
    assert sorted(trace.waits) == sorted(wait for wait in waits if wait[1] < wait[2])
    assert 10 < len(trace.waits) < 60
    source = trace.track("queue and batch", "releases")
    slots = [
        trace.track(f"worker, {run.policy} (1 ms is a time unit)", f"slot {slot}")
        for slot in run.slot.tolist()
    ]
    arrows = [
        ((source, begin), (track, end)) for begin, track, end in zip(released, slots, started, strict=True)
    ]
    assert sorted(trace.arrows) == sorted(arrows)


def test_a_reader_finds_counters_that_say_what_the_requests_say(seen: tuple[Run, Trace]) -> None:
    run, trace = seen
    assert run.requests is not None
    assert set(trace.counters) == {"waiting", "active", "max progress", "gap"}
    begin, end = run.start.min(), run.makespan
    for time in np.linspace(begin + 0.01, end - 0.01, 200):
        active = (run.start <= time) & (run.finish > time)
        made = np.floor(time - run.start[active] + 1e-9)
        value = {
            name: [value for at, value in series if at <= 1000 * time][-1]
            for name, series in trace.counters.items()
        }
        assert value["active"] == np.count_nonzero(active)
        assert value["gap"] == (np.ptp(made) if active.any() else 0)
        assert value["waiting"] == np.count_nonzero((run.requests.release <= time) & (run.start > time))
    for series in trace.counters.values():
        assert all(one[1] != other[1] for one, other in pairwise(series))  # an event only where it changes


@pytest.mark.parametrize(
    ("window", "message"),
    [
        (Window(6, 10), "timeline-window=6:10: no request waits or runs in it"),
        (None, "timeline: needs record_batches=True and no sink"),
    ],
)
def test_refusals(window: Window | None, message: str, tmp_path: Path) -> None:
    run = served() if window else simulate(Workload([0], [1]), parse_policy("fcfs"), slots=1)
    with pytest.raises(ValueError, match=message):
        write_timeline(tmp_path / "timeline.json.gz", run, window)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--timeline"], "--timeline: needs --out, the folder for timeline.json.gz"),
        (["--timeline-window", "0:3"], "--timeline-window: needs --timeline"),
        (["--timeline", "--timeline-window", "3", "--out", "x"], "timeline-window='3': must be FROM:TO"),
        (
            ["--timeline", "--timeline-window", "3:3", "--out", "x"],
            "timeline-window=3:3: must begin before it ends",
        ),
        (
            ["--timeline", "--timeline-window", "a:3", "--out", "x"],
            "timeline-window='a': must be a finite number",
        ),
    ],
)
def test_options_that_do_not_fit(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--policy", "fcfs", "--num-prompts", "5", *options]) == 2
    assert message in capsys.readouterr().err


def test_every_replication_and_policy_has_its_own(tmp_path: Path) -> None:
    words = ["compare", "--policy", "fcfs", "--policy", "sjf", "--num-prompts", "20", "--replications", "2"]
    assert main([*words, "--quiet", "--timeline", "--timeline-window", ":1e9", "--out", str(tmp_path)]) == 0
    found = sorted(tmp_path.rglob("timeline.json.gz"))
    assert [str(each.parent.relative_to(tmp_path)) for each in found] == [
        "fcfs/replication-1",
        "fcfs/replication-2",
        "sjf/replication-1",
        "sjf/replication-2",
    ]
    assert sum(each.get("cat") == "request" for each in read(found[0])) == 20
    assert np.isfinite([each["ts"] for each in read(found[0]) if "ts" in each]).all()
