"""The schedules inside the report: what they hold, and that a reader can move about in them."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import act, needs_browser
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from analysis.compare import compare
from analysis.outcome import evaluate
from analysis.report import comparison_page
from analysis.report import schedule as viewer
from analysis.report.schedule import broken_spans, schedules
from analysis.time_unit import TimeUnit
from policies import parse_policy
from serving_sim import Run, StepTime, Workload, simulate

HOSTILE = '</script><script>document.title="owned"</script>'


def runs(workload: Workload, *policies: str, slots: int = 2, alpha: int = 2) -> list[Run]:
    return [
        simulate(workload, parse_policy(each), slots=slots, alpha=alpha, record_batches=True)
        for each in policies
    ]


def small() -> list[Run]:
    workload = Workload(release=[0, 0, 0.5, 20], length=[9, 3, 4, 2], request_id=["a", HOSTILE, "", "d & e"])
    return runs(workload, "fcfs", "isjl:alpha=2")


def page(served: list[Run]) -> str:
    comparison = compare([evaluate([run]) for run in served], metrics=("e2el",))
    return comparison_page(comparison, [], facts={}, time_unit=TimeUnit("step"))


def content(served: list[Run]) -> dict[str, Any]:
    schedule = schedules([evaluate([run]) for run in served])
    assert schedule is not None
    read: dict[str, Any] = json.loads(schedule.json)
    return read


def columns(packed: str, count: int, *kinds: str) -> list[NDArray[Any]]:
    """Columns that were written byte by byte: all first bytes, all second ones, and so on."""
    raw = np.frombuffer(gzip.decompress(base64.b64decode(packed)), np.uint8)
    found, offset = [], 0
    for kind in map(np.dtype, kinds):
        end = offset + count * kind.itemsize
        found.append(raw[offset:end].reshape(kind.itemsize, count).T.copy().view(kind).ravel())
        offset = end
    assert offset == len(raw)
    return found


def test_columns_are_those_of_the_runs() -> None:
    served = small()
    found = content(served)
    assert (found["slots"], found["count"], found["longest"], found["end"]) == (2, 4, 9, 22.0)
    for run, packed in zip(served, found["runs"], strict=True):
        start, finish, admitted, slot = columns(packed["columns"], 4, "<f8", "<f8", "<f8", "<i4")
        assert np.array_equal(start, run.start)
        assert np.array_equal(finish, run.finish)
        assert np.array_equal(slot, run.slot)
        if run.policy == "fcfs":
            assert admitted.tolist() == [0, 0, 3, 9]  # in busy steps: the worker rests from 9 to 20


def test_lengths_beyond_32_bits_stay_what_they_are() -> None:
    served = runs(Workload([0.5], [3_000_000_000]), "fcfs")
    release, length = columns(content(served)["requests"], 1, "<f8", "<f8")
    assert (release.tolist(), length.tolist()) == ([0.5], [3e9])


def test_a_name_cannot_end_the_script_it_stands_in() -> None:
    text = page(small())
    (data,) = re.findall(r'id="schedule-data">(.*?)</script>', text, flags=re.DOTALL)
    assert json.loads(data)["ids"][1] == HOSTILE
    assert HOSTILE not in text


def test_of_a_long_run_the_beginning_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = content(small())
    monkeypatch.setattr(viewer, "MOST_REQUESTS", 3)
    monkeypatch.setattr(viewer, "FIRST_REQUESTS", 3)
    found = content(small())
    assert (found["count"], found["end"], found["ids"]) == (3, 20, whole["ids"][:3])  # d comes at 20
    for part, full in zip(found["runs"], whole["runs"], strict=True):
        short = columns(part["columns"], 3, "<f8", "<f8", "<f8", "<i4")
        long = columns(full["columns"], 4, "<f8", "<f8", "<f8", "<i4")
        assert [each.tolist() for each in short] == [each[:3].tolist() for each in long]
        assert part["violations"] == full["violations"]
    assert "up to 20 steps, with the first\n3 of 4 requests." in page(small())


def test_what_breaks_alpha_beyond_the_beginning_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewer, "MOST_REQUESTS", 1)
    monkeypatch.setattr(viewer, "FIRST_REQUESTS", 3)
    workload = Workload(release=[0, 0, 0.5, 5], length=[9, 3, 4, 2])
    assert content(runs(workload, "fcfs"))["runs"][0]["violations"] == [[3, 5]]


def test_too_many_requests_at_once_have_no_viewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewer, "MOST_REQUESTS", 3)
    monkeypatch.setattr(viewer, "FIRST_REQUESTS", 2)
    served = runs(Workload([0] * 4, [1, 2, 3, 4]), "fcfs")
    assert schedules([evaluate([run]) for run in served]) is None
    assert "schedule-data" not in page(served)


def test_without_batches_there_is_no_viewer() -> None:
    run = simulate(Workload([0, 1], [2, 3]), parse_policy("fcfs"), slots=2)
    assert schedules([evaluate([run])]) is None


def test_broken_spans_by_hand() -> None:
    # a (9 steps) runs on slot 0; b ends at 3, c runs from 3 to 7: 3 apart from a, more than alpha = 2
    fcfs, isjl = small()
    assert broken_spans(fcfs) == [(3.0, 7.0)]
    assert broken_spans(isjl) == []


def test_broken_spans_where_steps_differ_in_duration() -> None:
    # a step takes 1 and 1 a request, so 3 with two: b ends at 9, c at 9 + 4 * 3
    workload = Workload(release=[0, 0, 0.5], length=[9, 3, 4])
    step_time = StepTime(base=1.0, per_request=1.0)
    run = simulate(workload, parse_policy("fcfs"), slots=2, alpha=2, step_time=step_time, record_batches=True)
    assert broken_spans(run) == [(9.0, 21.0)]


@given(
    releases=st.lists(st.floats(0, 60), min_size=2, max_size=25),
    lengths=st.lists(st.integers(1, 30), min_size=25, max_size=25),
    alpha=st.integers(0, 20),
    base=st.sampled_from([1.0, 0.03]),
)
def test_broken_spans_last_as_long_as_the_audit_counts(
    releases: list[float], lengths: list[int], alpha: int, base: float
) -> None:
    workload = Workload(release=releases, length=lengths[: len(releases)])
    run = simulate(
        workload, parse_policy("sjf"), slots=3, alpha=alpha, step_time=StepTime(base), record_batches=True
    )
    broken = sum(end - begin for begin, end in broken_spans(run))
    assert broken == pytest.approx(run.audit.violation_steps * base, rel=1e-9)


# ---- in a browser -----------------------------------------------------------------------------------

ACTING = """
  const root = document.getElementById("schedule");
  while (root.dataset.ready === undefined) await frame();
  const state = () => [Number(root.dataset.begin), Number(root.dataset.end)];
  const canvas = root.querySelectorAll("canvas")[1];  // fcfs stands below
  const words = () => root.querySelectorAll("[aria-live]")[1].textContent;
  const key = (name) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key: name }));
  result.first = state();
  const inked = (each, time, y) => {  // on the view of all 22 steps
    const ratio = each.width / each.clientWidth;
    const x = 44 + (each.clientWidth - 44) * time / 22;
    const copy = new OffscreenCanvas(1, 1).getContext("2d");  // reading the canvas itself slows it down
    copy.drawImage(each, -Math.floor(x * ratio), -Math.floor(y * ratio));
    const [red, green, blue, alpha] = copy.getImageData(0, 0, 1, 1).data;
    return alpha === 0 ? null : [red, green, blue];
  };
  const [QUEUE, FIRST, BROKEN] = [38, 46 + 9, 46 + 2 * 18 + 4];
  await frame();
  result.broken = [2, 5, 8].map((time) => inked(canvas, time, BROKEN));
  result.kept = [2, 5, 8].map((time) => inked(root.querySelector("canvas"), time, BROKEN));
  result.waiting = [0.2, 1.5, 5].map((time) => inked(canvas, time, QUEUE));
  result.byLength = [1, 8].map((time) => inked(canvas, time, FIRST));
  const colour = root.querySelector("[data-colour]");
  colour.value = "progress";
  colour.dispatchEvent(new Event("change"));
  result.byProgress = [1, 8].map((time) => inked(canvas, time, FIRST));
  canvas.focus();
  result.focused = document.activeElement === canvas;
  key("+"); await frame(); result.zoomed = state();
  key("ArrowRight"); await frame(); result.moved = state();
  key("0"); await frame(); result.all = state();
  const box = canvas.getBoundingClientRect();
  const event = { clientX: box.left + 44 + (box.width - 44) * 5.5 / 22, clientY: box.top + 46 + 5 };
  canvas.dispatchEvent(new PointerEvent("pointermove", event)); await frame();
  result.hovered = words();
  canvas.dispatchEvent(new WheelEvent("wheel", { ...event, deltaY: -1 })); await frame();
  result.wheeled = state();
  key("0"); key("n"); await frame(); result.next = words();
  key("n"); await frame(); result.after = words();
  key("p"); await frame(); result.back = words();
  root.querySelector("select[data-panel='1']").value = "none";
  root.querySelector("select[data-panel='1']").dispatchEvent(new Event("change"));
  result.hidden = root.querySelectorAll("figure")[1].hidden;
"""

SORTING = """
  const table = document.querySelector("table");
  const column = () => [...table.tBodies[0].rows].map((row) => row.cells[1].textContent);
  const button = table.tHead.rows[0].cells[1].querySelector("button");
  button.click(); result.up = column();
  button.click(); result.down = column();
  result.said = table.tHead.rows[0].cells[1].getAttribute("aria-sort");
"""


@needs_browser
def test_a_reader_zooms_moves_hovers_and_types(tmp_path: Path) -> None:
    result = act(page(small()), ACTING, tmp_path)
    assert result["first"] == result["all"] == [0, 22]
    assert result["focused"]
    red = [193, 18, 31]
    assert result["broken"] == [None, red, None]  # from 3 to 7, as by hand above
    assert result["kept"] == [None, None, None]
    grey = [90, 90, 90]
    assert result["waiting"] == [None, grey, None]  # c waits from 0.5 to 3
    early, late = result["byLength"]
    assert early == late  # one request, one colour
    early, late = result["byProgress"]
    assert sum(early) > sum(late) > 0  # light is early
    assert result["zoomed"] == [5.5, 16.5]
    assert result["moved"] == [8.25, 19.25]
    assert "request a: length 9, released 0, started 0, finished 9, waited 0" in result["hovered"]
    assert result["hovered"].endswith("the gap is 3")
    assert result["wheeled"] == pytest.approx([5.5 - 5.5 * 0.8, 5.5 + 16.5 * 0.8], abs=0.1)
    assert result["next"].startswith(f"request {HOSTILE}:")  # a was chosen by the pointer
    assert result["after"].startswith("request '':")
    assert result["back"] == result["next"]
    assert result["hidden"]
    assert result["title"] == "serving-sim: fcfs · isjl:alpha=2"
    assert result["requests"] == result["console"] == []


@needs_browser
def test_a_click_on_a_header_sorts(tmp_path: Path) -> None:
    workload = Workload(release=[0, 0, 0, 0], length=[9, 3, 4, 20])
    result = act(page(runs(workload, "fcfs", "sjf", "lpt", slots=1)), SORTING, tmp_path)
    means = [float(each) for each in result["up"]]
    assert means == sorted(means)
    assert len(set(means)) == 3
    assert result["down"] == result["up"][::-1]
    assert result["said"] == "descending"
    assert result["title"] == "serving-sim: fcfs · sjf · lpt"
