"""Client tables of ServeGen: what they hold, what is refused, and the workloads made of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from refusal import refusal
from scipy import stats

from serving_sim import Workload
from workloads.servegen import ServeGenClient, client_workload, read_servegen

TABLES = {
    "0": {"input_tokens": "{100: 0.25, 200: 0.75}", "output_tokens": "{5: 1.0}"},
    "600": {"input_tokens": "{}", "output_tokens": "{}"},
    "1200": {"input_tokens": "{7: 1}", "output_tokens": "{0: 0.5, 9: 0.5}"},
}
WINDOWS = "0,2.0,2.5,Gamma,0.16,6.25\n600,0,0,,0,0\r\n1200,0.5,797,Weibull,0.16,0.000573\n1800,1,1,Gamma,1,1"


def write(folder: Path, number: int, windows: str = WINDOWS, tables: object = TABLES) -> Path:
    (folder / f"chunk-{number}-trace.csv").write_bytes(windows.encode())
    text = tables if isinstance(tables, str) else json.dumps(tables)
    (folder / f"chunk-{number}-dataset.json").write_text(text, encoding="utf-8")
    return folder


def make(clients: list[ServeGenClient], begin: float = 0, duration: float = 2400, seed: int = 1) -> Workload:
    return client_workload(clients, begin=begin, duration=duration, time_unit=1, seed=seed)


def test_clients_and_their_windows(tmp_path: Path) -> None:
    write(tmp_path, 10)
    write(tmp_path, 2, "0,1,1,Gamma,1,1\n")
    (tmp_path / "README.md").write_text("beside them", encoding="utf-8")
    two, ten = read_servegen(tmp_path)
    assert (two.number, ten.number) == (2, 10)
    (window,) = two.windows
    assert (window.begin, window.end) == (0, 600)
    assert [(each.begin, each.end, each.rate, each.pattern) for each in ten.windows] == [
        (0, 600, 2.0, "Gamma"),
        (1200, 1800, 0.5, "Weibull"),
        (1800, 2400, 1.0, "Gamma"),
    ]
    assert ten.windows[0].prompt.tokens.tolist() == [100, 200]
    assert ten.windows[0].prompt.probability.tolist() == [0.25, 0.75]
    assert ten.windows[2].output.tokens.tolist() == [0, 9]  # the tables of 1200 still hold


@pytest.mark.parametrize("pattern", ["Gamma", "Weibull"])
def test_gaps_beyond_floats_bunch(tmp_path: Path, pattern: str) -> None:
    # the smaller the shape the burstier; in the limit one gap is all of the window
    clients = read_servegen(write(tmp_path, 1, f"0,2,1,{pattern},1e-300,1\n"))
    for seed in range(20):
        release = make(clients, duration=600, seed=seed).release
        assert set(release.tolist()) <= {0.0, 600.0 * (1 - 2**-53), 600.0}
    split = {int(np.sum(make(clients, duration=600, seed=seed).release == 0)) for seed in range(20)}
    assert len(split) > 10  # any gap may be the one


def test_windows_send_what_their_rates_say(tmp_path: Path) -> None:
    workload = make(read_servegen(write(tmp_path, 10)))
    counts = np.histogram(workload.release, bins=[0, 600, 1200, 1800, 2400])[0]
    assert counts.tolist() == [1200, 0, 300, 600]
    assert np.all(np.diff(workload.release) >= 0)
    assert workload.tenant is not None
    assert set(workload.tenant) == {"10"}
    first, later = workload.release < 600, workload.release >= 1200
    assert workload.prompt_tokens is not None
    assert workload.output_tokens is not None
    assert set(workload.output_tokens[first]) == {5}
    assert set(workload.prompt_tokens[later]) == {7}
    long = int((workload.prompt_tokens[first] == 200).sum())
    assert stats.binomtest(long, 1200, 0.75).pvalue > 1e-4
    assert np.array_equal(workload.length, workload.prompt_tokens + workload.output_tokens)


def test_gaps_have_the_shape_of_their_window(tmp_path: Path) -> None:
    windows = "0,20,1,Gamma,0.25,1\n600,20,1,Weibull,0.5,1\n1200,20,1,Gamma,1,1"
    release = make(read_servegen(write(tmp_path, 1, windows))).release
    shapes = (stats.gamma(0.25), stats.weibull_min(0.5), stats.expon())
    for begin, shape in zip((0, 600, 1200), shapes, strict=True):
        gaps = np.diff(release[(release >= begin) & (release < begin + 600)])
        assert stats.kstest(gaps * 20 * shape.mean(), shape.cdf).pvalue > 1e-4


def test_a_slow_client_sends_as_often_as_it_should(tmp_path: Path) -> None:
    """0.3 requests a window: always rounding up would triple its load."""
    windows = "".join(f"{600 * k},0.0005,1,Gamma,1,1\n" for k in range(2000))
    tables = {"0": {"input_tokens": "{1: 1}", "output_tokens": "{1: 1}"}}
    workload = make(read_servegen(write(tmp_path, 1, windows, tables)), duration=600 * 2000)
    assert stats.binomtest(len(workload), 2000, 0.3).pvalue > 1e-4


def test_a_client_sends_the_same_whoever_else_does_and_whatever_stretch_is_asked_for(tmp_path: Path) -> None:
    write(tmp_path, 10)
    alone = make(read_servegen(tmp_path))
    write(tmp_path, 2)
    both = make(read_servegen(tmp_path))
    assert both.tenant is not None
    of_ten = both.take(np.flatnonzero(both.tenant == "10"))
    assert of_ten.release.tolist() == alone.release.tolist()
    assert of_ten.length.tolist() == alone.length.tolist()
    part = make(read_servegen(tmp_path), begin=300, duration=1000)
    inside = (both.release >= 300) & (both.release < 1300)
    np.testing.assert_allclose(part.release, both.release[inside] - 300, atol=1e-9)
    assert part.length.tolist() == both.length[inside].tolist()
    assert make(read_servegen(tmp_path), seed=2).release.tolist() != both.release.tolist()


GOOD = "{1: 1.0}"


@pytest.mark.parametrize(
    ("windows", "message"),
    [
        ("0,1,1,Gamma,1,1\n0,1,1,Gamma,1,1\n", "line 2: time='0': must be later than in the row before"),
        ("0,-1,1,Gamma,1,1\n", "line 1: rate='-1': must be >= 0, and 0 without a pattern"),
        ("0,1,1,,1,1\n", "line 1: rate='1': must be >= 0, and 0 without a pattern"),
        ("0,1,1,Pareto,1,1\n", "line 1: pattern='Pareto': must be Gamma or Weibull"),
        ("0,1,1,Gamma,0,1\n", "line 1: shape='0': must be > 0"),
        ("0,1,1,Gamma,nan,1\n", "line 1: shape='nan': must be finite"),
        ("0,1,1,Gamma,1\n", "line 1: fields=5: must be 6, one for each column"),
    ],
)
def test_refused_windows(tmp_path: Path, windows: str, message: str) -> None:
    write(tmp_path, 3, windows)
    assert refusal(lambda: read_servegen(tmp_path)) == f"{tmp_path / 'chunk-3-trace.csv'}: {message}"


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ('{"0": {"input_tok', "must be one JSON object"),
        ("[1]", "must be one JSON object"),
        ({"noon": {}}, "time='noon': must be whole seconds"),
        ({"0": [1]}, "time 0: must hold input_tokens and output_tokens"),
        (
            {"0": {"input_tokens": GOOD}},
            "time 0: output_tokens=None: must be the text of a dictionary of tokens",
        ),
        (
            {"0": {"input_tokens": "__import__('os').abort()", "output_tokens": GOOD}},
            "time 0: input_tokens=\"__import__('os').abort()\": must be the text of a dictionary of tokens",
        ),
        (
            {"0": {"input_tokens": "{-1: 1.0}", "output_tokens": GOOD}},
            "time 0: input_tokens='{-1: 1.0}': tokens=-1: must be a whole number from 0 to 2**62",
        ),
        (
            {"0": {"input_tokens": "{1: 1e999}", "output_tokens": GOOD}},
            "time 0: input_tokens='{1: 1e999}': probability=inf: must be a finite number >= 0",
        ),
        (
            {"0": {"input_tokens": "{1: 0.5}", "output_tokens": GOOD}},
            "time 0: input_tokens='{1: 0.5}': probabilities must add up to 1, found 0.5",
        ),
        (
            {"0": {"input_tokens": "{0: 1}", "output_tokens": "{0: 1}"}},
            "time 0: input_tokens and output_tokens must not both be 0, a request has a token",
        ),
    ],
)
def test_refused_tables(tmp_path: Path, tables: object, message: str) -> None:
    write(tmp_path, 3, "0,1,1,Gamma,1,1\n", tables)
    assert refusal(lambda: read_servegen(tmp_path)) == f"{tmp_path / 'chunk-3-dataset.json'}: {message}"


def test_a_window_that_would_fill_the_memory(tmp_path: Path) -> None:
    write(tmp_path, 3, "0,1e300,1,Gamma,1,1\n")
    assert refusal(lambda: read_servegen(tmp_path)) == (
        f"{tmp_path / 'chunk-3-trace.csv'}: time=0: must send at most 10**9 requests until 600, not 1e+300/s"
    )


def test_refused_folders(tmp_path: Path) -> None:
    assert refusal(lambda: read_servegen(tmp_path)) == (
        f"{tmp_path}: must hold files of clients, chunk-N-trace.csv, found none"
    )
    (tmp_path / "chunk-1-trace.csv").write_text("0,1,1,Gamma,1,1\n", encoding="utf-8")
    assert refusal(lambda: read_servegen(tmp_path)) == f"{tmp_path / 'chunk-1-dataset.json'}: no such file"
    write(tmp_path, 1, "0,1,1,Gamma,1,1\n", {"600": {"input_tokens": GOOD, "output_tokens": GOOD}})
    assert refusal(lambda: read_servegen(tmp_path)) == (
        f"{tmp_path / 'chunk-1-trace.csv'}: time=0: must have tables of tokens, as requests come"
    )


def test_refused_stretches(tmp_path: Path) -> None:
    clients = read_servegen(write(tmp_path, 1))
    assert refusal(lambda: make(clients, duration=0)) == "duration=0: must be a finite number of seconds > 0"
    assert refusal(lambda: make(clients, begin=-1)) == "begin=-1: must be a finite number of seconds >= 0"
    assert refusal(lambda: make(clients, begin=600, duration=600)) == (
        "begin=600, duration=600: no client sends a request then"
    )
