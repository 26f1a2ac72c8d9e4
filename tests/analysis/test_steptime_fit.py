"""The affine step time, found again in steps made from it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from command_line import Command
from refusal import refusal

from analysis.plots.steptime import fitted_steps
from analysis.steptime import TERMS, MeasuredSteps, fit_step_time, read_steps
from serving_sim import StepTime

TRUE = {"base": 10.0, "per_request": 0.05, "per_max_token": 0.0, "per_token": 0.0002}
HEADER = "batch_size,max_kv_tokens,sum_kv_tokens,milliseconds\n"
GOOD = HEADER + "".join(f"{size},{100 + size},{60 * size + 40},{5 + size}.5\n" for size in range(2, 14))


def engine_log(
    n: int, seed: int, noise: float = 0.5, correlation: float = 0.0, truth: dict[str, float] = TRUE
) -> MeasuredSteps:
    """Steps of batches that change every 25 steps and grow in between, as an engine takes them."""
    rng = np.random.default_rng(seed)

    batch = np.arange(n) // 25
    size = rng.integers(1, 65, batch[-1] + 1)[batch]
    mean = rng.uniform(50, 1500, batch[-1] + 1)[batch]
    longest = (mean * rng.uniform(1.2, 3, batch[-1] + 1)[batch]).astype(np.int64) + np.arange(n) % 25
    total = np.clip((size * mean).astype(np.int64), longest + size - 1, size * longest)
    error = rng.standard_normal(n)
    for step in range(1, n):
        error[step] = correlation * error[step - 1] + np.sqrt(1 - correlation**2) * error[step]
    steps = MeasuredSteps(size, longest, total, np.ones(n))
    milliseconds = steps.design @ np.array(list(truth.values())) + noise * error
    return MeasuredSteps(size, longest, total, milliseconds)


def written(folder: Path, text: str) -> Path:
    path = folder / "steps.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_exact_steps_give_the_coefficients_back_and_an_exact_zero() -> None:
    fit = fit_step_time(engine_log(200, seed=1, noise=0))
    assert fit.values == pytest.approx(list(TRUE.values()), rel=1e-9)
    assert fit.coefficients["per_max_token"].value == 0
    assert fit.r_squared == pytest.approx(1)
    assert fit.held_out.root_mean_square < 1e-9
    assert fit.warnings == []


@pytest.mark.parametrize("absent", TERMS)
def test_each_absent_term_is_exactly_0_in_exact_steps(absent: str) -> None:
    truth = {**TRUE, "per_max_token": 0.004, absent: 0.0}
    fit = fit_step_time(engine_log(200, seed=2, noise=0, truth=truth))
    assert fit.coefficients[absent].value == 0
    assert fit.values == pytest.approx(list(truth.values()), rel=1e-9)


@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_intervals_cover_the_truth_as_often_as_they_say(correlation: float) -> None:
    """Of 100 intervals that cover with 95 % fewer than 88 do once in 600 times (binomial).

    Correlated errors are granted 92 %: fewer than 83 of 100 then do once in 1,000 times.
    """
    covered = dict.fromkeys(TERMS, 0)
    for seed in range(100):
        fit = fit_step_time(engine_log(1000, seed, correlation=correlation))
        for name, estimate in fit.coefficients.items():
            if estimate.low is not None:  # it is None where the interval would lie below 0
                assert estimate.high is not None
                covered[name] += estimate.low <= TRUE[name] <= estimate.high
    assert min(covered.values()) >= (83 if correlation else 88), covered


def test_a_term_that_would_be_negative_is_0_and_its_interval_starts_there() -> None:
    """Half of the fits to noise around an absent term would be negative."""
    fits = [fit_step_time(engine_log(500, seed)) for seed in range(20)]
    absent = [fit.coefficients["per_max_token"] for fit in fits]
    at_zero = [each for each in absent if each.value == 0]
    assert 3 <= len(at_zero) <= 17  # of 20 tosses of a coin, outside once in 1,000 times
    assert all(each.low == 0 for each in at_zero if each.note is None)
    assert (
        sum(each.note is not None for each in at_zero) <= 3
    )  # one in 40 by chance, more once in 1,000 times


def test_held_out_errors_are_those_of_steps_not_seen() -> None:
    """The mean square of n residuals is below that of the errors by the share 4 / n; held out it is above."""
    noise = 0.5
    squares = np.array(
        [
            [fit.fitted.root_mean_square**2, fit.held_out.root_mean_square**2]
            for fit in (fit_step_time(engine_log(400, seed), seed) for seed in range(40))
        ]
    )
    fitted, held_out = squares.mean(axis=0) / noise**2
    assert fitted == pytest.approx(1 - 4 / 400, abs=0.03)  # 40 times 400 squares: standard error 0.011
    assert fitted < held_out < 1.15


def test_the_seed_deals_what_is_held_out_and_nothing_else() -> None:
    log = engine_log(300, seed=5)
    one, again, other = (fit_step_time(log, seed) for seed in (1, 1, 2))
    assert one == again
    assert one.held_out != other.held_out
    assert one.coefficients == other.coefficients


def test_residual_quantiles_are_those_the_steps_can_tell() -> None:
    assert list(fit_step_time(engine_log(100, seed=1)).residuals) == [
        "p1",
        "p5",
        "p25",
        "p50",
        "p75",
        "p95",
        "p99",
    ]
    assert list(fit_step_time(engine_log(20, seed=1)).residuals) == ["p5", "p25", "p50", "p75", "p95"]


def test_few_steps_have_no_intervals() -> None:
    log = engine_log(49 * 25, seed=1)
    fit = fit_step_time(MeasuredSteps(*(column[::25] for column in vars(log).values())))
    assert {each.note for each in fit.coefficients.values()} == {
        "not enough steps for intervals (n = 49, 50 needed)"
    }
    assert {each.high for each in fit.coefficients.values()} == {None}


def test_fewer_steps_than_parts_are_refused() -> None:
    assert refusal(lambda: fit_step_time(engine_log(9, seed=1))) == (
        "steps=9: must be at least 10, one for each part that is held out"
    )


def test_one_request_at_a_time_leaves_two_pairs_that_cannot_be_told_apart() -> None:
    ones, tokens = np.ones(100, dtype=np.int64), np.arange(1, 101)
    fit = fit_step_time(MeasuredSteps(ones, tokens, tokens, tokens / 100.0 + 7))
    assert fit.dependence.condition is None
    assert fit.dependence.groups == [["base", "per_request"], ["per_max_token", "per_token"]]
    assert fit.warnings == [
        f"these steps cannot tell {pair} apart; measure batches that differ more in size and in how their "
        "tokens are spread"
        for pair in ("base and per_request", "per_max_token and per_token")
    ]
    assert all(each.half_width is None for each in fit.coefficients.values())
    assert fit.values.sum() > 0
    assert fit.held_out.root_mean_square < 1e-9  # what they share is known


def test_a_constant_batch_leaves_the_terms_of_tokens_their_intervals() -> None:
    log = engine_log(500, seed=3)
    size = np.full(500, 32)
    steps = MeasuredSteps(size, log.max_kv_tokens, log.max_kv_tokens * 16, log.milliseconds)
    both = fit_step_time(steps).dependence.groups
    assert both == [["base", "per_request"], ["per_max_token", "per_token"]]
    free = MeasuredSteps(size, log.max_kv_tokens, log.sum_kv_tokens, log.milliseconds)
    fit = fit_step_time(free)
    assert fit.dependence.groups == [["base", "per_request"]]
    assert fit.coefficients["per_token"].half_width is not None


def test_batches_of_nearly_one_size_are_warned_of() -> None:
    rng = np.random.default_rng(4)
    size = rng.integers(63, 65, 400)
    longest = rng.integers(100, 2000, 400)
    total = longest * rng.integers(20, 60, 400)
    fit = fit_step_time(MeasuredSteps(size, longest, total, 5 + rng.random(400)))
    assert fit.dependence.groups == [["base", "per_request"]]
    assert fit.dependence.condition is not None
    assert fit.dependence.condition > 100
    assert fit.warnings[0].startswith("these steps hardly tell base and per_request apart")
    assert fit.coefficients["base"].half_width is not None  # wide, but honest


def test_equal_times_have_no_share_explained() -> None:
    log = engine_log(100, seed=1)
    fit = fit_step_time(
        MeasuredSteps(log.batch_size, log.max_kv_tokens, log.sum_kv_tokens, np.full(100, 4.2))
    )
    assert fit.r_squared is None
    assert fit.step_time(1.0) == StepTime(base=0.0042)


def test_a_time_unit_scales_all_coefficients() -> None:
    fit = fit_step_time(engine_log(200, seed=1, noise=0))
    assert fit.step_time(0.001) == StepTime(base=10, per_request=0.05, per_token=0.0002)
    assert fit.step_time(0.01) == StepTime(base=1, per_request=0.005, per_token=0.00002)


def test_the_simulator_takes_as_long_as_the_fit_predicts() -> None:
    log = engine_log(200, seed=1, noise=0)
    fit = fit_step_time(log)
    step_time = fit.step_time(0.001)
    paces = [
        step_time.pace(size, longest - 1, total - size).elapsed(1)
        for size, longest, total in zip(
            log.batch_size.tolist(), log.max_kv_tokens.tolist(), log.sum_kv_tokens.tolist(), strict=True
        )
    ]
    assert paces == pytest.approx(fit.predicted(log))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("0,1,1,5", "line 3: batch_size='0': must be >= 1"),
        ("2.5,4,6,5", "line 3: batch_size='2.5': must be a whole number"),
        ("2,none,6,5", "line 3: max_kv_tokens='none': must be a number"),
        ("2,4,9,5", "line 3: sum_kv_tokens='9': must be <= batch_size * max_kv_tokens"),
        ("2,4,4,5", "line 3: sum_kv_tokens='4': must be >= max_kv_tokens + batch_size - 1"),
        ("2,4,6,0", "line 3: milliseconds='0': must be at least 1e-6, a nanosecond"),
        ("2,4,6,nan", "line 3: milliseconds='nan': must be finite"),
        ("2,4,6,1e9", "line 3: milliseconds='1e9': must be at most 86,400,000, a day"),
        ("2,4,6", "line 3: fields=3: must be 4, as in the header"),
        (f"1,{2**62},{2**62 + 1},5", f"line 3: sum_kv_tokens='{2**62 + 1}': must be at most 2**62"),
    ],
)
def test_bad_rows_are_refused(tmp_path: Path, row: str, said: str) -> None:
    path = written(tmp_path, f"{HEADER}2,4,6,5\n{row}\n2,4,6,5\n")
    assert refusal(lambda: read_steps(path)) == f"{path}: {said}"


def test_a_file_without_steps_or_columns_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, HEADER)
    assert refusal(lambda: read_steps(path)) == f"{path}: must hold at least one step, found none"
    path = written(tmp_path, "batch_size,milliseconds\n1,2\n")
    assert refusal(lambda: read_steps(path)) == (
        f"{path}: columns 'max_kv_tokens', 'sum_kv_tokens' must be there, found 'batch_size', 'milliseconds'"
    )


def test_counts_too_large_to_multiply_are_read(tmp_path: Path) -> None:
    path = written(tmp_path, f"{HEADER}{2**40},{2**60},{2**61},5\n")
    steps, _ = read_steps(path)
    assert steps.sum_kv_tokens.tolist() == [2**61]


def test_bad_rows_can_be_dropped_and_are_counted(tmp_path: Path, command: Command) -> None:
    path = written(tmp_path, f"{GOOD}0,0,0,0\n")
    code, out, err = command("steptime", "fit", path)
    assert (code, out) == (2, "")
    refusal = f"{path}: line 14: batch_size='0': must be >= 1"
    assert err.startswith(f"serving-sim: error: {refusal}; --on-bad-row drop ")
    code, _, err = command("steptime", "fit", path, "--on-bad-row", "drop")
    assert code == 0
    assert err == ("steps.csv (measured steps): 13 rows = 12 kept + 1 dropped (batch_size: must be >= 1)\n")


def test_a_time_unit_must_be_positive(tmp_path: Path, command: Command) -> None:
    code, _, err = command("steptime", "fit", written(tmp_path, GOOD), "--time-unit", "0")
    assert code == 2
    assert err == "serving-sim: error: --time-unit=0.0: must be a finite number of seconds > 0\n"


def test_the_option_it_prints_makes_run_count_seconds(tmp_path: Path, command: Command) -> None:
    log = engine_log(400, seed=7)
    rows = zip(*(column.tolist() for column in vars(log).values()), strict=True)
    path = written(tmp_path, HEADER + "".join(",".join(map(repr, row)) + "\n" for row in rows))
    code, out, _ = command("steptime", "fit", path)
    assert code == 0
    advice = out.splitlines()[-1]
    assert advice.startswith("to simulate in seconds: --step-time base=0.00988083,")
    options = advice.partition(": ")[2].split()
    requests = written(tmp_path, "arrival_s,input_tokens,output_tokens\n0,3,7\n")
    code, out, err = command(
        "run", "--requests", requests, "--policy", "fcfs", "--slots", "4", *options, "--json"
    )
    assert (code, "error" in err) == (0, False)
    alone = fit_step_time(log).step_time(1.0).alone(10)
    assert json.loads(out)["makespan"] == pytest.approx(alone)
    _, out, _ = command("run", "--requests", requests, "--policy", "fcfs", "--slots", "4", *options)
    assert out.startswith("fcfs, times in seconds, with")


def test_json_is_the_file_and_holds_the_fit(tmp_path: Path, command: Command) -> None:
    path, folder = written(tmp_path, GOOD), tmp_path / "out"
    code, out, err = command("steptime", "fit", path, "--json", "--quiet", "--out", folder)
    assert (code, err) == (0, "")
    assert out == (folder / "steptime.json").read_text(encoding="utf-8")
    content = json.loads(out)
    assert content["input"]["kept"] == content["steps"] == 12
    assert list(content["coefficients"]) == list(TERMS)
    assert content["ranges"]["batch_size"] == [2, 13]
    assert sorted(each.name for each in folder.iterdir()) == [
        "report.html",
        "steptime.json",
        "steptime.png",
        "steptime.svg",
    ]
    assert "How long a step takes" in (folder / "report.html").read_text(encoding="utf-8")


def test_the_picture_shows_every_residual_against_all_that_the_model_knows() -> None:
    log = engine_log(300, seed=1)
    fit = fit_step_time(log)
    panels = fitted_steps(fit, log).axes
    assert [axes.get_xlabel() for axes in panels] == [
        "fitted (ms)",
        "batch size (requests)",
        "longest cache (tokens)",
        "all caches (tokens)",
    ]
    for axes in panels[1:]:
        drawn = np.asarray(axes.lines[0].get_ydata())
        assert np.array_equal(drawn, log.milliseconds - fit.predicted(log))


def test_of_many_steps_some_thousand_are_drawn() -> None:
    log = engine_log(20_000, seed=1)
    panels = fitted_steps(fit_step_time(log), log).axes
    assert len(np.asarray(panels[0].lines[0].get_xdata())) == 3000


def test_steps_that_another_model_made_are_warned_of() -> None:
    """A budget of 512 tokens that the batch shares makes a step as long as what is left of it."""
    rng = np.random.default_rng(8)
    log = engine_log(600, seed=8)
    shared = MeasuredSteps(
        log.batch_size,
        log.max_kv_tokens,
        log.sum_kv_tokens,
        10 + 40 * rng.integers(0, 2, 600).astype(np.float64),
    )
    fit = fit_step_time(shared)
    assert fit.r_squared is not None
    assert fit.r_squared < 0.5
    assert fit.warnings[0].startswith(
        "the model does not describe these steps: the median error of those held "
    )
    assert fit.to_dict()["warnings"] == fit.warnings


def test_a_coefficient_wholly_below_0_has_no_interval() -> None:
    log = engine_log(600, seed=9, truth={**TRUE, "base": 100.0, "per_request": -0.5})
    fit = fit_step_time(log)
    refused = fit.coefficients["per_request"]
    assert (refused.value, refused.low, refused.high) == (0, None, None)
    said = (
        "per_request would be negative: by chance in one log of 40, or the steps are at odds with the model"
    )
    assert said in fit.warnings
