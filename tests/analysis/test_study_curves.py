"""A study table as curves, pictures and a page."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from refusal import refusal
from scipy import stats

from analysis.cli import main
from analysis.estimate import Estimate
from analysis.report.study import study_sections
from analysis.stability import GROWING
from analysis.study import Cell, read_study
from analysis.study.curves import axis_of, over_replications, settings
from analysis.study.differences import difference_records, paired_difference, paired_differences
from analysis.time_unit import TimeUnit

SMALL = """
policy = ["fcfs", "isjl"]
alpha = [4, 8]
slots = 2
load = [0.5, 0.7]
lengths = "uniform:low=1,high=9"
num-prompts = 200
replications = 2
percentiles = [50, 99]
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def table(loads: tuple[float, ...], slots: tuple[int, ...] = (2,)) -> pd.DataFrame:
    """Rows as a study of fcfs and isjl at two budgets has them; the mean says where each comes from."""
    rows = [
        {
            "load": load,
            "slots": size,
            "policy": policy,
            "alpha": alpha,
            "label": policy if alpha is None else f"{policy}:alpha={alpha}",
            "replication": replication,
            "stability": "unstable" if load > 0.6 and alpha == 4 else "stable",
            "burst": False,
            "periods": None,
            "e2el_mean": 100 * load + 10 * size + (alpha or 0) + replication,
        }
        for load in loads
        for size in slots
        for policy, alpha in (("fcfs", None), ("isjl", 4), ("isjl", 8))
        for replication in (1, 2, 3)
    ]
    return pd.DataFrame(rows).astype({"alpha": "Int64"})


def cells(text: str) -> tuple[Cell, ...]:
    Path("a.toml").write_text(text, encoding="utf-8")
    return read_study(Path("a.toml")).cells


def test_along_the_load_every_budget_is_a_line() -> None:
    ((title, curves),) = settings(table((0.5, 0.7)), "load").items()
    assert (title, [curve.label for curve in curves]) == ("", ["fcfs", "isjl:alpha=4", "isjl:alpha=8"])
    assert [curve.x for curve in curves] == [(0.5, 0.7)] * 3
    assert [each["mean"].value for each in curves[2].estimates({"mean": "e2el_mean"})] == [80.0, 100.0]


def test_a_point_where_the_queue_grows_is_marked_and_has_no_interval() -> None:
    ((_, curves),) = settings(table((0.5, 0.7)), "load").items()
    assert [curve.verdicts for curve in curves] == [
        ("stable", "stable"),
        ("stable", "unstable"),
        ("stable", "stable"),
    ]
    stable, unstable = (each["mean"] for each in curves[1].estimates({"mean": "e2el_mean"}))
    assert (stable.note, unstable.note, unstable.low) == (None, GROWING, None)


def test_the_page_says_in_words_where_the_queue_grows() -> None:
    frame = table((0.5, 0.7)).assign(e2el_mean_observations=1000.0)
    (section,) = study_sections(frame, ["e2el"], "load", TimeUnit("step"))
    names = [row[0] for row in section.tables[0].rows]
    assert names[2:4] == ["isjl:alpha=4, load 0.5", "isjl:alpha=4, load 0.7 (the queue grows)"]


@pytest.mark.parametrize(
    ("verdicts", "common"),
    [
        (["undecided"] * 3, "undecided"),
        (["stable", "unstable", "undecided"], "undecided"),
        (["undecided", "stable", "stable"], "stable"),
    ],
)
def test_a_point_nobody_can_tell_of_is_marked_and_has_no_interval(verdicts: list[str], common: str) -> None:
    frame = table((0.5, 0.7)).query("policy == 'fcfs'").assign(e2el_mean_observations=1000.0)
    frame.loc[frame["load"] == 0.7, "stability"] = verdicts
    ((_, (curve,)),) = settings(frame, "load").items()
    assert curve.verdicts == ("stable", common)
    assert (curve.estimates({"mean": "e2el_mean"})[1]["mean"].low is None) == (common == "undecided")
    (section,) = study_sections(frame, ["e2el"], "load", TimeUnit("step"))
    (drawn,) = section.tables
    mark = " (?)" if common == "undecided" else ""
    assert drawn.rows[1][0] == f"fcfs, load 0.7{mark}"
    assert bool(drawn.notes) == bool(mark)


def test_the_page_says_why_parts_of_a_period_have_no_interval() -> None:
    frame = table((0.5, 0.7)).assign(e2el_mean_observations=1000.0, stability="stable", periods=2.5)
    (section,) = study_sections(frame, ["e2el"], "load", TimeUnit("step"))
    assert not any("±" in cell for row in section.tables[0].rows for cell in row)
    assert section.tables[0].notes == [
        "arrivals have a period: intervals over replications need 1 or more, whole but for 0.1 %, found 2.5"
    ]
    (section,) = study_sections(frame.assign(periods=2.0), ["e2el"], "load", TimeUnit("step"))
    assert all("±" in cell for row in section.tables[0].rows for cell in row[1:])
    assert not section.tables[0].notes


def test_along_alpha_a_policy_without_a_budget_is_a_constant_line() -> None:
    found = settings(table((0.5, 0.7), slots=(2, 4)), "alpha")
    assert list(found) == ["slots 2, load 0.5", "slots 4, load 0.5", "slots 2, load 0.7", "slots 4, load 0.7"]
    fcfs, isjl = found["slots 4, load 0.5"]
    assert (fcfs.label, fcfs.x, fcfs.constant) == ("fcfs", (4.0, 8.0), True)
    assert [each["mean"].value for each in fcfs.estimates({"mean": "e2el_mean"})] == [92.0, 92.0]
    assert (isjl.label, isjl.x, isjl.constant) == ("isjl", (4.0, 8.0), False)
    assert [each["mean"].value for each in isjl.estimates({"mean": "e2el_mean"})] == [96.0, 100.0]


def test_differences_are_paired_by_replication() -> None:
    rows = table((0.5,))
    isjl, fcfs = rows[rows["label"] == "isjl:alpha=8"], rows[rows["label"] == "fcfs"]
    lifted = isjl.assign(e2el_mean=isjl["e2el_mean"] + [0.0, 1.0, 2.0])
    # 8, 9 and 10: Student's quantile of 2 degrees of freedom / sqrt(3)
    found = paired_difference(lifted, fcfs, "e2el_mean")
    half = 4.302653 / math.sqrt(3)
    assert (found.value, found.low, found.high) == pytest.approx((9, 9 - half, 9 + half), abs=1e-5)
    shuffled = paired_difference(lifted.iloc[::-1], fcfs[fcfs["replication"] > 1], "e2el_mean")
    assert shuffled.value == 9.5  # of the two replications that both have
    grown = paired_difference(lifted.assign(stability="unstable"), fcfs, "e2el_mean")
    assert (grown.value, grown.low, grown.note) == (9.0, None, GROWING)
    none = paired_difference(lifted[:1], fcfs[1:], "e2el_mean")
    assert (none.value, none.note) == (None, "no replication in common")


def test_a_baseline_gives_tables_of_differences() -> None:
    frame = table((0.5, 0.7)).assign(e2el_mean_observations=1000.0)
    (section,) = study_sections(frame, ["e2el"], "load", TimeUnit("step"), "fcfs")
    values, differences = section.tables
    assert values.rows[0][0] == "fcfs, load 0.5"
    assert differences.title == (
        "difference from fcfs in end-to-end latency (steps), paired by replication, "
        "2 intervals hold at once with 95 %"
    )
    assert differences.rows == [
        ("isjl:alpha=4, load 0.5", "4 ± 0"),
        ("isjl:alpha=4, load 0.7", "4"),  # its queue grows
        ("isjl:alpha=8, load 0.5", "8 ± 0"),
        ("isjl:alpha=8, load 0.7", "8 ± 0"),
    ]
    (along,) = study_sections(
        table((0.5,)).assign(e2el_mean_observations=1000.0), ["e2el"], "alpha", TimeUnit("step"), "fcfs"
    )
    assert [row[0] for row in along.tables[1].rows] == ["isjl, alpha 4", "isjl, alpha 8"]
    assert refusal(lambda: study_sections(frame, ["e2el"], "load", TimeUnit("step"), "sjf")) == (
        "baseline='sjf': must be one of fcfs, isjl:alpha=4, isjl:alpha=8"
    )


def test_a_metric_without_values_has_a_table_that_says_so_and_no_picture() -> None:
    frame = table((0.5, 0.7)).assign(
        e2el_mean_observations=1000.0, tpot_mean=np.nan, tpot_mean_observations=0.0
    )
    (section,) = study_sections(frame, ["tpot", "e2el"], "load", TimeUnit("step"))
    assert [picture.name for picture in section.pictures] == ["e2el-against-load"]
    empty, full = section.tables
    assert {row[1] for row in empty.rows} == {"-"}
    assert [note for note in empty.notes if note.startswith("- a replication has no value")] != []
    assert not any(note.startswith("-") for note in full.notes)


def test_programs_get_the_differences_of_the_page() -> None:
    frame = table((0.5,), slots=(2, 4)).assign(e2el_mean_observations=1000.0, makespan=7.0)
    found = difference_records(frame, ["e2el", "makespan"], "alpha", "fcfs")
    both = {"policy": "isjl", "baseline": "fcfs", "confidence": 0.95}
    e2el, makespan = {"metric": "e2el", "statistic": "mean"}, {"metric": "makespan", "statistic": None}
    four, eight, none = (
        {"estimate": {"value": value, "low": value, "high": value, "note": None}} for value in (4.0, 8.0, 0.0)
    )
    assert found == [
        {"setting": setting, "alpha": alpha, **both, **what, **estimate}
        for setting in ("slots 2", "slots 4")
        for what, estimates in ((e2el, (four, eight)), (makespan, (none, none)))
        for alpha, estimate in zip((4.0, 8.0), estimates, strict=True)
    ]
    ljf = frame.query("policy == 'fcfs'").assign(policy="ljf", label="ljf", e2el_mean=0.0)
    constant, *_ = difference_records(pd.concat([frame, ljf], ignore_index=True), ["e2el"], "alpha", "ljf")
    assert (constant["policy"], constant["alpha"], constant["confidence"]) == ("fcfs", None, 0.975)


def test_curves_run_along_the_first_axis_with_several_values() -> None:
    assert axis_of(cells(SMALL)) == "load"
    assert axis_of(cells(SMALL.replace("[0.5, 0.7]", "0.5"))) == "alpha"
    alone = cells(SMALL.replace("[0.5, 0.7]", "0.5").replace('["fcfs", "isjl"]', '"fcfs"'))
    assert refusal(lambda: axis_of(alone)) == (
        "there is nothing to draw against: none of load, request-rate, alpha, slots has several values"
    )
    assert (
        axis_of(
            cells(
                SMALL.replace("[0.5, 0.7]", "0.5")
                .replace('["fcfs", "isjl"]', '"fcfs"')
                .replace("slots = 2", "slots = [2, 3]")
            )
        )
        == "slots"
    )


def test_along_slots_every_policy_has_a_point_a_size() -> None:
    found = settings(table((0.5, 0.7), slots=(2, 4)), "slots")
    assert list(found) == ["load 0.5", "load 0.7"]
    assert [(curve.label, curve.x, curve.constant) for curve in found["load 0.7"]] == [
        ("fcfs", (2.0, 4.0), False),
        ("isjl:alpha=4", (2.0, 4.0), False),
        ("isjl:alpha=8", (2.0, 4.0), False),
    ]
    points = found["load 0.5"][0].estimates({"mean": "e2el_mean"})
    assert [each["mean"].value for each in points] == [72.0, 92.0]


def test_a_policy_without_a_budget_is_named_without_one() -> None:
    frame = table((0.5,)).assign(e2el_mean_observations=1000.0)
    (section,) = study_sections(frame, ["e2el"], "alpha", TimeUnit("step"))
    assert [row[0] for row in section.tables[0].rows] == ["fcfs", "isjl, alpha 4", "isjl, alpha 8"]


@pytest.mark.parametrize(("replications", "words"), [(1, False), (3, True)])
def test_a_table_without_intervals_does_not_speak_of_them(replications: int, words: bool) -> None:  # noqa: FBT001
    frame = table((0.5, 0.7)).query(f"replication <= {replications}").assign(e2el_mean_observations=1000.0)
    (section,) = study_sections(frame, ["e2el"], "load", TimeUnit("step"))
    assert ("interval" in section.tables[0].title) == words


@pytest.mark.parametrize("axis", ["load", "alpha"])
def test_the_first_finished_cells_are_drawn_as_points(axis: str) -> None:
    frame = table((0.5,)).query("alpha == 4")
    ((_, (curve,)),) = settings(frame, axis).items()
    assert (len(curve.x), curve.constant) == (1, False)


def test_what_has_no_place_on_the_axis_is_left_out() -> None:
    frame = table((0.5, 0.7)).query("policy == 'fcfs'")
    frame["arrivals"] = "poisson"
    backlog = frame.query("load == 0.5").assign(arrivals="backlog", load=None)
    mixed = pd.concat([frame, backlog.astype({"load": "float64"})], ignore_index=True)
    ((_, (curve,)),) = settings(mixed, "load").items()
    assert curve.x == (0.5, 0.7)
    assert refusal(lambda: settings(frame, "alpha")) == "against='alpha': no finished cell has one"


def test_every_column_of_panels_ends_in_ticks_where_the_points_are() -> None:
    frame = table((0.5, 0.7, 0.9))
    for name in ("mean", "p50", "p75", "p90", "p99"):
        frame[f"e2el_{name}"] = frame["e2el_mean"]
        frame[f"e2el_{name}_observations"] = 1000.0
    (section,) = study_sections(frame, ["e2el"], "load", TimeUnit("step"))
    (picture,) = section.pictures
    panels = [axes for axes in picture.figure.axes if axes.get_visible()]
    named = [axes.get_title(loc="left") for axes in panels if axes.get_xlabel()]
    assert named == ["p75", "p90", "p99"]
    assert panels[2].xaxis.get_ticklocs().tolist() == [0.5, 0.7, 0.9]


def test_points_too_close_for_their_numbers_leave_the_ticks_to_the_axis() -> None:
    frame = table((0.05, 0.1, 0.4))
    frame["e2el_mean_observations"] = 1000.0
    (section,) = study_sections(frame, ["e2el"], "load", TimeUnit("step"))
    (axes,) = section.pictures[0].figure.axes
    assert axes.xaxis.get_ticklocs().tolist() != [0.05, 0.1, 0.4]


def test_the_largest_gap_is_that_of_all_replications() -> None:
    rows = pd.DataFrame({"replication": [1, 2, 3], "extent_max": [5, 14, 9], "stability": "stable"})
    largest = "the largest of all replications: no interval"
    assert over_replications(rows, "extent_max") == Estimate(14.0, note=largest)
    fairer = rows.assign(extent_max=[6, 4, 8])
    assert paired_difference(fairer, rows, "extent_max") == Estimate(8.0 - 14.0, note=largest)


def test_an_interval_is_students_over_replications() -> None:
    values = [10.0, 12.0, 17.0]
    rows = pd.DataFrame({"x": values, "stability": "stable", "burst": False, "periods": None})
    found = over_replications(rows, "x")
    low, high = stats.t.interval(0.95, 2, loc=np.mean(values), scale=stats.sem(values))
    assert (found.value, found.low, found.high) == pytest.approx((13.0, low, high))


@pytest.mark.parametrize(
    ("values", "observations", "bursts", "value", "note"),
    [
        ([1.0], [1000.0], [False], 1.0, "one replication"),
        ([1.0, None], [1000.0, None], [False, False], None, "a replication has no value"),
        ([1.0, 3.0], [25.0, 24.9], [False, False], 2.0, "not enough data in a replication"),
        ([1.0, 3.0], [25.0, 24.9], [True, False], 2.0, "not enough data in a replication"),
        ([1.0, 3.0], [25.0, 25.0], [False, False], 2.0, None),
        ([1.0, 3.0], [25.0, 24.9], [True, True], 2.0, None),
    ],
)
def test_without_enough_observations_there_is_no_interval(
    values: list[float | None],
    observations: list[float | None],
    bursts: list[bool],
    value: float | None,
    note: str | None,
) -> None:
    """Two replications need 50 / 2 observations each, unless both are finite sets of requests."""
    rows = pd.DataFrame({"x": values, "x_observations": observations}, dtype="float64")
    rows = rows.assign(stability=None, burst=bursts, periods=None)
    found = over_replications(rows, "x")
    assert (found.value, found.note) == (value, note)
    assert (found.low is None) == (note is not None)


@pytest.mark.parametrize("command", ["plot", "export"])
def test_nothing_finished_is_told(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.toml").write_text(SMALL, encoding="utf-8")
    assert main(["study", command, "a.toml", "--out", "a.csv"]) == 2
    assert capsys.readouterr().err == (
        "serving-sim: error: a.toml: no cell is finished yet, 'serving-sim study a.toml' runs it\n"
    )
    assert not Path("a.csv").exists()


def test_plot_writes_a_picture_a_metric_and_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.toml").write_text(SMALL, encoding="utf-8")
    assert main(["study", "a.toml", "--jobs", "1", "--quiet"]) == 0
    words = ["study", "plot", "a.toml", "--quiet", "--metrics"]
    assert main([*words, "e2el,throughput", "--out", "load"]) == 0
    assert sorted(path.name for path in Path("load").glob("*.png")) == [
        "e2el-against-load.png",
        "throughput-against-load.png",
    ]
    page = Path("load/report.html").read_text(encoding="utf-8")
    assert page.count("<img") == 2
    assert "12 of 12" in page
    assert "difference from" not in page
    assert main([*words, "e2el", "--out", "paired", "--baseline", "fcfs", "--json"]) == 0
    differences = json.loads(capsys.readouterr().out)["differences"]
    assert len(differences) == 2 * 2 * 3  # budgets, loads, mean and two percentiles
    assert {each["policy"] for each in differences} == {"isjl:alpha=4", "isjl:alpha=8"}
    paired = Path("paired/report.html").read_text(encoding="utf-8")
    assert paired.count("difference from fcfs in end-to-end latency (steps), paired by replication") >= 1
    assert main([*words, "throughput", "--out", "alpha", "--against", "alpha"]) == 0
    assert sorted(path.name for path in Path("alpha").glob("*.png")) == [
        "throughput-against-alpha-setting-1.png",
        "throughput-against-alpha-setting-2.png",
    ]
    assert "Load 0.7" in Path("alpha/report.html").read_text(encoding="utf-8")


def test_no_tail_of_a_curve_without_the_quantile_before_it() -> None:
    frame = table((0.5,)).assign(
        e2el_p90=1.0 + np.arange(9.0), e2el_p90_observations=2.0, e2el_p99=3.0, e2el_p99_observations=1000.0
    )
    curve, other, _ = settings(frame, "load")[""]
    (found,) = curve.estimates({"p90": "e2el_p90", "p99": "e2el_p99"})
    note = "not enough data for p90, so none for p99"
    assert found == {
        "p90": Estimate(2.0, note="not enough data in a replication"),
        "p99": Estimate(3.0, note=note),
    }
    (difference,) = paired_differences([curve, other], "e2el", "fcfs")
    assert difference.estimates["p99"] == Estimate(0.0, note=note)
