"""A run watched epoch by epoch: what is recorded, and how it reads on paper."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import Command
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from analysis.cli.frames import draw
from analysis.watch import Frame, Observer, Recording, Waiting, observer, record
from policies import FCFS, parse_policy
from serving_sim import Admission, Epoch, Explanation, PolicyError, StepTime, Workload, simulate

FIVE = Workload([0] * 5, [10, 7, 7, 5, 1], request_id=list("abcde"))
"""The instance of the model's table: 10 starts at 2, the 7s at 6 and 13, 5 at 0 and 1 at 5."""

POLICIES = (
    "fcfs",
    "ljf",
    "fair-sjf:alpha=4",
    "isjl:alpha=4",
    "isjl-as-printed:alpha=4",
    "windowed:w=3,inner=lpt",
)

PAPER = """\
epoch 1 of 7   time 0   step 0
finished  -
released  a, b, c, d, e

A_max     ....  0 of alpha = 4
gap       ....  0 of alpha = 4

  slot 0  free
> slot 1  d  .....  0 of 5

Phase ONE: packs end at step 6, longs start from step 6 - alpha = 2 on
  enters  d (5 tokens): packed on slot 1
  waits   a (10 tokens) since 0: long of slot 0, held until step 2
  waits   b (7 tokens) since 0: long of slot 1, held until step 2
  waits   e (1 token) since 0: packed on slot 1, place 1
  waits   c (7 tokens) since 0

epoch 2 of 7   time 2   step 2
finished  -
released  -

A_max     ##..  2 of alpha = 4
gap       ##..  2 of alpha = 4

> slot 0  a  ..........  0 of 10
  slot 1  d  ##...       2 of 5

Phase ONE: packs end at step 6, longs start from step 6 - alpha = 2 on
  enters  a (10 tokens): long of slot 0
  waits   b (7 tokens) since 0: long of slot 1, after its pack
  waits   e (1 token) since 0: packed on slot 1, place 1
  waits   c (7 tokens) since 0

epoch 3 of 7   time 5   step 5
finished  d
released  -

A_max     ###.  3 of alpha = 4
gap       ###.  3 of alpha = 4

  slot 0  a  ###.......  3 of 10
> slot 1  e  .           0 of 1

Phase ONE: packs end at step 6, longs start from step 6 - alpha = 2 on
  enters  e (1 token): packed on slot 1
  waits   b (7 tokens) since 0: long of slot 1, when the slot is free
  waits   c (7 tokens) since 0

epoch 4 of 7   time 6   step 6
finished  e
released  -

A_max     ####  4 of alpha = 4
gap       ####  4 of alpha = 4

  slot 0  a  ####......  4 of 10
> slot 1  b  .......     0 of 7

Phase ONE: packs end at step 6, longs start from step 6 - alpha = 2 on
  enters  b (7 tokens): long of slot 1
  waits   c (7 tokens) since 0

epoch 5 of 7   time 12   step 12
finished  a
released  -

A_max     ####!!  6 of alpha = 4
gap       ....    0 of alpha = 4

  slot 0  free
  slot 1  b  ######.  6 of 7

A_max = 6 > alpha = 4: nobody may enter, the policy is not asked
  waits   c (7 tokens) since 0

epoch 6 of 7   time 13   step 13
finished  b
released  -

A_max     ....  0 of alpha = 4
gap       ....  0 of alpha = 4

> slot 0  c  .......  0 of 7
  slot 1  free

no Phase ONE, fewer than two waiting requests exceed alpha = 4: the largest first
  enters  c (7 tokens)

epoch 7 of 7   time 20   step 20
finished  c
released  -

A_max     ....  0 of alpha = 4
gap       ....  0 of alpha = 4

  slot 0  free
  slot 1  free

nobody waits
"""


def recorded(policy: str, workload: Workload, *, slots: int = 2, **options: object) -> Recording:
    watched = Observer(parse_policy(policy))
    return record(simulate(workload, watched, slots=slots, **options), watched)  # type: ignore[arg-type]


def frames(recording: Recording) -> list[Frame]:
    return [recording.frame(place) for place in range(len(recording))]


def text(frame: Frame, width: int | None = None, height: int | None = None) -> list[str]:
    return [line.plain.rstrip() for line in draw(frame, width=width, height=height)]


@pytest.fixture
def five(tmp_path: Path) -> Path:
    file = tmp_path / "five.csv"
    file.write_text("request_id,release,length\na,0,10\nb,0,7\nc,0,7\nd,0,5\ne,0,1\n", encoding="utf-8")
    return file


def test_every_epoch_is_printed_where_there_is_no_terminal(command: Command, five: Path) -> None:
    words = ("watch --policy isjl:beta=optimal --alpha 4 --slots 2 --requests", five)
    code, out, err = command(*words)
    assert (code, out) == (0, PAPER)
    assert err.startswith("isjl:alpha=4,beta=optimal on 2 slots: five.csv (plain): 5 rows = 5 kept\n")
    assert command(*words, "--no-tty", "--quiet") == (0, PAPER, "")


def test_json_holds_every_epoch(command: Command, five: Path) -> None:
    code, out, err = command("watch --policy isjl:alpha=4,beta=optimal --slots 2 --json --requests", five)
    content = json.loads(out)
    assert (code, err) == (0, "")
    assert {key: content[key] for key in ("policy", "slots", "alpha")} == {
        "policy": "isjl:alpha=4,beta=optimal",
        "slots": 2,
        "alpha": 4,
    }
    assert len(content["epochs"]) == 7
    assert content["epochs"][2] == {
        "epoch": 3,
        "epochs": 7,
        "time": 5.0,
        "step": 5,
        "finished": ["d"],
        "released": [],
        "slots": [
            {"request": "a", "length": 10, "progress": 3, "enters": False},
            {"request": "e", "length": 1, "progress": 0, "enters": True},
        ],
        "waiting": [
            {"request": "b", "length": 7, "size": 7, "since": 0.0},
            {"request": "c", "length": 7, "size": 7, "since": 0.0},
        ],
        "max_progress": 3,
        "gap": 3,
        "alpha": 4,
        "violates": False,
        "rule": "Phase ONE: packs end at step 6, longs start from step 6 - alpha = 2 on",
        "reasons": {"e": "packed on slot 1", "b": "long of slot 1, when the slot is free"},
    }


requests = st.tuples(st.integers(0, 60).map(lambda quarter: quarter / 4), st.integers(1, 12))


@given(
    rows=st.lists(requests, min_size=1, max_size=12),
    policy=st.sampled_from(POLICIES),
    slots=st.integers(1, 4),
    step_time=st.sampled_from([StepTime(), StepTime(base=1, per_token=0.125)]),
)
def test_epochs_agree_with_the_run(
    rows: list[tuple[float, int]], policy: str, slots: int, step_time: StepTime
) -> None:
    release, length = zip(*rows, strict=True)
    recording = recorded(policy, Workload(release, length), slots=slots, step_time=step_time)
    run = recording.run
    seen: dict[str, list[str]] = {"released": [], "entered": [], "finished": []}
    for frame in frames(recording):
        now = frame.time
        inside = {int(each.request) for each in frame.slots if each is not None}
        assert inside == set(np.flatnonzero((run.start <= now) & (now < run.finish)).tolist())
        assert all(run.slot[int(each.request)] == slot for slot, each in enumerate(frame.slots) if each)
        queue = np.flatnonzero((np.array(release) <= now) & (now < run.start)).tolist()
        assert {int(each.request) for each in frame.waiting} == set(queue)
        assert [each.since for each in frame.waiting] == sorted(each.since for each in frame.waiting)
        made = [each.progress for each in frame.slots if each is not None]
        assert frame.gap == (max(made) - min(made) if made else 0)
        assert all(0 <= each.progress < each.length for each in frame.slots if each is not None)
        for word, names in (("released", frame.released), ("finished", frame.finished)):
            seen[word] += names
        seen["entered"] += [each.request for each in frame.slots if each is not None and each.enters]
    assert all(sorted(map(int, names)) == list(range(len(rows))) for names in seen.values())
    assert max(frame.gap for frame in frames(recording)) == run.max_gap


def test_entries_beyond_alpha_are_found() -> None:
    # 0 and 1 enter at 0, request 2 when 1 ends at 5: request 0 is 5 ahead, the budget is 3
    recording = recorded("fcfs", Workload([0, 0, 0, 9], [9, 5, 2, 1]), alpha=3)
    first = recording.run.audit.first
    assert first is not None
    assert [recording.moments[place].time for place in recording.violations] == [first.time] == [5]
    frame = recording.frame(recording.violations[0])
    assert (frame.violates, frame.max_progress, frame.gap) == (True, 5, 5)
    assert "gap       ###!!  5 of alpha = 3  constraint (1) is broken" in text(frame)
    assert recorded("fcfs", FIVE).violations == ()


def test_nobody_is_asked_where_no_slot_is_free() -> None:
    # completions at 3 with a step of their own; a second one of the same step has no epoch of its own
    watched = frames(recorded("sjf", Workload([0, 0, 1], [3, 3, 4])))
    assert [(frame.time, frame.finished, frame.rule) for frame in watched[1:]] == [
        (3, ("0", "1"), "shortest job first: the smallest waiting request goes first"),
        (7, ("2",), "nobody waits"),
    ]


def test_policies_that_do_not_tell_and_predictions_that_differ() -> None:
    workload = Workload([0, 0, 0], [4, 2, 3], upper=[4, 6, 5])
    said = text(recorded("robust-isjl:alpha=9", workload, slots=1).frame(0))
    assert "  waits   0 (4 tokens) since 0" in said
    assert "  waits   2 (3 tokens, predicted 5) since 0" in said


def test_users_who_send_again_can_be_watched(command: Command) -> None:
    code, out, _ = command("watch --policy fcfs --users 2 --num-prompts 6 --slots 2 --think-time 3 --json")
    entered = [
        each["request"]
        for epoch in json.loads(out)["epochs"]
        for each in epoch["slots"]
        if each and each["enters"]
    ]
    assert (code, sorted(entered)) == (0, list("012345"))


def test_a_long_run_is_refused_with_what_to_do(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observer, "MOST_EPOCHS", 5)
    code, out, err = command("watch --policy fcfs --seed 1 --num-prompts 50")
    assert (code, out) == (2, "")
    assert err.startswith(
        "serving-sim: error: the run has more than 5 epochs, the most to watch, after time "
    )
    assert err.endswith(
        "take fewer requests with --num-prompts, or of a file a window with --from and --for\n"
    )


def test_completions_count_among_the_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = recorded("fcfs", FIVE)
    assert len(recording) == 5  # 0, then completions at 7, 10, 12, 14; the last one alone asks nobody
    monkeypatch.setattr("analysis.watch.recording.MOST_EPOCHS", 4)
    with pytest.raises(ValueError, match="the run has more than"):
        recorded("fcfs", FIVE)


def test_one_run_is_watched(command: Command) -> None:
    code, _, err = command("watch --policy fcfs --replications 2")
    assert (code, err) == (2, "serving-sim: error: --replications=2: must be 1, one run is watched\n")


def test_only_those_who_are_listed_are_described(monkeypatch: pytest.MonkeyPatch) -> None:
    described: list[str] = []

    def describing(request: str, *columns: float) -> Waiting:
        described.append(request)
        return Waiting(request, *columns)  # type: ignore[arg-type]

    monkeypatch.setattr("analysis.watch.recording.Waiting", describing)
    frame = recorded("isjl:alpha=4", Workload([0] * 1_000, [9] * 990 + [2] * 10)).frame(0)
    listed = [line.split()[1] for line in text(frame) if line.startswith("  waits ")]
    assert listed == described == ["1", "991", "2", "3", "4", "5", "6"]  # first who has a place in the plan
    assert len(frame.waiting) == 998
    assert [each.request for each in frame.waiting[-2:]] == ["998", "999"]


def test_names_are_shown_not_obeyed() -> None:
    names = ["\x1b[2J\x1b]0;owned\x07", "語" * 20, "\u202eevil\r\n", "", " "]
    said = text(recorded("fcfs", Workload([0] * 5, [3] * 5, request_id=names)).frame(0))
    assert all(line.isprintable() for line in said)
    frame = replace(recorded("fcfs", FIVE).frame(0), rule="\x1b[2J rule", reasons=(("a", "\x07 reason"),))
    assert {"\\x1b[2J rule", "  enters  a (10 tokens): \\x07 reason"} <= set(text(frame))
    assert "released  \\x1b[2J\\x1b]0;.., 語語語語語語語.., \\u202eevil\\r\\n, '', ' '" in said


@pytest.mark.parametrize("slots", [2, 40])
@pytest.mark.parametrize(("width", "height"), [(120, 38), (80, 22), (40, 16), (20, 20)])
def test_a_screen_holds_every_epoch(slots: int, width: int, height: int) -> None:
    random = np.random.default_rng(5)
    workload = Workload(np.sort(random.integers(0, 40, 120)), random.integers(1, 300, 120))
    recording = recorded("isjl:alpha=20", workload, slots=slots)
    for frame in frames(recording):
        lines = text(frame, width, height)
        assert max(map(cell_len, lines)) <= width
        assert len(lines) <= height
        assert any(line.startswith(("A_max", "no Phase", "Phase", "nobody", "no slot")) for line in lines[7:])


def test_however_coarse_the_marks_tokens_beyond_alpha_show() -> None:
    recording = recorded("fcfs", Workload([0, 0, 0], [10, 7, 300]), alpha=3)
    lines = text(recording.frame(1), 80, 22)
    assert lines[5:8] == [
        "gap       #!  7 of alpha = 3  constraint (1) is broken",
        "a mark is 12 tokens, begun ones count",
        "",
    ]


def test_slots_that_stand_idle_leave_their_room_to_the_queue() -> None:
    recording = recorded("ljf", Workload([0, *[1] * 30], [9] * 31), slots=40)
    lines = text(recording.frame(0), 80, 38)
    assert lines[7:9] == ["> slot  0  0  .........  0 of 9", "  and 39 free"]
    assert recording.moments[0].time == 0
    waiting = recorded("fcfs", Workload([0] * 30, [9] * 30), slots=2).frame(0)
    assert sum(line.startswith("  waits ") for line in text(waiting, 80, 40)) == 26


def test_what_has_no_room_is_counted() -> None:
    recording = recorded("fcfs", Workload([0] * 30, range(1, 31)), slots=20, alpha=2)
    lines = text(recording.frame(0), 80, 22)
    assert lines[1:3] == ["finished  -", "released  0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 20 more"]
    assert "  and 13 more busy" in lines
    assert lines[-1] == "  and 26 more"
    assert text(recording.frame(len(recording) - 1), 80, 22)[-2:] == ["", "nobody waits"]


def test_an_adversary_can_be_watched(command: Command) -> None:
    # ISJL packs one short of 4 in front of the second long and leaves the other: the lemma's mistake
    code, out, err = command("watch --policy isjl --adversary over-inserting:length=10 --json")
    content = json.loads(out)
    assert (code, err, content["policy"], content["slots"], content["alpha"]) == (0, "", "isjl:alpha=5", 2, 5)
    assert [each["length"] for each in content["epochs"][0]["slots"]] == [10, 4]
    # a first start at 0 is answered at 5.5, half a step too late to join fairly: it starts when 20 is done
    code, out, err = command("watch --policy fair-fcfs --adversary golden-ratio --json")
    assert [epoch["time"] for epoch in json.loads(out)["epochs"]] == [0, 20, 40]
    code, out, err = command("watch --policy fcfs --adversary golden-ratio:length=8 --alpha 2")
    assert err == "fcfs on 2 slots: golden-ratio against L = 8\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("jigsow", "adversary='jigsow': is unknown; did you mean 'jigsaw'? known: golden-ratio, over-"),
        ("jigsaw:gama=1", "jigsaw: parameter='gama': is unknown; did you mean 'gamma'? known: gamma, length"),
        ("jigsaw:length=1.5", "jigsaw: length='1.5': must be a whole number"),
        ("jigsaw:gamma", "jigsaw: gamma='': must be a number"),
        ("over-inserting:gamma=2", "gamma=2.0: must lie strictly between 0 and 1"),
        ("golden-ratio:gamma=0.5", "golden-ratio: takes no gamma"),
        ("golden-ratio --slots 9", "--slots=9: must be 2 for --adversary golden-ratio"),
        ("jigsaw:length=7,length=9", "jigsaw: 'length' is set twice"),
        ("jigsaw --num-prompts 5", "--adversary: cannot go with options of a workload, it is one"),
    ],
)
def test_adversaries_are_refused(command: Command, words: str, message: str) -> None:
    code, out, err = command(f"watch --policy isjl --adversary {words}")
    assert (code, out) == (2, "")
    assert err.startswith(f"serving-sim: error: {message}")


@pytest.mark.parametrize("reason", ["a text", Explanation("rule", {-1: "x"}), Explanation("rule", {0: ""})])
def test_what_is_no_reason_is_refused_by_name(reason: Explanation) -> None:
    class Odd(FCFS):
        def explain(self, epoch: Epoch, answer: Sequence[Admission]) -> Explanation:
            return reason

    with pytest.raises(PolicyError) as raised:
        simulate(Workload([2.5], [3]), Observer(Odd()), slots=1)
    assert str(raised.value) == (
        "policy fcfs at time 2.5: explain must return None, or an Explanation with texts about requests that "
        f"wait or enter, found {reason!r}"
    )
