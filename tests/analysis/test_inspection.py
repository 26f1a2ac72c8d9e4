"""What ``workload inspect`` measures, against truth, other libraries and the real traces."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from any_workload import any_workload
from command_line import Command
from effort import instances
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.patches import StepPatch
from scipy import stats

from analysis.inspection import (
    dispersion_of_counts,
    fit_families,
    inspect_workload,
    round_width,
    workload_facts,
)
from analysis.inspection.families import EXPONENTIAL, GAMMA, LOGNORMAL, WEIBULL
from analysis.inspection.windows import round_widths
from analysis.json_text import to_json
from analysis.plots.arrivals import rate_over_time
from analysis.report.inspection import as_arrivals, inspection_section
from analysis.time_unit import TimeUnit
from serving_sim import Workload
from workloads import make_workload, parse_arrivals, parse_lengths, read_requests


def releases(process: str, n: int = 40_000) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return parse_arrivals(process).releases(n, np.random.default_rng(5))


def test_peaks_and_repeated_releases_by_hand() -> None:
    workload = Workload([7.0, 2.0, 2.0, 2.9, 3.0, 7.0, 7.0], [1] * 7)
    facts = workload_facts(workload, slots=2)
    assert (facts["peak_second"], facts["same_release"], facts["most_at_once"]) == (3, 3, 3)
    assert workload_facts(workload, slots=2, second=2.0)["peak_second"] == 4
    assert (facts["rate"], facts["longest_gap"], facts["load"]) == (6 / 5, 4.0, 0.6)


def test_the_silence_at_the_ends_of_a_known_span_counts() -> None:
    workload = Workload(np.arange(150.0, 270.0), [10] * 120)
    facts = workload_facts(workload, slots=4, span=2000.0)
    assert (facts["rate"], facts["load"], facts["gap_cv2"]) == (0.06, 0.15, 0.0)
    widest = dispersion_of_counts(workload.release, span=2000.0)[-1]
    # of 20 windows of 100 the second to fourth hold 50, 70 and none, by the clock of the span
    counts = [0, 50, 70] + [0] * 17
    assert (widest.width, widest.windows, widest.mean) == (100.0, 20, 6.0)
    assert widest.index == pytest.approx(np.var(counts, ddof=1) / 6)
    found = inspect_workload(workload, slots=4, span=2000.0)
    assert (found.facts, found.dispersion[-1]) == (facts, widest)


def test_a_whole_second_is_counted_in_its_own() -> None:
    # three seconds in units of 0.03 s come to a hair less than three times a second in such units
    workload = Workload(np.array([0.0, 3.0, 3.5, 4.0]) / 0.03, [1] * 4)
    assert workload_facts(workload, slots=1, second=1 / 0.03)["peak_second"] == 2


def test_all_at_once_has_no_rate() -> None:
    facts = workload_facts(Workload([4.0, 4.0], [3, 5]), slots=2)
    assert [facts[name] for name in ("rate", "gap_cv2", "load")] == [None] * 3
    assert (facts["same_release"], facts["most_at_once"], facts["peak_second"]) == (1, 2, 2)


@pytest.mark.parametrize(
    ("process", "index"),
    [("poisson:rate=2", 1.0), ("batch:size=8,rate=2", 8.0), ("fixed:rate=2", 0.0)],
)
def test_dispersion_is_that_of_the_process(process: str, index: float) -> None:
    found = [each for each in dispersion_of_counts(releases(process)) if each.mean > 100]
    assert len(found) >= 3
    for each in found:
        # a variance of m normal counts has relative error sqrt(2 / (m - 1)); 5 of them miss once in 10**6
        assert abs(each.index - index) <= 5 * index * np.sqrt(2 / (each.windows - 1)) + 0.01


def test_widths_are_round_and_the_widest_has_twenty_windows() -> None:
    release = releases("poisson:rate=2", n=1000)
    assert 470 < release[-1] - release[0] < 480
    found = dispersion_of_counts(release)
    assert [each.width for each in found] == [0.5, 1, 2, 5, 10, 20]
    for each in found:
        assert each.windows == (release[-1] - release[0]) // each.width
        within = np.sum(release - release[0] < each.windows * each.width)
        assert each.windows * each.mean == pytest.approx(within)
    assert [each.width * 30 for each in dispersion_of_counts(release, seconds=30)] == pytest.approx(
        [15, 30, 60, 120, 300]
    )
    assert dispersion_of_counts(np.zeros(99)) == []
    assert dispersion_of_counts(np.arange(9.0)) == []


def test_a_request_on_the_border_of_a_window_is_in_the_later_one() -> None:
    # a request a second, of which 0.03 s make a unit: 5 s are not a whole number of units
    found = dispersion_of_counts(np.arange(201) / 0.03, seconds=0.03)
    assert [(each.windows, each.mean, each.index) for each in found] == [(200, 1, 0), (100, 2, 0), (40, 5, 0)]


def test_round_widths_by_hand() -> None:
    assert round_widths(0.2, 30, seconds=False) == [0.2, 0.5, 1, 2, 5, 10, 20]
    minutes, hours, days = 60, 3600, 86_400
    assert round_widths(3, 3 * days, seconds=True) == [
        5, 15, 30, minutes, 2 * minutes, 5 * minutes, 15 * minutes, 30 * minutes,
        hours, 2 * hours, 6 * hours, 12 * hours, days, 2 * days,
    ]  # fmt: skip
    assert round_widths(5.5, 14, seconds=True) == []


@given(st.floats(1e-300, 1e300), st.booleans())
def test_there_is_a_round_width_within_a_factor_of_three(least: float, seconds: bool) -> None:  # noqa: FBT001
    assert least <= round_width(least, seconds=seconds) <= 3 * least


def test_the_rate_over_time_is_that_of_round_bins() -> None:
    release = np.array([10.0, 10.0, 11.0, 12.0, 250.0])  # a 240th of the span is 1
    (axes,) = rate_over_time(release, time_unit=TimeUnit("step", 0.9)).axes
    assert axes.get_xlabel() == "time (seconds), means over 1 seconds each"
    (drawn,) = axes.patches
    assert isinstance(drawn, StepPatch)
    rates, edges, _ = drawn.get_data()
    # 0, 0, 0.9, 1.8 and 216 seconds after the first, the last in a bin that has just begun
    assert (len(rates), rates[:3].tolist(), rates[-1]) == (216, [3, 1, 0], 0)
    assert (edges[0], edges[-1]) == (9, 225)


def test_a_constant_rate_is_drawn_constant_to_the_end() -> None:
    release = np.arange(0.0, 3 * 86_400 + 3_700, 10.0)  # the last window of 30 minutes has just begun
    (axes,) = rate_over_time(release, time_unit=TimeUnit("second", 1.0)).axes
    (drawn,) = axes.patches
    assert isinstance(drawn, StepPatch)
    rates, edges, _ = drawn.get_data()
    assert (set(rates), edges[-1]) == ({0.1}, 3 * 86_400 + 3_600)


def test_a_span_too_short_for_bins_has_one() -> None:
    (axes,) = rate_over_time(np.array([0.0, 1e-310]), time_unit=TimeUnit("step")).axes
    (drawn,) = axes.patches
    assert isinstance(drawn, StepPatch)
    assert len(drawn.get_data()[0]) == 1


@pytest.mark.parametrize(
    ("process", "family", "shape"),
    [
        ("gamma:rate=0.5,burstiness=0.4", "gamma", 0.4),
        ("weibull:rate=0.5,shape=0.6", "weibull", 0.6),
        ("weibull:rate=0.5,shape=2", "weibull", 2.0),
    ],
)
def test_the_family_that_made_the_gaps_fits_best(process: str, family: str, shape: float) -> None:
    gaps = np.diff(releases(process))
    best = fit_families(gaps, (EXPONENTIAL, GAMMA, WEIBULL))[0]
    assert best.family == family
    assert best.parameters["shape"] == pytest.approx(shape, rel=0.02)  # standard error about 0.4 %
    assert best.parameters["mean"] == pytest.approx(2.0, rel=0.05)
    # with parameters known the distance exceeds this once in 1,000 times, fitted ones bring it closer
    assert best.distance < 1.95 / np.sqrt(len(gaps))


@pytest.mark.parametrize(
    "process", ["poisson:rate=2", "gamma:rate=2,burstiness=0.4", "weibull:rate=2,shape=0.6"]
)
def test_a_family_of_gaps_is_told_as_arrivals_takes_it(process: str) -> None:
    best = fit_families(np.diff(releases(process)), (EXPONENTIAL, GAMMA, WEIBULL))
    told = (as_arrivals(fitted, 2) for fitted in best)
    typed = next(parse_arrivals(text) for text in told if text.startswith(process[:5]))
    made = parse_arrivals(process)
    assert type(typed) is type(made)
    assert vars(typed) == pytest.approx(vars(made), rel=0.05)


@pytest.mark.parametrize("size", [1, 4])
def test_the_arrivals_named_have_the_rate_of_the_log_or_none_are(size: int) -> None:
    release = np.repeat(releases("gamma:rate=1,burstiness=0.4", n=5_000), size)
    # requests that come together with one in fifty change neither fit nor advice, but the rate
    release = np.sort(np.append(release, release[::50]))
    found = inspect_workload(Workload(release, np.ones(len(release))), slots=1)
    section = inspection_section(found, title="log", time_unit=TimeUnit())
    (told,) = (each for each in section.found if each.startswith("closest family"))
    (table,) = (each for each in section.tables if each.title.startswith("families fitted to the gaps"))
    named = [parse_arrivals(row[-1]) for row in table.rows if row[-1] != "-"]
    assert told.startswith("closest family for the gaps above 0: gamma (shape 0.")
    if size > 1:
        assert (named, table.notes) == ([], [told.partition("; ")[2]])
        assert told.endswith(
            "; 75.5 % of the gaps are 0, as in no process that --arrivals could fit to the others"
        )
    else:
        rates = [vars(process)["rate"] for process in named]
        assert rates == pytest.approx([found.facts["rate"]] * 3, rel=1e-3)
        assert table.rows[0][-1] == told.rpartition("--arrivals ")[2]


def test_a_fit_to_very_many_values_is_that_to_a_good_many() -> None:
    gaps = np.random.default_rng(8).weibull(0.6, size=250_000)
    (fitted,) = fit_families(gaps, (WEIBULL,))
    assert fitted.parameters["shape"] == pytest.approx(0.6, rel=0.01)
    assert fitted.distance < 1.95 / np.sqrt(len(gaps))  # to all of them


def test_rounded_lengths_are_held_against_the_rounded_fit() -> None:
    lengths = parse_lengths("lognormal:mean=60,sigma=0.8").sample(40_000, np.random.default_rng(3))
    best, *others = fit_families(lengths, (GAMMA, WEIBULL, LOGNORMAL), whole=True)
    assert best.family == "lognormal"
    assert best.parameters["sigma"] == pytest.approx(0.8, rel=0.03)
    assert best.distance < 0.02  # rounding up shifts the fit by part of a token
    assert all(each.aic > best.aic for each in others)


@pytest.mark.parametrize("whole", [False, True])
def test_the_distance_is_that_of_kolmogorov_and_smirnov(*, whole: bool) -> None:
    values = np.array([1, 1, 2, 3, 3, 3, 8, 20])
    (fitted,) = fit_families(values, (EXPONENTIAL,), whole=whole)
    if whole:
        points = np.arange(0, 40)
        shares = np.array([np.mean(values <= point) for point in points])
        expected = np.abs(shares - fitted.cdf(points.astype(float))).max()
    else:
        expected = stats.kstest(values, stats.expon(scale=values.mean()).cdf).statistic
    assert fitted.distance == pytest.approx(expected, abs=1e-12)


def test_values_that_no_family_can_hold() -> None:
    assert fit_families(np.array([0, 0]), (GAMMA,)) == []
    assert fit_families(np.array([5, 5, 0]), (GAMMA,)) == []
    ticks = np.diff(np.arange(400) / 0.03)
    assert len(set(ticks)) > 1  # equal but for rounding: scipy's search for a shape ends in NaN
    assert fit_families(ticks, (GAMMA, WEIBULL)) == []


def test_correlations_by_hand() -> None:
    length = np.array([5, 1, 4, 2, 9])
    workload = Workload(np.cumsum([0, 1, 4, 2, 9]), length, prompt_tokens=10 - length, output_tokens=length)
    found = inspect_workload(workload, slots=1).correlations
    assert found["length_with_gap_before"] == pytest.approx(1.0)
    assert found["prompt_with_output"] == pytest.approx(-1.0)
    assert found["gap_with_next_gap"] == pytest.approx(-0.5)  # ranks 1 3 2 and 2 1 3
    alike = inspect_workload(Workload([0, 1, 2], [3, 3, 3]), slots=1).correlations
    assert set(alike.values()) == {None}


@pytest.mark.parametrize(
    ("file", "counts", "longest", "cv"),
    [
        ("azure2023/AzureLLMInferenceTrace_code.csv", (67, 0, 1), 217.169, 13.151),
        ("azure2023/AzureLLMInferenceTrace_conv.csv", (16, 0, 1), 4.315, 1.094),
        ("mooncake/conversation_trace.jsonl", (28, 10851, 28), 3.003, 3.034),
        ("vtc_arena/real_trace.csv", (11, 0, 1), 4.539, 1.104),
    ],
)
def test_real_traces_have_the_facts_known_of_them(
    shared: Path, file: str, counts: tuple[int, int, int], longest: float, cv: float
) -> None:
    workload, _ = read_requests(shared / "traces" / file, time_unit=0.03)
    facts = workload_facts(workload, slots=64, second=1 / 0.03)
    assert (facts["peak_second"], facts["same_release"], facts["most_at_once"]) == counts
    assert facts["longest_gap"] == pytest.approx(longest / 0.03, abs=0.001 / 0.03)
    assert np.sqrt(facts["gap_cv2"] or 0) == pytest.approx(cv, abs=0.001)


def test_a_report_has_its_pictures_and_numbers(command: Command, tmp_path: Path) -> None:
    options = "workload inspect --num-prompts 500 --burstiness 0.3 --json --out"
    code, out, err = command(options, tmp_path)
    assert (code, err.splitlines()[-1]) == (0, f"files are in {tmp_path}")
    pictures = [
        name + suffix
        for name in ("dispersion", "gaps", "lengths", "rate-over-time")
        for suffix in (".png", ".svg")
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [*pictures, "inspect.json", "report.html"]
    )
    assert json.loads((tmp_path / "inspect.json").read_text(encoding="utf-8")) == json.loads(out)
    assert json.loads(out)["gap_fits"][0]["family"] == "gamma"
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("<img ") == 4
    assert re.search(r"gaps above 0: gamma \(.*; at this rate --arrivals gamma:rate=", page)


def test_a_backlog_has_lengths_alone_to_show(command: Command, tmp_path: Path) -> None:
    code, out, _ = command("workload inspect --num-prompts 50 --arrivals backlog --out", tmp_path)
    assert code == 0
    assert sorted(path.name for path in tmp_path.glob("*.png")) == ["lengths.png"]
    assert "--arrivals" not in out


def test_one_request_alone(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("release,length,prompt_tokens,output_tokens\n3,4,4,0\n", encoding="utf-8")
    code, out, _ = command("workload inspect --json --requests", path, "--out", tmp_path / "out")
    assert code == 0
    facts = json.loads(out)
    assert (facts["requests"], facts["rate"], facts["longest_gap"]) == (1, None, None)
    assert facts["length_fits"] == {"length": [], "prompt_tokens": []}


def test_fits_follow_the_truth_of_a_made_workload() -> None:
    workload = make_workload(
        20_000, parse_lengths("lognormal:mean=300,sigma=1"), parse_arrivals("poisson:rate=3"), seed=1
    )
    found = inspect_workload(workload, slots=8)
    assert found.length_fits["length"][0].family == "lognormal"
    exponential = next(each for each in found.gap_fits if each.family == "exponential")
    assert exponential.distance < 1.95 / np.sqrt(20_000)


@pytest.mark.parametrize(("rows", "back"), [("0,3\n1,4\n2,5\n", 0), ("2,3\n1,4\n1,5\n0,5\n", 2)])
def test_the_order_of_the_file_is_told(command: Command, tmp_path: Path, rows: str, back: int) -> None:
    path = tmp_path / "w.csv"
    path.write_text("release,length\n" + rows, encoding="utf-8")
    _, out, _ = command("workload inspect --json --requests", path)
    assert json.loads(out)["input"]["out_of_order"] == back
    _, out, _ = command("workload inspect --requests", path)
    assert out.startswith(f"rows out of order in the file: {back}\n")


@pytest.mark.parametrize(
    ("options", "expected"),
    [("", ("0.45", "18", "tokens")), ("--prefill-chunk 8", ("0.1", "4", "steps of service"))],
)
def test_every_fact_has_its_unit_and_prompts_are_told(
    command: Command, tmp_path: Path, options: str, expected: tuple[str, str, str]
) -> None:
    load, mean, unit = expected
    path = tmp_path / "w.csv"
    path.write_text("arrival_s,input_tokens,output_tokens\n0,16,2\n20,16,2\n40,16,2\n", encoding="utf-8")
    code, out, _ = command(f"workload inspect --slots 4 --time-unit 2 {options} --requests", path)
    assert code == 0
    facts = dict(re.split(r"  +", line) for line in out.splitlines()[4:21])
    assert (facts["rate (requests per step of 2 s)"], facts["longest gap (steps of 2 s)"]) == ("0.1", "10")
    assert (facts["most requests in a second"], facts["load on the slots"]) == ("1", load)
    assert facts["SCV of the gaps (1 for Poisson arrivals)"] == "0"
    assert facts[f"mean length ({unit})"] == mean
    assert ("see --prefill-chunk" in out) == (unit == "tokens")


@settings(max_examples=instances(40))
@given(any_workload(), st.integers(1, 64), st.sampled_from([None, 0.03, 1.0, 1e3]))
def test_any_workload_has_finite_numbers_or_none(
    workload: Workload, slots: int, seconds: float | None
) -> None:
    found = inspect_workload(workload, slots=slots, seconds=seconds).to_dict()
    json.loads(to_json(found))
    numbers = [value for value in flat(found) if isinstance(value, float)]
    assert all(math.isfinite(value) for value in numbers)
    assert found["requests"] == len(workload)
    assert 1 <= found["most_at_once"] <= found["peak_second"] <= len(workload)


def flat(content: object) -> Iterator[object]:
    if isinstance(content, dict):
        content = list(content.values())
    if isinstance(content, list):
        for each in content:
            yield from flat(each)
    else:
        yield content
