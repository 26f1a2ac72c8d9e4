"""``--progress tokens`` of ``run`` and ``compare``."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from command_line import Command

OPTIONS = "--slots 2 --alpha 3 --prefill-chunk 4 --quiet"
FIRST = {"time": 3.0, "step": 3, "request": 0, "slot": 0, "other": 1, "other_slot": 1, "gap": 5}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The example of ``docs/explanation/chunked-prompts.md``."""
    path = tmp_path / "log.csv"
    path.write_text("release,length,prompt_tokens,output_tokens\n0,7,1,6\n1,14,12,2\n", encoding="utf-8")
    return path


def test_run_shows_and_writes_both_audits(command: Command, log: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code, shown, _ = command(f"run --policy fcfs {OPTIONS} --progress tokens --out", out, "--requests", log)
    assert code == 0
    assert shown.splitlines()[-4:-1] == [
        "policy           alpha  max gap  admissions beyond  steps beyond  first at",
        "fcfs, in steps       3        1                  0             0         -",
        "fcfs, in tokens      3        8                  0             3         3",
    ]
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert summary["arguments"]["progress"] == "tokens"
    assert (summary["fairness"]["fair"], summary["fairness"]["max_gap"]) == (True, 1)
    assert summary["fairness_in_tokens"] == {
        "fair": False,
        "alpha": 3,
        "max_gap": 8,
        "violations": 0,
        "violation_steps": 3,
        "first_violation": FIRST,
    }
    assert not list(out.glob("batches*"))


def test_nothing_is_said_of_tokens_unless_asked(command: Command, log: Path) -> None:
    _, shown, _ = command(f"run --policy fcfs {OPTIONS} --requests", log)
    assert "in tokens" not in shown
    _, content, _ = command(f"run --policy fcfs {OPTIONS} --progress steps --json --requests", log)
    assert json.loads(content)["fairness_in_tokens"] is None


def test_the_audit_fails_where_tokens_break_alpha(command: Command, log: Path) -> None:
    asked = f"run --policy fcfs {OPTIONS} --audit --requests"
    assert command(asked, log)[0] == 0
    code, shown, _ = command(asked, log, "--progress", "tokens")
    assert code == 1
    assert shown.splitlines()[-2:] == [
        "fcfs keeps alpha = 3: the largest gap is 1",
        (
            "fcfs breaks alpha = 3 in tokens in 0 of 2 admissions and 3 of 7 steps; first at step 3, "
            "time 3, when request 1 in slot 1 is 5 ahead of request 0 in slot 0"
        ),
    ]
    code, shown, _ = command(asked.replace("--alpha 3", "--alpha 8"), log, "--progress", "tokens")
    assert (code, shown.splitlines()[-1]) == (0, "fcfs keeps alpha = 8 in tokens: the largest gap is 8")


def test_compare_holds_every_policy_against_tokens(command: Command, log: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    asked = f"compare --policy fcfs --policy ljf {OPTIONS} --progress tokens"
    code, shown, _ = command(f"{asked} --out", out, "--requests", log)
    assert code == 0
    # ljf admits nobody beside request 0, so each is alone and no gap is above 0
    assert shown.splitlines()[-5:-1] == [
        "fcfs, in steps       3        1                  0             0         -",
        "fcfs, in tokens      3        8                  0             3         3",
        "ljf, in steps        3        0                  0             0         -",
        "ljf, in tokens       3        0                  0             0         -",
    ]
    page = (out / "report.html").read_text(encoding="utf-8")
    for said in (
        "fcfs keeps alpha throughout.",
        "fcfs, counted in tokens, breaks alpha in 3 busy steps, 43 % of all.",
        "ljf, counted in tokens, keeps alpha throughout.",
        "audit of the gap, in steps and in prompt and output tokens",
    ):
        assert page.count(said) == 1
    assert "; first breach in steps" not in page
    content = json.loads((out / "compare.json").read_text(encoding="utf-8"))
    fcfs, ljf = (outcome["fairness_in_tokens"] for outcome in content["outcomes"])
    assert [found["first_violation"] for found in fcfs] == [FIRST]
    assert [found["fair"] for found in ljf] == [True]


@pytest.mark.parametrize("verb", ["run --policy fcfs", "compare"])
def test_refused_where_chunks_or_prompts_are_unknown(command: Command, tmp_path: Path, verb: str) -> None:
    path = tmp_path / "w.csv"
    path.write_text("release,length\n0,3\n", encoding="utf-8")
    for options, message in (
        (
            "",
            "--progress=tokens: needs --prefill-chunk, which says how many tokens of a prompt a step reads",
        ),
        (
            "--prefill-chunk 8",
            "--prefill-chunk: prompts in chunks of 8: the requests do not tell their prompts",
        ),
    ):
        asked = f"{verb} --alpha 3 --progress tokens {options} --requests"
        assert command(asked, path) == (2, "", f"serving-sim: error: {message}\n")
    for options, message in (
        (
            "",
            (
                "needs --requests, or --request-rate with lengths of prompts and outputs; a load counts "
                "each token of a prompt as a step"
            ),
        ),
        ("--request-rate 0.1", "prompts in chunks of 8: the requests do not tell their prompts"),
    ):
        asked = f"{verb} --alpha 3 --progress tokens --prefill-chunk 8 {options}"
        assert command(asked) == (2, "", f"serving-sim: error: --prefill-chunk: {message}\n")


def test_made_prompts_come_in_chunks_too(command: Command, tmp_path: Path) -> None:
    made = tmp_path / "made.toml"
    made.write_text(
        'num-prompts = 40\nlengths = "prompt-output:prompt=9+90,output=1+20"\n'
        'arrivals = "poisson"\nrequest-rate = 0.05\n',
        encoding="utf-8",
    )
    options = f"--workload {made} --slots 2 --prefill-chunk 8"
    code, out, err = command(f"run --policy fcfs --csv --out {tmp_path / 'out'} {options}")
    assert code == 0, err
    assert "prompts in chunks of 8: mean length" in err
    served = pd.read_csv(tmp_path / "out" / "requests.csv")
    whole = -(-served["prompt_tokens"] // 8) + served["output_tokens"]
    assert served["length"].tolist() == whole.tolist()
    assert "throughput (steps of service per step)" in out


def test_the_page_tells_what_isjl_does_on_the_code_trace(command: Command, shared: Path) -> None:
    code, out, _ = command(
        "run --policy isjl --slots 16 --alpha 64 --time-unit 0.03 --prefill-chunk 512 --max-model-len 4096 "
        "--too-long cap --progress tokens --json --quiet --requests",
        shared / "traces" / "azure2023" / "AzureLLMInferenceTrace_code.csv",
    )
    summary = json.loads(out)
    found = summary["fairness_in_tokens"]
    assert (code, summary["fairness"]["fair"]) == (0, True)
    said = (
        f"{found['violations']:,} of {summary['requests']:,} admissions and {found['violation_steps']:,} "
        f"busy steps are beyond 64, with a largest gap of {found['max_gap']:,}"
    )
    page = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "chunked-prompts.md"
    assert said in " ".join(page.read_text(encoding="utf-8").split())


CHUNKED = (
    "prompts are read in chunks: one counts as a step of service, as a token of an output does; "
    "a step stands for 2.5 tokens on average"  # 20 + 5 tokens in 3 + 2 + 2 + 3 steps
)


@pytest.mark.parametrize(
    ("verb", "throughput"),
    [
        ("run --policy fcfs", "throughput (steps of service per second)"),
        (
            "compare --policy fcfs --policy sjf",
            "whole runs: makespan in seconds, throughput in steps of service",
        ),
    ],
)
@pytest.mark.parametrize("chunk", [1, 4])
def test_what_is_counted_with_chunks_is_no_token(
    command: Command, tmp_path: Path, verb: str, throughput: str, chunk: int
) -> None:
    file = tmp_path / "log.csv"
    file.write_text("arrival_s,input_tokens,output_tokens\n0,12,2\n1,8,3\n", encoding="utf-8")
    options = f"--slots 2 --time-unit 1 --step-time base=0.5 --quiet --prefill-chunk {chunk} --requests"
    code, out, _ = command(f"{verb} {options}", file)
    assert code == 0
    assert (CHUNKED in out) == (chunk > 1)
    assert (throughput in out) == (chunk > 1)
    assert ("gap (tokens)" in out or "gap in tokens" in out) == (chunk == 1)


def test_a_run_with_chunks_tells_its_rates_in_tokens(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("arrival_s,input_tokens,output_tokens\n0,12,2\n1,8,3\n", encoding="utf-8")
    options = "--slots 2 --time-unit 1 --step-time base=0.5 --quiet --prefill-chunk 4 --requests"
    _, out, _ = command(f"run --policy fcfs {options}", file)
    values = {
        line.rsplit(None, 1)[0]: line.rsplit(None, 1)[1] for line in out.splitlines() if "second)" in line
    }
    assert values == {  # the second request runs from 1 to 3.5
        "throughput (steps of service per second)": "2.857",  # 10 / 3.5
        "request throughput (requests per second)": "0.5714",
        "input token throughput (tokens per second)": "5.714",  # 20 / 3.5
        "output token throughput (tokens per second)": "1.429",  # 5 / 3.5
    }


@pytest.mark.parametrize(("chunk", "unit"), [(1, "tokens"), (4, "steps of service")])
def test_the_cards_of_a_report_name_what_is_counted(
    command: Command, tmp_path: Path, chunk: int, unit: str
) -> None:
    file = tmp_path / "log.csv"
    file.write_text("arrival_s,input_tokens,output_tokens\n0,12,2\n1,8,3\n", encoding="utf-8")
    options = f"--slots 2 --time-unit 1 --quiet --prefill-chunk {chunk} --requests {file}"
    code, _, _ = command(f"compare --policy fcfs --policy sjf {options} --out {tmp_path / 'out'}")
    assert code == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert page.count(f"1 {unit}, no alpha given") == 2  # the second comes a step after the first
    assert f"{unit} a busy step" in page
