"""The options that shape a file of requests, and ``workload convert``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from command_line import Command

from workloads import read_workload

LOG = """TIMESTAMP,ContextTokens,GeneratedTokens
2024-05-10 00:00:00.0+00:00,1000,10
2024-05-10 00:01:00.0+00:00,9000,10
2024-05-10 00:02:00.5+00:00,100,5
2024-05-10 00:02:30.0+00:00,600,0
2024-05-10 00:04:00.0+00:00,100,1000
2024-05-10 00:09:00.0+00:00,1,1
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    path.write_text(LOG, encoding="utf-8")
    return path


@pytest.fixture
def clients(tmp_path: Path) -> Path:
    path = tmp_path / "clients.csv"
    path.write_text(
        "release,length,tenant\n" + "".join(f"{row},{row + 1},t{row % 3}\n" for row in range(30)),
        encoding="utf-8",
    )
    return path


SHAPED = (
    "--time-unit 0.5 --from 1min --for 4min --max-model-len 1000 --too-long cap --prefill-chunk 64 "
    "--request-rate 0.1"
)


def test_rows_read_are_kept_or_dropped_for_a_reason(command: Command, log: Path, tmp_path: Path) -> None:
    code, _, err = command(
        f"run --policy fcfs --slots 4 {SHAPED} --csv --out", tmp_path / "out", "--requests", log
    )
    assert code == 0
    assert err.splitlines()[:-1] == [
        (
            "fcfs on 4 slots: log.csv (azure): 6 rows = 3 kept + 1 dropped (before the window) "
            "+ 1 dropped (after the window) + 1 dropped (prompt fills 1,000 tokens)"
        ),
        "  taken for azure (Azure LLM inference traces 2023 and 2024 (CSV)) by its columns",
        "  window from 120 for 480 time units: 6 to 4 requests",
        "  context limit 1,000: 4 to 3 requests, 1 capped",
        "  prompts in chunks of 64: mean length 568.3 to 306.3 steps",
        "  rate 0.1: times x 0.08368",
        "  policies may know the true length of every request that waits",
    ]
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    read = summary["input"]
    assert (read["rows_read"], read["kept"], read["dropped"]) == (
        6,
        3,
        {"before the window": 1, "after the window": 1, "prompt fills 1,000 tokens": 1},
    )
    assert [step["after"] for step in read["shaping"]] == [4, 3, 3, 3]
    assert summary["seed"] is None
    lines = (tmp_path / "out" / "requests.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert [line.split(",")[2:5] for line in lines] == [
        ["7", "100", "5"],
        ["10", "600", "0"],
        ["902", "100", "900"],
    ]


def test_a_window_inside_the_log_says_how_long_nobody_came(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(
        "release,length\n" + "".join(f"{time},4\n" for time in [*range(100), 900]), encoding="utf-8"
    )

    def rate(options: str) -> float:
        code, out, _ = command(f"workload inspect --json --quiet {options} --requests", path)
        assert code == 0
        found = json.loads(out)["rate"]
        assert isinstance(found, float)
        return found

    assert rate("--from 50 --for 500") == 50 / 500
    assert rate("--from 50") == 50 / 850
    assert rate("--from 50 --for 5000") == 50 / 850  # the log ends in it
    assert rate("--from 50 --for 500 --num-prompts 11") == 1.0  # the last of these does not end the window
    assert rate("--from 50 --for 500 --request-rate 2") == 2.0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            "--from 10 --for 20min",
            (
                "--from='10': must have a unit, as --for 20min has; a number alone is in time units of "
                "--time-unit seconds each"
            ),
        ),
        ("--from 1s --for 20", "--for='20': must have a unit, as --from 1s has"),
    ],
)
def test_units_are_not_mixed(options: str, said: str, command: Command, log: Path) -> None:
    code, _, err = command(f"workload inspect --time-unit 0.5 {options} --requests", log)
    assert code == 2
    assert said in err
    assert command("workload inspect --time-unit 0.5 --from 0 --for 20min --requests", log)[0] == 0


def test_a_made_workload_has_no_input(command: Command, tmp_path: Path) -> None:
    command("run --policy fcfs --num-prompts 9 --out", tmp_path)
    assert json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))["input"] is None


def test_rows_that_break_rules_count_beside_those_shaped_away(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "w.csv"
    path.write_text("release,length\n0,3\n1,0\n2,5\n3,9\n", encoding="utf-8")
    _, _, err = command("run --policy fcfs --on-bad-row drop --num-prompts 2 --requests", path)
    assert "4 rows = 2 kept + 1 dropped (length: must be >= 1) + 1 dropped (after the first 2)" in err


def test_options_apply_in_one_order(command: Command, log: Path, tmp_path: Path) -> None:
    words = SHAPED.split()
    backwards = [word for pair in reversed(range(0, len(words), 2)) for word in words[pair : pair + 2]]
    for name, order in (("a", words), ("b", backwards)):
        assert command("workload convert --out", tmp_path / f"{name}.csv", *order, log)[0] == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_a_load_is_met_after_all_other_shaping(command: Command, log: Path) -> None:
    options = "--time-unit 0.5 --length total --prefill-chunk 128 --slots 3 --load 0.7"
    _, out, _ = command(f"workload inspect --json {options} --requests", log)
    assert json.loads(out)["load"] == pytest.approx(0.7, rel=1e-12)


def test_replications_of_a_file_are_drawn_by_the_seed(
    command: Command, clients: Path, tmp_path: Path
) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        options = f"run --policy fcfs --repeat 2 --replications 2 --csv --seed {seed}"
        code, _, _ = command(options, "--requests", clients, "--out", tmp_path / name)
        assert code == 0
    first, again, other = (
        [(tmp_path / name / f"replication-{number}" / "requests.csv").read_bytes() for number in (1, 2)]
        for name in "abc"
    )
    assert first == again
    assert len({*first, *other}) == 4
    summary = json.loads((tmp_path / "c" / "replication-2" / "summary.json").read_text(encoding="utf-8"))
    assert (summary["seed"], summary["input"]["kept"], summary["requests"]) == (2, 30, 60)


def test_counts_that_chance_changes_are_said_to_be_of_the_first_replication(
    command: Command, clients: Path
) -> None:
    _, _, err = command("run --policy fcfs --sample 0.5 --replications 3 --requests", clients)
    assert "  counts are those of the first replication, chance gives others more or less" in err.splitlines()


def test_convert_writes_a_plain_file(command: Command, log: Path, tmp_path: Path) -> None:
    out = tmp_path / "plain.parquet"
    code, _, err = command("workload convert --time-unit 60 --num-prompts 3 --out", out, log)
    assert code == 0
    assert err.endswith(f"3 requests written to {out}\n")
    workload, _ = read_workload(out)
    np.testing.assert_allclose(workload.release, [0, 1, 2 + 1 / 120])
    assert workload.length.tolist() == [1010, 9010, 105]


def test_convert_splits_by_tenant(command: Command, clients: Path, tmp_path: Path) -> None:
    code, _, err = command("workload convert --split-by tenant --out", tmp_path / "part.jsonl", clients)
    assert code == 0
    parts = [read_workload(tmp_path / f"part-t{number}.jsonl")[0] for number in range(3)]
    assert [part.length.tolist() for part in parts] == [list(range(1 + n, 31, 3)) for n in range(3)]
    assert err.count("10 requests written to ") == 3


def test_calibrate_shapes_its_log_too(command: Command, clients: Path) -> None:
    code, _, err = command("calibrate --alpha 3 --jobs 1 --tenant t1 --slots 2", clients)
    assert code == 0
    assert "clients.csv (plain): 30 rows = 10 kept + 20 dropped (other tenant)" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--sample 2", "--sample: share=2.0: must be a number above 0 and at most 1"),
        ("--request-rate 0", "--request-rate=0.0: must be a finite number > 0"),
        ("--load -1", "--load: load=-1.0: must be a finite number > 0"),
        ("--load 1 --request-rate 1", "--load: cannot go with --request-rate, one sets the other"),
        ("--from 10mins", "--from='10mins': must be a number with ms, s, min, h, d or no unit, as in 10min"),
        (
            "--for 10min",
            "--for='10min': must be in time units, --time-unit does not say how long one is",
        ),
        ("--for 0", "--from, --for: duration=0.0: must be a finite number of time units > 0"),
        ("--from 99", "--from, --for: window from 99 time units to the end: leaves none of the 30 requests"),
        ("--num-prompts 31", "--num-prompts: first 31: must not be more than 30 requests"),
        ("--tenant t4", "--tenant: tenant='t4': no request has it"),
        (
            "--prefill-chunk 8",
            "--prefill-chunk: prompts in chunks of 8: the requests do not tell their prompts",
        ),
        ("--lengths fixed:length=3", "--lengths: cannot go with --requests, the file says what arrives"),
        (
            "--replications 2",
            (
                "--requests: holds one sequence of arrivals, 2 replications need --repeat, --sample or "
                "--shuffle-gaps, which draw others from it"
            ),
        ),
        (
            "--until e2el.mean:5%",
            (
                "--requests: holds one sequence of arrivals, 10 replications need --repeat, --sample or "
                "--shuffle-gaps, which draw others from it"
            ),
        ),
        ("--load 0", "--load: load=0.0: must be a finite number > 0"),
        (
            "--load 1e-300 --slots 2",
            "--load=1e-300: 30 requests must come within 2**50 steps on 2 slots",
        ),
        (
            "--num-prompts 1 --load 0.5 --slots 2",
            "--load: load 0.5 on 2 slots: all requests come at once, there are no gaps to stretch",
        ),
        (
            "--num-prompts 1 --request-rate 0.5",
            "--request-rate: rate 0.5: all requests come at once, there are no gaps to stretch",
        ),
    ],
)
def test_refused_options(command: Command, clients: Path, options: str, message: str) -> None:
    assert command(f"run --policy fcfs {options} --requests", clients) == (
        2,
        "",
        f"serving-sim: error: {message}\n",
    )


@pytest.mark.parametrize(
    ("option", "name"),
    [
        ("--from 3", "--from"),
        ("--sample 0.5", "--sample"),
        ("--shuffle-gaps", "--shuffle-gaps"),
        ("--too-long cap", "--too-long"),
    ],
)
def test_options_of_a_file_need_a_file(command: Command, option: str, name: str) -> None:
    assert command(f"run --policy fcfs {option}") == (
        2,
        "",
        f"serving-sim: error: {name}: needs --requests, it says how a file is read\n",
    )


def test_requests_without_a_tenant_have_a_file_of_their_own(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "w.csv"
    path.write_text('release,length,tenant\n0,3,ann\n1,4,""\n', encoding="utf-8")
    assert command("workload convert --split-by tenant --out", tmp_path / "part.csv", path)[0] == 0
    assert sorted(each.name for each in tmp_path.glob("part-*")) == ["part-ann.csv", "part-none.csv"]


@pytest.mark.parametrize(
    "words",
    [
        "--repeat 1 --replications 3",
        "--sample 0.9 --replications 3",
        "--shuffle-gaps --replications 3",
        "--repeat 200",
    ],
)
def test_draws_from_one_log_carry_no_interval(command: Command, clients: Path, words: str) -> None:
    options = f"run --policy fcfs --json --quiet --slots 40 {words}"
    found = json.loads(command(options, "--requests", clients)[1])
    several = "--replications" in words
    mean = found["metrics"]["e2el"]["mean"]
    assert (mean["low"], mean["high"], mean["note"]) == (None, None, "draws from one log: no interval")
    assert mean["value"] > 0
    if several:
        assert found["figures"]["throughput"]["note"] == "draws from one log: no interval"
        assert found["costs"]["figures"]["cost"]["low"] is None
    _, once, _ = command("run --policy fcfs --quiet --slots 40 --requests", clients)
    assert "with 95 % intervals where the data carry them" in once


def test_policies_on_draws_from_one_log_are_compared_without_intervals(
    command: Command, clients: Path
) -> None:
    options = (
        "compare --policy fcfs --policy sjf --slots 2 --quiet --repeat 1 --replications 3 --percentiles 50"
    )
    _, out, _ = command(options, "--requests", clients)
    assert "difference from fcfs in end-to-end latency (steps), draws from one log: no interval\n" in out
    assert "±" not in out
    assert "?" not in out
    until = command(f"{options} --until e2el.mean:5%", "--requests", clients)
    refused = "--until='e2el.mean:5%': cannot go with --requests, draws from one log: no interval"
    assert until == (2, "", f"serving-sim: error: {refused}\n")
