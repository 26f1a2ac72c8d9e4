"""``--information``, ``--predictions``, ``--context-limit``, ``--check`` and ``--audit`` of the command."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import Command

from policies import FCFS
from serving_sim import Admission, Epoch

SMALL = ("--num-prompts", "60", "--slots", "4", "--alpha", "50", "--arrivals", "backlog")


class Greedy(FCFS):
    """Wants one request more than there are free slots."""

    name = "greedy"

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        return [(request, request) for request in range(epoch.slots + 1)]


def summary(command: Command, words: str, *more: str | Path) -> dict[str, dict[str, float]]:
    code, out, _ = command(words, *SMALL, "--json", "-q", *more)
    assert code == 0
    content: dict[str, dict[str, float]] = json.loads(out)
    return content


def test_predictions_are_told_measured_and_judged(command: Command) -> None:
    words = "run --policy robust-isjl --predictions noise:kappa=0.5"
    code, out, err = command(words, *SMALL)
    assert code == 0
    assert "  lengths predicted by noise:kappa=0.5\n" in err
    assert re.search(r"^kappa, least lower / upper +0\.5$", out, re.MULTILINE)
    found = summary(command, words)["predictions"]
    assert set(found) == {"kappa", "delta", "mean_slack", "delta_pack", "claim", "certified_ratio"}
    assert found["kappa"] == 0.5
    assert 0 < found["certified_ratio"] < 1
    assert 0 < found["claim"]["theorem_3_22"] < 0.75  # type: ignore[index]


def test_compare_has_one_column_a_policy(command: Command) -> None:
    _, out, _ = command(
        "compare --policy robust-isjl --policy isjl --policy fcfs --predictions slack:tokens=20 -q", *SMALL
    )
    rows = {line[:9]: line.split("  ")[1:] for line in out.splitlines()}
    assert len([cell for cell in rows["certified"] if cell]) == 3
    claims = [line for line in out.splitlines() if "theorem 3.22" in line]
    assert len(claims) == 1
    assert re.search(r"0\.\d+ +- +-$", claims[0])


def test_without_predictions_nothing_is_said_of_them(command: Command) -> None:
    code, out, _ = command("run --policy isjl -q", *SMALL)
    assert code == 0
    assert "kappa" not in out
    assert summary(command, "run --policy isjl")["predictions"] is None


def test_interval_information_makes_isjl_plan_with_upper_bounds(command: Command) -> None:
    predicted = ("--predictions", "noise:kappa=0.3")
    exact = summary(command, "run --policy isjl", *predicted)
    interval = summary(command, "run --policy isjl --information interval", *predicted)
    robust = summary(command, "run --policy robust-isjl", *predicted)
    assert interval["makespan"] == robust["makespan"] != exact["makespan"]
    assert interval["metrics"] == robust["metrics"]


def test_no_information_is_the_context_limit(command: Command) -> None:
    none = summary(command, "run --policy robust-isjl --information none --context-limit 4096")
    limit = summary(command, "run --policy robust-isjl --predictions limit:tokens=4096")
    assert none["metrics"] == limit["metrics"]
    assert none["predictions"] == limit["predictions"]


def test_the_default_context_limit_is_told(command: Command) -> None:
    lengths = ("--lengths", "listed:tokens=9+3+17", "--num-prompts", "3", "--arrivals", "backlog")
    _, _, err = command("run --policy sjf --information none", *lengths)
    known = "  policies may know the context limit alone: "
    assert err.splitlines()[1] == f"{known}32 tokens, the smallest power of two that no request exceeds"
    _, _, err = command("run --policy sjf --information none --context-limit 20", *lengths)
    assert err.splitlines()[1] == f"{known}20 tokens, as given"


def test_the_head_says_what_policies_may_know(command: Command, tmp_path: Path) -> None:
    _, _, err = command("run --policy sjf", *SMALL)
    assert err.splitlines()[-1] == "  policies may know the true length of every request that waits"
    words = ("--information", "interval", "--predictions", "noise:kappa=0.3", "--out", tmp_path)
    _, _, err = command("compare --policy sjf --policy isjl", *SMALL, *words)
    known = "the upper predictions, not the lengths"
    assert f"  policies may know {known}" in err.splitlines()
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert re.search(rf"Policies may know</dt>\s*<dd[^>]*>{known}<", page)


def test_a_file_brings_its_own_intervals(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "w.csv"
    path.write_text("release,length,lower,upper\n0,3,2,6\n0,5,5,5\n", encoding="utf-8")
    code, out, _ = command("run --policy sjf --slots 1 --information interval -q --json --requests", path)
    assert code == 0
    found = json.loads(out)
    assert found["makespan"] == 8
    assert found["metrics"]["queue_time"]["max"] == 5  # the 5 goes first, since it is sure
    assert found["predictions"]["kappa"] == pytest.approx(1 / 3)
    assert found["seed"] is None


def test_predictions_of_a_file_have_a_seed(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "w.csv"
    path.write_text("release,length\n" + "0,50\n" * 20, encoding="utf-8")
    words = "run --policy fcfs --predictions noise:kappa=0.5 -q --json --requests"
    runs = [json.loads(command(words, path, "--seed", seed)[1]) for seed in ("1", "1", "2")]
    assert [run["seed"] for run in runs] == [1, 1, 2]
    assert runs[0] == runs[1]
    assert runs[0]["predictions"]["delta"] != runs[2]["predictions"]["delta"]


def test_workload_make_writes_intervals(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "w.csv"
    words = ("--num-prompts", "5", "--predictions", "limit:tokens=2000", "--out", path)
    assert command("workload make -q", *words)[0] == 0
    assert path.read_text(encoding="utf-8").splitlines()[0] == '"release","length","lower","upper"'


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "run --policy fcfs --information interval",
            "--information=interval: needs --predictions, or a file with columns lower and upper",
        ),
        (
            "run --policy robust-isjl",
            (
                "policy robust-isjl:alpha=50: plans with upper predictions; needs --predictions, "
                "--information=none, or a file with columns lower and upper"
            ),
        ),
        (
            "run --policy fcfs --information none --predictions columns",
            "--predictions: cannot go with --information=none, which predicts nothing",
        ),
        (
            "run --policy fcfs --context-limit 10",
            "--context-limit: needs --information=none, others know more than that",
        ),
        (
            "run --policy fcfs --information none --context-limit 10 --lengths fixed:length=11",
            "--context-limit=10: must not be below the longest request, 11 tokens",
        ),
        (
            "run --policy fcfs --predictions noise:kappa=2",
            "noise: kappa=2.0: must be a number above 0 and at most 1",
        ),
        (
            "run --policy fcfs --predictions columns",
            "predictions: need a column upper, the workload has none",
        ),
    ],
)
def test_refusals_are_one_line(command: Command, words: str, message: str) -> None:
    assert command(words, *SMALL) == (2, "", f"serving-sim: error: {message}\n")


def test_check_changes_nothing_about_a_policy_that_keeps_its_contract(command: Command) -> None:
    for policy in ("isjl", "fair-sjf"):
        plain = summary(command, f"run --policy {policy}")
        checked = summary(command, f"run --policy {policy} --check")
        assert {**plain, "arguments": None, "engine": None} == {**checked, "arguments": None, "engine": None}


def test_check_finds_a_broken_policy_and_exits_with_1(command: Command) -> None:
    code, out, err = command(f"run --policy {__name__}:Greedy --check -q", *SMALL)
    assert (code, out) == (1, "")
    assert err.startswith("serving-sim: error: policy greedy at time 0.0: expected no more admissions")


def test_audit_of_a_fair_run_says_so(command: Command) -> None:
    code, out, _ = command("run --policy isjl --audit -q", *SMALL)
    assert code == 0
    assert out.splitlines()[-1].startswith("isjl:alpha=50 keeps alpha = 50: the largest gap is ")


def test_audit_of_an_unfair_run_draws_and_exits_with_1(command: Command) -> None:
    words = (
        "--lengths",
        "listed:tokens=5+2+1",
        "--num-prompts",
        "3",
        "--arrivals",
        "backlog",
        "--slots",
        "2",
    )
    code, out, _ = command("run --policy fcfs --alpha 1 --audit -q", *words)
    assert code == 1
    assert out[out.index("fcfs breaks") :] == (
        "fcfs breaks alpha = 1 in 1 of 3 admissions and 1 of 5 steps\n"
        "\n"
        "first at step 2, time 2\n"
        "  slot 0  request 0  ##...  2 of 5\n"
        "> slot 1  request 2  .      enters\n"
        "              alpha  -      1\n"
        "                gap  --     2\n"
    )


def test_audit_beside_json_leaves_standard_output_to_json(command: Command) -> None:
    code, out, err = command("run --policy isjl-as-printed --preset printed-flaw-1 --audit --json -q")
    assert code == 1
    assert json.loads(out)["fairness"]["violations"] == 1
    assert err.startswith("isjl-as-printed:alpha=1 breaks alpha = 1")


def test_audit_needs_a_budget(command: Command) -> None:
    assert command("run --policy fcfs --audit") == (
        2,
        "",
        "serving-sim: error: --audit: needs --alpha, fcfs promises none\n",
    )
