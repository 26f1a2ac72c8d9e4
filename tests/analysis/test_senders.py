"""Clients and users on the command line."""

from __future__ import annotations

import json
from itertools import accumulate
from pathlib import Path

import pandas as pd
import pytest
from command_line import Command

CLIENTS = """
[[client]]
name = "chat"
rate = 0.3
lengths = "geometric:mean=20"

[[client]]
name = "batch"
rate = 0.1
burstiness = 0.25
lengths = "fixed:length=80"
"""

NO_ARRIVALS = (
    "--users=3: goes with 'serving-sim run' alone; when requests come depends on the policy, so "
    "there are no arrivals on which to compare policies, or to write down"
)


@pytest.fixture
def clients(tmp_path: Path) -> Path:
    path = tmp_path / "clients.toml"
    path.write_text(CLIENTS, encoding="utf-8")
    return path


def test_clients_become_tenants(command: Command, clients: Path, tmp_path: Path) -> None:
    out = tmp_path / "made.csv"
    code, _, said = command("workload", "make", "--clients", clients, "--num-prompts", 2000, "--out", out)
    assert code == 0
    assert "2,000 requests of 2 clients in clients.toml (rate 0.4)" in said
    made = pd.read_csv(out)
    assert set(made.loc[made["tenant"] == "batch", "length"]) == {80}
    assert (made["tenant"] == "chat").mean() == pytest.approx(0.75, abs=0.05)


def test_load_makes_all_clients_faster(command: Command, clients: Path) -> None:
    words = [
        "run",
        "--policy",
        "fcfs",
        "--clients",
        clients,
        "--slots",
        "10",
        "--num-prompts",
        "50",
        "--json",
    ]
    _, _, plain = command(*words)
    _, _, loaded = command(*words, "--load", "0.5")
    assert "(rate 0.4)" in plain
    assert "(rate 0.1429)" in loaded  # 0.5 * 10 slots over a mean length of 35


def test_users_are_never_more_than_they_are(command: Command, tmp_path: Path) -> None:
    words = ["--users", 4, "--think-time", 10, "--num-prompts", 300, "--lengths", "geometric:mean=20"]
    code, _, said = command("run", "--policy", "sjf", "--slots", 2, *words, "--out", tmp_path, "--csv")
    assert code == 0
    assert "300 requests, geometric:mean=20 lengths, from 4 users who think for 10 time units" in said
    served = pd.read_csv(tmp_path / "requests.csv")
    assert len(served) == 300
    events = sorted([(at, 1) for at in served["release"]] + [(at, -1) for at in served["finish"]])
    assert max(accumulate(change for _, change in events)) == 4
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert summary["stability"] is None  # nobody can fall behind


def test_users_think_anew_in_every_replication_and_the_same_with_every_seed(
    command: Command, tmp_path: Path
) -> None:
    words = ["run", "--policy", "fcfs", "--users", 3, "--think-time", 5, "--num-prompts", 40, "--csv"]
    command(*words, "--out", tmp_path / "one")
    command(*words, "--out", tmp_path / "two", "--replications", 2)
    one = (tmp_path / "one" / "requests.csv").read_bytes()
    first, second = (
        (tmp_path / "two" / f"replication-{place}" / "requests.csv").read_bytes() for place in (1, 2)
    )
    assert first == one
    assert second != one


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "compare --policy fcfs --policy sjf --users 3",
            NO_ARRIVALS,
        ),
        (
            "workload make --out never.csv --users 3",
            NO_ARRIVALS,
        ),
        (
            "run --policy fcfs --users 3 --load 0.5",
            "--load: cannot go with --users, answers decide when requests come",
        ),
        (
            "run --policy fcfs --users 3 --clients c.toml",
            "--users: cannot go with --clients, the file says who sends what",
        ),
        (
            "run --policy fcfs --clients c.toml --lengths fixed:length=3",
            "--lengths: cannot go with --clients, the file says who sends what",
        ),
        ("run --policy fcfs --think-time 3", "--think-time: needs --users, who think"),
        (
            "run --policy fcfs --users 3 --requests r.csv",
            "--users: cannot go with --requests, the file says what arrives",
        ),
        ("run --policy fcfs --users 3 --think-time -1", "think_time=-1.0: must be a finite number >= 0"),
        (
            "run --policy fcfs --users 3 --tenant a",
            "--tenant: needs --requests, it says how a file is read",
        ),
    ],
)
def test_refusals(command: Command, words: str, message: str) -> None:
    assert command(*words.split()) == (2, "", f"serving-sim: error: {message}\n")
