"""What the page of a study says of its simulations, to those who have the page alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.cli import main
from analysis.study import read_study
from analysis.study.description import described
from analysis.study.source import log_digest

FITTED = """
num-prompts = 60
lengths = "geometric:mean=5"
arrivals = "poisson"
request-rate = 0.3
time-unit = 0.03
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.write_text(text, encoding="utf-8")
    return path


def facts(text: str) -> dict[str, str]:
    return described(read_study(write("study.toml", text)))


def test_axes_and_constants_stand_there_as_in_the_file() -> None:
    assert facts(
        'lengths = "geometric:mean=5"\nload = [0.5, 0.7]\nslots = 4\nnum-prompts = 60\nseed = 7\n'
        'policy = ["fcfs", "isjl"]\nalpha = [10, 20]\ngoodput = { ttft = 9 }\npercentiles = [50, 99]\n'
    ) == {
        "Lengths": "geometric:mean=5",
        "Arrivals": "poisson",
        "Requests of a run": "60",
        "Loads": "0.5; 0.7",
        "Slots": "4",
        "Step times": "base=1.0",
        "Policies": "fcfs; isjl",
        "Alpha": "10; 20",
        "Goodput up to": "ttft 9",
        "Percentiles": "50, 99",
        "Seed": "7",
        "Time": "in steps",
    }


def test_a_specification_gives_its_digest_and_how_long_a_step_is() -> None:
    fitted = write("fitted.toml", FITTED)
    found = facts('workload = "fitted.toml"\nload = [0.5, 0.7]\nslots = 4\npolicy = "fcfs"\n')
    assert (found["Workloads"], found["Loads"]) == ("fitted.toml", "0.5; 0.7")
    assert found["Digests of files"] == f"fitted.toml {log_digest(fitted)}"
    assert found["Time"] == "in steps of 0.03 s"
    assert read_study(Path("study.toml")).time_unit.plural == "steps of 0.03 s"


def test_a_converted_log_keeps_how_long_a_step_is(capsys: pytest.CaptureFixture[str]) -> None:
    write("log.csv", "arrival_s,input_tokens,output_tokens\n0,2,3\n3,4,5\n6,1,1\n")
    for name in ("a.csv", "b.jsonl", "c.parquet", "again.csv"):
        log = "a.csv" if name == "again.csv" else "log.csv --time-unit 0.5"
        assert main(["workload", "convert", *log.split(), "--out", name, "--quiet"]) == 0
        capsys.readouterr()
        assert main(["run", "--requests", name, "--policy", "fcfs", "--slots", "2", "--quiet"]) == 0
        assert "times in steps of 0.5 s" in capsys.readouterr().out
    found = facts('requests = ["a.csv", "again.csv"]\nslots = 4\npolicy = "fcfs"\n')
    assert found["Time"] == "in steps of 0.5 s"


def test_units_of_different_length_have_no_common_one() -> None:
    write("one.toml", FITTED)
    write("other.toml", FITTED.replace("0.03", "0.05"))
    found = facts('workload = ["one.toml", "other.toml"]\nslots = 4\npolicy = "fcfs"\n')
    assert found["Time"] == "in steps"


def test_the_page_names_a_log_harmlessly_and_says_what_runs_along_loads(
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = "<img src=x onerror=alert(1)>.csv"
    log = write(
        name, "arrival_s,input_tokens,output_tokens\n" + "".join(f"{each},2,3\n" for each in range(50))
    )
    write(
        "a.toml",
        f'requests = "{name}"\ntime-unit = 0.5\nslots = [1, 4]\npolicy = "fcfs"\nlength = "output"\n',
    )
    assert main(["study", "a.toml", "--jobs", "1", "--quiet"]) == 0
    assert main(["study", "plot", "a.toml", "--quiet", "--metrics", "e2el", "--out", "out"]) == 0
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert "<img src=x" not in page
    assert f"<dd>&lt;img src=x onerror=alert(1)&gt;.csv {log_digest(log)}</dd>" in page
    assert "<dt>Logs read</dt><dd>format auto, length output, 0.5 s a time unit, bad rows: error</dd>" in page
    assert "<dt>Slots</dt><dd>1; 4</dd>" in page
    capsys.readouterr()
    assert main(["study", "plot", "a.toml", "--against", "load", "--out", "out"]) == 2
    assert capsys.readouterr().err == (
        "serving-sim: error: against='load': no finished cell has one, a log comes at its own pace; "
        "'serving-sim workload fit' makes a workload of it, which goes with load or request-rate in a study "
        "file\n"
    )
