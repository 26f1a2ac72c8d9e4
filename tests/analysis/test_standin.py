"""Stand-ins: like the log, without the log."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from any_workload import any_workload
from command_line import Command
from effort import instances
from hypothesis import given, settings
from hypothesis import strategies as st
from refusal import refusal

from analysis.standin import Match, fit_specification, match
from analysis.time_unit import TimeUnit
from serving_sim import Workload
from workloads import (
    make_workload,
    parse_arrivals,
    parse_lengths,
    read_requests,
    read_specification,
    write_specification,
    write_workload,
)


def made_log(n: int, arrivals: str, seed: int = 1) -> Workload:
    rng = np.random.default_rng(seed)
    output = parse_lengths("lognormal:mean=200,sigma=0.9").sample(n, rng)
    prompt = np.maximum((output * rng.gamma(2.0, 2.0, n)).astype(np.int64), 1)
    return Workload(
        parse_arrivals(arrivals).releases(n, rng),
        prompt + output,
        prompt_tokens=prompt,
        output_tokens=output,
    )


def distances(found: Match) -> dict[str, float]:
    return {each.of: each.distance for each in found.distances}


def pair(found: Match, name: str) -> tuple[float, float]:
    (one,) = (each for each in found.pairs if each.of == name)
    assert one.log is not None
    assert one.standin is not None
    return one.log, one.standin


@pytest.mark.parametrize(
    "arrivals",
    [
        "poisson:rate=0.5",
        "gamma:rate=0.5,burstiness=0.2",
        "weibull:rate=0.5,shape=0.5",
        "sinusoidal:rate=0.5,swing=0.9,period=4000",
    ],
)
def test_a_stand_in_is_as_near_as_a_second_sample(arrivals: str) -> None:
    log = made_log(8000, arrivals)
    found = match(log, fit_specification(log).workload(seed=3), slots=64, time_unit=TimeUnit("step"))
    # two samples of one distribution exceed 1.95 / 1.358 of the noise once in 1,000 times; quantiles
    # in steps of 1 % for lengths and 2 % for gaps may add half a step, tenths of both to their sum
    for each in found.distances:
        assert each.distance < 1.95 / 1.358 * each.noise + 0.02, each.of
    for name, within in (("rate", 0.1), ("length_mean", 0.05), ("length_p99", 0.15), ("load", 0.12)):
        log_value, standin_value = pair(found, name)
        assert standin_value == pytest.approx(log_value, rel=within)
    assert np.subtract(*pair(found, "rank correlation, prompt_with_output")) == pytest.approx(0, abs=0.04)


def test_a_rate_that_drifts_is_followed() -> None:
    log = made_log(8000, "sinusoidal:rate=0.5,swing=0.95,period=4000")
    found = match(log, fit_specification(log).workload(seed=3), slots=64, time_unit=TimeUnit("step", 0.5))
    logged, made = pair(found, "variance / mean of counts, windows in seconds: 300")
    assert logged > 50  # where Poisson has 1
    assert made == pytest.approx(logged, rel=0.25)


def test_lengths_that_count_outputs_alone_are_kept_alone() -> None:
    log = made_log(1000, "poisson:rate=1")
    assert log.output_tokens is not None
    outputs = replace(log, length=log.output_tokens)
    made = fit_specification(outputs).workload(seed=1)
    assert made.prompt_tokens is None
    assert made.length.mean() == pytest.approx(outputs.length.mean(), rel=0.1)


def test_a_backlog_stays_one() -> None:
    log = made_log(100, "backlog")
    specification = fit_specification(log)
    assert (specification.arrivals, specification.request_rate) == ("backlog", None)


def test_no_extreme_of_the_log_is_told() -> None:
    log = made_log(2000, "poisson:rate=1")
    told = fit_specification(replace(log, length=np.where(np.arange(2000) == 7, 987_654_321, log.length)))
    assert "987654321" not in told.lengths


def test_prompts_and_outputs_that_can_be_0_never_are_both() -> None:
    prompt, output = np.arange(400) % 4, 3 - np.arange(400) % 4
    log = Workload(np.arange(400.0), prompt + output, prompt_tokens=prompt, output_tokens=output)
    assert fit_specification(log).workload(seed=0).length.min() >= 1


def test_few_requests_are_refused() -> None:
    log = made_log(39, "poisson:rate=1")
    assert refusal(lambda: fit_specification(log)) == (
        "requests=39: must be at least 40, a specification of fewer would tell single requests"
    )


def test_lengths_beyond_exact_floats_are_refused() -> None:
    log = Workload(np.arange(50.0), [2**53 + 2] * 50)
    assert refusal(lambda: fit_specification(log)) == (
        f"length={2**53 + 2}: must be at most 2**53 to be told by quantiles"
    )


@pytest.mark.parametrize(
    ("file", "gaps"),
    [
        ("azure2023/AzureLLMInferenceTrace_code.csv", 0.12),
        ("azure2023/AzureLLMInferenceTrace_conv.csv", 0.03),
        ("mooncake/conversation_trace.jsonl", 0.06),
        ("vtc_arena/real_trace.csv", 0.05),
    ],
)
def test_stand_ins_of_real_traces(shared: Path, file: str, gaps: float) -> None:
    log, _ = read_requests(shared / "traces" / file, time_unit=0.03)
    made = fit_specification(log, time_unit=0.03).workload(seed=0)
    found = match(log, made, slots=64, time_unit=TimeUnit("step", 0.03))
    assert distances(found)["gap"] < gaps
    assert max(distances(found)[name] for name in ("length", "prompt_tokens", "output_tokens")) < 0.045
    for name in ("rate", "length_mean"):
        log_value, standin_value = pair(found, name)
        assert standin_value == pytest.approx(log_value, rel=0.1)


def test_fit_writes_a_file_that_run_serves(command: Command, tmp_path: Path) -> None:
    log, spec = tmp_path / "log.csv", tmp_path / "spec.toml"
    write_workload(made_log(500, "gamma:rate=0.05,burstiness=0.3"), log)
    code, out, err = command("workload fit --slots 8 --seed 5 --json --out", spec, log)
    assert code == 0
    assert err.splitlines()[-1] == f"written to {spec}"
    report = json.loads(out)
    assert report["input"]["kept"] == 500
    code, out, err = command("run --policy fcfs --seed 5 --slots 8 --json --workload", spec)
    assert code == 0
    assert f"  as {spec} specifies\n" in err
    summary = json.loads(out)
    assert summary["requests"] == 500
    code, out, _ = command("workload inspect --seed 5 --slots 8 --json -q --workload", spec)
    (rate,) = (each for each in report["pairs"] if each["of"] == "rate")
    assert json.loads(out)["rate"] != rate["log"]
    assert json.loads(out)["rate"] == pytest.approx(rate["log"], rel=0.3)


def test_the_table_names_things_as_inspect_does(command: Command, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    rows = (f"{at},{at % 7 + 1},{at % 50 + 1}" for at in range(500))
    log.write_text("\n".join(["arrival_s,input_tokens,output_tokens", *rows, ""]), encoding="utf-8")
    code, inspected, _ = command("workload inspect --time-unit 0.5 --slots 8 -q --requests", log)
    assert code == 0
    code, out, _ = command("workload fit --time-unit 0.5 --slots 8 -q --out", tmp_path / "spec.toml", log)
    assert code == 0
    named = [re.split("  +", line) for line in out.split("\n\n")[0].splitlines()[2:]]
    plain = [row[:2] for row in named if not row[0].startswith("variance / mean")]
    assert plain[1][0] == "rate (requests per step of 0.5 s)"
    assert all("  ".join(row) in re.sub("  +", "  ", inspected) for row in plain)
    wide = [row[0] for row in named if row[0].startswith("variance / mean")]
    assert wide == [
        f"variance / mean of counts, windows in seconds: {width}" for width in ("1", "2", "5", "15")
    ]


def test_options_override_a_specification(command: Command, tmp_path: Path) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text(
        'num-prompts = 50\nlengths = "fixed:length=4"\narrivals = "poisson"\n'
        "request-rate = 0.5\ntime-unit = 0.03\n",
        encoding="utf-8",
    )
    for pace, load in (("", 0.5), ("--load 0.8", 0.8), ("--request-rate 0.25", 0.25)):
        options = f"run --policy fcfs --slots 4 --num-prompts 20 {pace} --json --workload"
        code, out, err = command(options, spec)
        assert code == 0
        assert f"20 requests, fixed:length=4 lengths, poisson (rate {load:.4g}) arrivals" in err
        assert json.loads(out)["requests"] == 20
    _, out, _ = command("run --policy fcfs --slots 4 --workload", spec)
    assert "times in steps of 0.03 s" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--preset demo", "--workload: cannot go with --preset, each says what arrives"),
        ("--requests x.csv", "--workload: cannot go with --requests, the file says what arrives"),
    ],
)
def test_a_specification_goes_alone(command: Command, tmp_path: Path, options: str, message: str) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text('num-prompts = 50\nlengths = "fixed:length=4"\narrivals = "backlog"\n', encoding="utf-8")
    assert command(f"run --policy fcfs {options} --workload", spec) == (
        2,
        "",
        f"serving-sim: error: {message}\n",
    )


def test_a_fit_is_the_same_every_time(command: Command, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    write_workload(make_workload(300, parse_lengths("lmsys-like"), parse_arrivals("poisson:rate=1"), 3), log)
    texts = []
    for name in ("a", "b"):
        assert command("workload fit -q --out", tmp_path / name, log)[0] == 0
        texts.append((tmp_path / name).read_bytes())
    assert texts[0] == texts[1]


@settings(max_examples=instances(40))
@given(any_workload(least=40, longest=2**51), st.integers(0, 9))
def test_any_log_has_a_stand_in_that_survives_its_file(log: Workload, seed: int) -> None:
    specification = fit_specification(log, time_unit=0.5)
    with TemporaryDirectory() as folder:
        path = Path(folder, "spec.toml")
        write_specification(specification, path, "a log")
        assert read_specification(path) == specification
    made = specification.workload(seed)
    assert len(made) == len(log)
    assert (np.diff(made.release) >= 0).all()
    assert made.length.max() <= log.length.max() * 2.0 + 1
    assert (made.prompt_tokens is None) == (log.prompt_tokens is None)
