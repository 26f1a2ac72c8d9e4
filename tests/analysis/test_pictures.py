"""Pictures show what they should, and the report holds them."""

from __future__ import annotations

import re
from functools import partial
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from browser import act, needs_browser
from hypothesis import given
from hypothesis import strategies as st

from analysis.compare import Comparison, compare
from analysis.outcome import evaluate
from analysis.plots import (
    Figure,
    latency_against_length,
    latency_tail,
    length_bins,
    load_over_time,
    quantile_bars,
    save_figure,
    to_svg,
)
from analysis.plots.extent import largest_gaps
from analysis.plots.instants import count_until, mean_level, time_since
from analysis.plots.length import Bins
from analysis.plots.margins import numbers_in_view
from analysis.plots.scale import Scale, latency_scale
from analysis.plots.style import inks, plain_numbers
from analysis.plots.tail import survival
from analysis.report import comparison_page, comparison_pictures, fairness_section
from analysis.time_unit import TimeUnit
from policies import make_policy, parse_policy
from serving_sim import Workload, simulate

STEPS = TimeUnit("step")


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    rng = np.random.default_rng(0)
    workload = Workload(np.cumsum(rng.exponential(4.0, 400)), rng.geometric(1 / 20, 400))
    policies = [make_policy("fcfs"), make_policy("sjf"), make_policy("isjl", alpha=10)]
    return compare(
        [
            evaluate([simulate(workload, policy, slots=6, alpha=10, record_batches=True)])
            for policy in policies
        ]
    )


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_survival_is_the_share_at_least_as_large(scale: Scale) -> None:
    values = np.array([5.0, 1.0, 3.0, 3.0])
    at, share = survival(values, scale)
    assert (at[0], at[-1], len(at)) == (1, 5, 500)
    np.testing.assert_array_equal(share, [np.mean(values >= each) for each in at])


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_survival_counts_every_request_and_ends_at_the_slowest(scale: Scale) -> None:
    values = np.random.default_rng(7).pareto(1.5, 100_000) + 1
    at, share = survival(values, scale)
    assert (at[0], share[0], at[-1], share[-1]) == (values.min(), 1, values.max(), 1e-5)
    np.testing.assert_allclose(share, [np.mean(values >= each) for each in at], atol=1e-5)


@pytest.mark.parametrize("values", [[7.0, 7.0], [7.0], [1e15, 1e15 + 0.125]])
def test_survival_of_latencies_in_one_place_is_one_point(values: list[float]) -> None:
    assert [each.tolist() for each in survival(np.array(values), "log")] == [[max(values)], [1.0]]


def test_survival_of_tiny_and_huge_latencies() -> None:
    for values in ([0.0, 5e-324], [0.0, 1e308], [5e-324, 1e308]):
        at, share = survival(np.array(values), "linear" if values[0] == 0 else "log")
        assert (at[0], share[0], at[-1], share[-1]) == (values[0], 1, values[1], 0.5)


@given(st.lists(st.integers(0, 40), max_size=30), st.integers(2, 9), st.integers(1, 5))
def test_events_are_counted_up_to_each_instant(events: list[int], count: int, step: int) -> None:
    instants = np.arange(3.0, 3 + step * count, step)
    found = count_until(np.array(events, dtype=np.float64), instants)
    assert found.tolist() == [sum(event <= instant for event in events) for instant in instants]


def test_the_largest_gap_of_a_bin_in_a_rest_is_none() -> None:
    # both slots until 6 with a gap of 2, a rest until 20, one request alone
    workload = Workload(np.array([0.0, 2.0, 20.0]), np.array([6, 4, 4]))
    run = simulate(workload, make_policy("fcfs"), slots=2, record_batches=True)
    gaps = largest_gaps(run, np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]))
    assert gaps.tolist() == [0, 0, 2, 2, 2, 2, 0, 0]


def test_mean_levels_by_hand() -> None:
    # one request from 0.5 to 2, another from 1.5 to 3.5
    edges = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    spent = time_since(np.array([1.5, 0.5]), edges) - time_since(np.array([3.5, 2.0]), edges)
    np.testing.assert_allclose(spent, [0, 0.5, 2.0, 3.0, 3.5])
    np.testing.assert_allclose(mean_level(spent, edges), [0.5, 1.5, 1.0, 0.5])


def test_what_happens_after_the_last_instant_is_not_counted() -> None:
    assert time_since(np.array([1.0, 5.0]), np.array([1.0, 2.0])).tolist() == [0, 1]


def test_bins_of_length_hold_equally_many_requests() -> None:
    length = np.arange(1, 1601)
    bins = Bins.of(length)
    assert [len(each) for each in bins.members] == [100] * 16
    (median,) = bins.quantiles(np.arange(2.0, 3201, 2), [0.5])
    np.testing.assert_allclose(median, 2 * bins.centre)


def test_of_many_requests_a_part_is_drawn_whatever_the_groups_they_come_in() -> None:
    count = 640_000
    length = np.random.default_rng(3).geometric(1 / 100, count)
    place_in_group = np.arange(count) % 32
    bins = Bins.of(length)
    members = np.concatenate(bins.members)
    assert len(members) == pytest.approx(200_000, rel=0.01)
    assert len(np.unique(members)) == len(members)
    for found in bins.quantiles(place_in_group.astype(np.float64), [0.5])[0]:
        assert abs(found - 15.5) <= 1.5  # four standard errors of a median of 12,500 of 32 numbers: 0.6
    (again,) = Bins.of(length).quantiles(length.astype(np.float64), [0.5])
    np.testing.assert_array_equal(again, bins.quantiles(length.astype(np.float64), [0.5])[0])


def test_requests_of_one_length_share_a_bin() -> None:
    bins = Bins.of(np.full(100, 7))
    assert bins.centre.tolist() == [7.0]
    assert bins.quantiles(np.arange(100.0), [0.5, 1]).tolist() == [[49.5], [99]]


def test_requests_without_a_value_do_not_count() -> None:
    bins = Bins.of(np.array([1, 1, 1, 9, 9]))
    (median,) = bins.quantiles(np.array([1.0, np.nan, 4.0, np.nan, np.nan]), [0.5])
    np.testing.assert_array_equal(median, [2.5, np.nan])


def test_a_policy_keeps_its_look() -> None:
    style = inks(["a", "b", "c"])
    assert len({ink.colour for ink in style.values()}) == 3
    assert len({ink.dash for ink in style.values()}) == 3


def test_the_scale_is_logarithmic_where_policies_lie_far_apart() -> None:
    one, close, far, zero = (np.array([low, 10.0 * low]) for low in (1.0, 4.0, 6.0, 0.0))
    assert latency_scale([one, close]) == "linear"
    assert latency_scale([one, far]) == "log"
    assert latency_scale([one, far, zero]) == "linear"
    assert latency_scale([np.array([])]) == "linear"


def figures(comparison: Comparison) -> dict[str, Figure]:
    outcomes = comparison.outcomes
    return {
        "tail": latency_tail(outcomes, "e2el", time_unit=STEPS),
        "bars": quantile_bars(outcomes, "e2el", time_unit=STEPS),
        "load": load_over_time(outcomes, time_unit=STEPS),
        "length": latency_against_length(outcomes, "e2el", length_bins(outcomes[0]), time_unit=STEPS),
    }


def test_axes_carry_units_and_policies_are_named(comparison: Comparison) -> None:
    drawn = figures(comparison)
    labels = {
        name: [axes.get_xlabel() for axes in figure.axes] + [axes.get_ylabel() for axes in figure.axes]
        for name, figure in drawn.items()
    }
    assert "end-to-end latency (steps)" in labels["tail"]
    assert "end-to-end latency (steps)" in labels["length"]
    assert "request length (tokens)" in labels["length"]
    assert any(label.startswith("time (steps)") for label in labels["load"])
    for name in ("tail", "length"):
        named = [text.get_text() for legend in drawn[name].legends for text in legend.get_texts()]
        assert named == ["fcfs", "sjf", "isjl:alpha=10"]
    bars = drawn["bars"].axes[0]
    assert [tick.get_text() for tick in bars.get_yticklabels()] == 2 * ["fcfs", "sjf", "isjl:alpha=10"]
    waiting = drawn["load"].axes[0]
    assert [text.get_text().partition(",")[0] for text in waiting.texts] == ["fcfs", "sjf", "isjl:alpha=10"]


def test_an_average_over_time_ends_with_the_schedule_of_its_policy() -> None:
    workload = Workload(np.zeros(20), np.array([10] * 19 + [190]))
    outcomes = [
        evaluate([simulate(workload, make_policy(policy), slots=2, record_batches=True)])
        for policy in ("lpt", "fcfs")
    ]
    longest, first = (outcome.runs[0] for outcome in outcomes)
    assert (longest.makespan, first.makespan) == (190, 280)
    _, active = load_over_time(outcomes, time_unit=STEPS).axes
    titles = [text.get_text() for text in active.texts]
    assert titles == ["2 on average", "1.357 on average"]
    assert [longest.occupancy_all_time, first.occupancy_all_time] == pytest.approx([2, 1.357], abs=5e-4)


def test_nothing_drawn_overlaps_the_legend(comparison: Comparison) -> None:
    for figure in figures(comparison).values():
        figure.draw_without_rendering()
        for legend in figure.legends:
            box = legend.get_window_extent()
            assert not any(box.overlaps(axes.get_window_extent()) for axes in figure.axes)


def test_every_letter_is_inside_the_picture_and_beside_the_panels(comparison: Comparison) -> None:
    for name, figure in figures(comparison).items():
        figure.draw_without_rendering()
        panels = [axes.get_window_extent() for axes in figure.axes]
        for axes in figure.axes:
            numbers = [*numbers_in_view(axes.xaxis), *numbers_in_view(axes.yaxis)]
            labels = [each for each in (axes.xaxis.label, axes.yaxis.label) if each.get_text()]
            for text in (*labels, *axes.texts, *numbers):
                box = text.get_window_extent()
                assert figure.bbox.padded(1).containsx(box.x0), (name, text)
                assert figure.bbox.padded(1).containsx(box.x1), (name, text)
                assert figure.bbox.padded(1).containsy(box.y0), (name, text)
                assert text in axes.texts or not any(map(box.overlaps, panels)), (name, text)


def test_long_names_and_large_numbers_stay_apart() -> None:
    workload = Workload(np.zeros(60), np.arange(1, 61) * 10_000)
    names = ("delayed:x=0.5,inner=(fair-fcfs:alpha=20)", "windowed:w=1000,inner=sjf", "fcfs")
    runs = [simulate(workload, parse_policy(name), slots=1, record_batches=True) for name in names]
    outcomes = [evaluate([run]) for run in runs]
    bars, load = (
        draw(outcomes, time_unit=STEPS) for draw in (partial(quantile_bars, metric="e2el"), load_over_time)
    )
    for figure in (bars, load):
        figure.draw_without_rendering()
        for text in [each for axes in figure.axes for each in (*axes.texts, axes.xaxis.label)]:
            box = text.get_window_extent()
            assert figure.bbox.padded(1).x0 <= box.x0 < box.x1 <= figure.bbox.padded(1).x1, text
    (panels,) = bars.axes
    numbers = [text.get_window_extent() for text in panels.texts if text.get_text()[0].isdigit()]
    lengths = [bar.get_window_extent() for bar in panels.patches]
    assert len(numbers) == 3 * 4  # 60 requests have no p99
    assert not any(number.overlaps(bar) for number in numbers for bar in lengths)
    for axes in load.axes:
        times = [each.get_window_extent() for each in numbers_in_view(axes.xaxis)]
        assert all(one.x1 < other.x0 for one, other in pairwise(times))


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.73, 0.95, ["0.75", "0.8", "0.85", "0.9"]),
        (4, 60, ["5", "10", "20", "50"]),
        (4, 700, ["10", "30", "100", "300"]),
        (4, 70_000, ["10", "100", "1,000", "10,000"]),
    ],
)
def test_a_logarithmic_axis_has_a_few_labels(low: float, high: float, labels: list[str]) -> None:
    axes = Figure().subplots()
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    plain_numbers(axes.xaxis)
    assert [each.get_text() for each in numbers_in_view(axes.xaxis)] == labels


def test_a_label_stands_beyond_the_numbers_of_its_axis(comparison: Comparison) -> None:
    figure = latency_tail(comparison.outcomes, "e2el", time_unit=STEPS)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    left = min(number.get_window_extent().x0 for number in numbers_in_view(axes.yaxis))
    assert axes.yaxis.label.get_window_extent().x1 < left < axes.get_window_extent().x0


def test_the_same_figure_gives_the_same_bytes(comparison: Comparison, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        save_figure(latency_tail(comparison.outcomes, "e2el", time_unit=STEPS), tmp_path / folder / "tail")
    for suffix in (".svg", ".png"):
        first, second = (tmp_path / folder / f"tail{suffix}" for folder in ("a", "b"))
        assert first.read_bytes() == second.read_bytes()
    assert "<dc:date>" not in (tmp_path / "a" / "tail.svg").read_text(encoding="utf-8")


class Outline(HTMLParser):
    """What a page loads, and the text alternatives of its images."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.alternatives: list[str | None] = []
        self.header_cells = 0
        self.identifiers: list[str] = []
        self.named_by: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.loads += [values[name] or "" for name in ("src", "href", "srcset", "data") if name in values]
        if tag == "img":
            self.alternatives.append(values.get("alt"))
        self.header_cells += tag == "th"
        self.identifiers += [values["id"] or ""] if "id" in values else []
        self.named_by += (values.get("aria-labelledby") or "").split()


def page(comparison: Comparison, **facts: str) -> str:
    pictures = comparison_pictures(comparison, time_unit=STEPS, warmup=0)
    return comparison_page(comparison, pictures, facts=facts, time_unit=STEPS)


def test_the_report_needs_nothing_from_outside(comparison: Comparison) -> None:
    text = page(comparison, Command="serving-sim compare")
    outline = Outline()
    outline.feed(text)
    pictures = [source for source in outline.loads if not source.startswith("#")]  # the rest are anchors
    assert len(pictures) == 5
    assert all(source.startswith("data:image/svg+xml;base64,") for source in pictures)
    assert all(outline.alternatives)
    assert not re.search(r"https?://|@import|url\(", text)
    assert outline.header_cells == 7 + 3 + 7 + 2 + 8 + 3  # columns and rows of the three tables


@pytest.fixture(scope="module")
def whole_page(comparison: Comparison) -> str:
    """With all that `compare` puts on it but the costs."""
    sections = [fairness_section(comparison.outcomes, STEPS)]
    pictures = comparison_pictures(comparison, time_unit=STEPS, warmup=0)
    return comparison_page(comparison, pictures, sections=sections, facts={}, time_unit=STEPS)


def test_what_a_reader_hears_has_a_name(whole_page: str) -> None:
    outline = Outline()
    outline.feed(whole_page)
    assert len(set(outline.identifiers)) == len(outline.identifiers)
    assert len(outline.named_by) > 10
    assert set(outline.named_by) <= set(outline.identifiers)


@needs_browser
def test_the_report_says_nothing_on_the_console_and_asks_for_nothing(whole_page: str, tmp_path: Path) -> None:
    shown = "result.shown = [...document.images].filter((each) => each.naturalWidth > 0).length;"
    result = act(whole_page, f"await frame(); {shown}", tmp_path)
    assert result["shown"] == 7
    assert result["console"] == []
    assert all(address.startswith("data:") for address in result["requests"])


@needs_browser
def test_a_report_may_not_ask_for_anything(whole_page: str, tmp_path: Path) -> None:
    asking = whole_page.replace("</main>", "<img src='http://127.0.0.1:9/x.png' alt='x'></main>")
    result = act(asking, "await frame();", tmp_path)
    assert len(result["console"]) == 1
    assert "Content Security Policy" in result["console"][0]


def test_the_report_escapes_what_users_write(comparison: Comparison) -> None:
    text = page(comparison, Command="<script>alert(1)</script> & more")
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more" in text


def test_the_report_spells_letters_without_a_shape(comparison: Comparison) -> None:
    text = page(comparison, Command="log\x1b[2J \u202edetrever\x9b.csv")
    assert "log\\x1b[2J \\u202edetrever\\x9b.csv" in text
    assert not re.search("[\x1b\x9b\u202e]", text)


def test_the_same_comparison_gives_the_same_report(comparison: Comparison) -> None:
    assert page(comparison) == page(comparison)


def test_svg_text_is_that_of_the_file(comparison: Comparison, tmp_path: Path) -> None:
    figure = load_over_time(comparison.outcomes, time_unit=STEPS)
    save_figure(figure, tmp_path / "load")
    assert to_svg(figure) == (tmp_path / "load.svg").read_text(encoding="utf-8")
