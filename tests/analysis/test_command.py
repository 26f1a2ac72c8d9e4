"""The command: its files, its one-line errors, its exit codes."""

from __future__ import annotations

import importlib
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from command_line import Command
from fresh_process import command_line, environment, python

import serving_sim
from analysis.cli.console import aligned, show
from analysis.definitions import REQUEST_METRICS
from analysis.tables import Table
from analysis.version import project_version
from serving_sim import Run
from workloads import make_workload, parse_arrivals, parse_lengths, read_workload, replication_seed

SMALL = ["--num-prompts", "200", "--slots", "8"]


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_run_prints_quantiles_and_writes_files(command: Command, tmp_path: Path) -> None:
    code, out, err = command(
        "run", "--policy", "isjl", "--alpha", "50", *SMALL, "--out", tmp_path, "--record-batches"
    )
    assert code == 0
    assert err.splitlines() == [
        "isjl:alpha=50 on 8 slots: 200 requests, lmsys-like lengths, poisson (rate 0.05685) arrivals",
        "  policies may know the true length of every request that waits",
        f"files are in {tmp_path}",
    ]
    assert re.search(r"^metric +mean +p50 +p90 +p95 +p99 +p99\.9$", out, re.MULTILINE)
    assert re.search(r"^fair \(violations\) +yes$", out, re.MULTILINE)
    assert names(tmp_path) == ["batches.parquet", "requests.parquet", "summary.json"]
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert (summary["seed"], summary["replication"], summary["arguments"]["alpha"]) == (0, 1, 50)
    requests = pd.read_parquet(tmp_path / "requests.parquet")
    assert len(requests) == summary["requests"] == 200
    assert requests["finish"].max() == summary["makespan"]
    assert requests["e2el"].mean() == pytest.approx(summary["metrics"]["e2el"]["mean"]["value"])
    assert pd.read_parquet(tmp_path / "batches.parquet")["steps"].sum() == summary["steps"]


def test_json_on_standard_output_is_the_summary_file(command: Command, tmp_path: Path) -> None:
    code, out, err = command("run", "--policy", "fcfs", *SMALL, "--json", "--quiet", "--out", tmp_path)
    assert (code, err) == (0, "")
    assert out == (tmp_path / "summary.json").read_text(encoding="utf-8")


def test_replications_have_folders_and_shared_estimates(command: Command, tmp_path: Path) -> None:
    words = ("run", "--policy", "fcfs", *SMALL, "--replications", "3", "--csv", "--out", tmp_path)
    assert command(*words)[0] == 0
    assert names(tmp_path) == [
        *(
            f"replication-{number}/{name}"
            for number in (1, 2, 3)
            for name in ("requests.csv", "summary.json")
        ),
        "replications.json",
    ]
    drawn = {(tmp_path / f"replication-{number}" / "requests.csv").read_bytes() for number in (1, 2, 3)}
    assert len(drawn) == 3
    shared = json.loads((tmp_path / "replications.json").read_text(encoding="utf-8"))
    assert shared["figures"]["makespan"]["low"] is not None
    assert shared["costs"]["figures"]["profit"]["low"] is not None


def test_the_first_replication_is_the_single_run(command: Command, tmp_path: Path) -> None:
    one, many = tmp_path / "one", tmp_path / "many"
    command("run", "--policy", "fcfs", *SMALL, "--csv", "--out", one)
    command("run", "--policy", "fcfs", *SMALL, "--csv", "--out", many, "--replications", "2")
    assert (one / "requests.csv").read_bytes() == (many / "replication-1" / "requests.csv").read_bytes()


@pytest.mark.parametrize("options", ["", "--policy sjf", "--policy sjf --replications 2"])
def test_compare_tells_of_a_metric_without_values(command: Command, tmp_path: Path, options: str) -> None:
    metrics = sorted((entry.key for entry in REQUEST_METRICS), key=lambda key: key != "tpot")
    code, out, err = command(
        "compare --policy fcfs --lengths fixed:length=1 --percentile-metrics",
        ",".join(metrics),
        *SMALL,
        *options.split(),
        "--out",
        tmp_path,
    )
    assert (code, "Traceback" in err) == (0, False)
    assert re.search(r"no request has a value( in a replication)?$", out, re.MULTILINE)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "There is no mean time per output token: no request has a value" in page
    pictures = {path.stem for path in tmp_path.glob("*.png")}
    assert {"ttft-tail", "slowdown-by-length"} <= pictures
    assert not any(name.startswith("tpot") for name in pictures)


def test_compare_refuses_a_metric_named_twice(command: Command) -> None:
    code, _, err = command("compare --percentile-metrics e2el,e2el", *SMALL)
    assert (code, err) == (2, "serving-sim: error: percentile-metrics='e2el': must not be named twice\n")


def test_compare_writes_every_file(command: Command, tmp_path: Path) -> None:
    code, out, err = command(
        "compare", "--policy", "fcfs", "--policy", "isjl:beta=optimal", "--alpha", "40", *SMALL,
        "--percentile-metrics", "e2el,ttft", "--out", tmp_path,
    )  # fmt: skip
    assert code == 0
    assert err.startswith("fcfs, isjl:alpha=40,beta=optimal on 8 slots: 200 requests")
    pictures = ["costs", "gap-against-throughput", "gap-over-time", "load-over-time", "slowdown-by-length"]
    pictures += [
        f"{metric}-{kind}" for metric in ("e2el", "ttft") for kind in ("by-length", "quantiles", "tail")
    ]
    assert names(tmp_path) == sorted(
        [
            "compare.json",
            "report.html",
            *(f"{name}{suffix}" for name in pictures for suffix in (".png", ".svg")),
            *(
                f"{folder}/{name}"
                for folder in ("fcfs", "isjl-alpha-40-beta-optimal")
                for name in ("requests.parquet", "summary.json")
            ),
        ]
    )
    assert out.count("difference from fcfs in ") == 2
    content = json.loads((tmp_path / "compare.json").read_text(encoding="utf-8"))
    assert content["baseline"] == "fcfs"
    assert {each["verdict"] for each in content["differences"]} <= {
        "lower", "higher", "identical", "cannot tell apart", "not enough data", "no steady state",
    }  # fmt: skip
    assert "serving-sim compare --policy fcfs" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_budget_is_audited_for_policies_that_know_none(command: Command) -> None:
    _, out, _ = command("compare", "--policy", "fcfs", "--policy", "ljf", "--alpha", "5", *SMALL)
    assert re.search(r"^fcfs .* no \([\d,]+\) +\w+$", out, re.MULTILINE)
    assert re.search(r"^ljf .* yes +\w+$", out, re.MULTILINE)


def test_a_preset_sets_defaults_that_options_override(command: Command) -> None:
    _, _, err = command("run", "--preset", "demo", "--policy", "isjl", "--num-prompts", "100", "--alpha", "7")
    assert err.startswith("isjl:alpha=7 on 8 slots: 100 requests, lmsys-like lengths, batch:size=32")


def test_policies_lists_the_catalogue(command: Command) -> None:
    code, out, _ = command("policies", "--json")
    assert code == 0
    listed = {entry["name"] for entry in json.loads(out)["policies"]}
    assert {"fcfs", "sjf", "lpt", "ljf", "isjl", "fair-fcfs"} <= listed
    _, text, _ = command("policies")
    assert re.search(r"^isjl +alpha, beta=None +built in +ISJL ", text, re.MULTILINE)


def test_a_workload_made_and_served_is_the_workload_served(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "workload.csv"
    assert command("workload", "make", *SMALL, "--out", file)[0] == 0
    for folder, source in (("made", SMALL), ("read", ["--requests", file, "--slots", "8"])):
        assert command("run", "--policy", "sjf", *source, "--csv", "--out", tmp_path / folder)[0] == 0
    made, read = (tmp_path / folder / "requests.csv" for folder in ("made", "read"))
    assert made.read_bytes() == read.read_bytes()


def test_inspect_describes_a_workload(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "workload.csv"
    file.write_text("release,length\n0,4\n1,2\n2,6\n4,8\n", encoding="utf-8")
    code, out, err = command("workload", "inspect", "--requests", file, "--slots", "5", "--json")
    assert code == 0
    assert err.startswith("workload.csv (plain): 4 rows = 4 kept\n")
    facts = json.loads(out)
    assert (facts["requests"], facts["tokens"], facts["length_mean"], facts["length_p50"]) == (
        4,
        20,
        5.0,
        5.0,
    )
    assert (facts["rate"], facts["load"], facts["longest_gap"]) == (0.75, 0.75, 2.0)
    assert facts["gap_cv2"] == pytest.approx(0.125)


def test_arrivals_with_a_pace_of_their_own_take_the_place_of_a_preset_s_load(command: Command) -> None:
    words = ("run", "--policy", "fcfs", "--preset", "steady", "--num-prompts", "20")
    code, _, err = command(*words, "--arrivals", "poisson:rate=2")
    assert code == 0
    assert "poisson:rate=2 (rate 2) arrivals" in err


def test_python_makes_what_the_command_makes(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "made.csv"
    words = ("--lengths", "geometric:mean=10", "--arrivals", "poisson:rate=1", "--num-prompts", "5")
    assert command("workload", "make", *words, "--out", file)[0] == 0
    made, _ = read_workload(file)
    lengths, arrivals = parse_lengths("geometric:mean=10"), parse_arrivals("poisson:rate=1")
    again = make_workload(5, lengths, arrivals, replication_seed(0, 1))
    assert again.length.tolist() == made.length.tolist()
    assert again.release.tolist() == made.release.tolist()
    assert again.length.tolist() != make_workload(5, lengths, arrivals, 0).length.tolist()


def test_the_version_is_told(command: Command) -> None:
    assert command("--version") == (0, f"serving-sim {project_version()}\n", "")


def test_dropped_rows_are_counted(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "workload.csv"
    file.write_text("release,length\n0,4\n1,0\n2,6\n", encoding="utf-8")
    code, _, err = command("run", "--policy", "fcfs", "--requests", file, "--on-bad-row", "drop")
    assert code == 0
    assert "workload.csv (plain): 3 rows = 2 kept + 1 dropped (" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("rum", "no such command 'rum'. Did you mean 'run'?"),
        ("run --polcy fcfs", "no such option: --polcy; did you mean --policy?"),
        ("run", "missing option '--policy'."),
        ("run --policy fcfs extra", "got unexpected extra argument(s) (extra)"),
        ("run --policy isjl", "policy isjl: needs a value for alpha, as in isjl:alpha=.."),
        (
            "run --policy fcfs --percentiles 50,100",
            "percentiles=100.0: must lie strictly between 0 and 100",
        ),
        ("run --policy fcfs --percentiles 50,x", "percentiles='x': must be a finite number"),
        (
            "run --policy fcfs --goodput ttff:3",
            "goodput='ttff': must be one of queue_time, ttft, e2el, tpot, normalized_latency, slowdown",
        ),
        ("run --policy fcfs --goodput ttft=3", "goodput='ttft=3': must read NAME:NUMBER"),
        ("run --policy fcfs --goodput ttft:3,ttft:4", "goodput='ttft:4': 'ttft' must not come twice"),
        ("run --policy fcfs --goodput ttft:0", "goodput=ttft:0.0: the limit must be > 0"),
        (
            "run --policy fcfs --step-time bse=1",
            "step-time='bse': must be one of base, per_request, per_max_token, per_token",
        ),
        ("run --policy fcfs --step-time base=-1", "base=-1.0: must be a finite number >= 0"),
        (
            "run --policy fcfs --step-time base=1,per_token=0.1",
            "--step-time: must be constant for a load, others have no fixed capacity; use --request-rate",
        ),
        (
            "run --policy fcfs --load 0.9 --request-rate 1",
            "--load: cannot go with --request-rate, one sets the other",
        ),
        (
            "run --policy fcfs --arrivals poisson --burstiness 0.5",
            "--burstiness=0.5: needs gamma arrivals, found poisson",
        ),
        (
            "run --policy fcfs --arrivals poisson:rate=2 --request-rate 5",
            "--request-rate: cannot go with arrivals poisson:rate=2, which say it themselves",
        ),
        (
            "run --policy fcfs --arrivals backlog --load 0.5",
            "--load: cannot go with arrivals backlog, which say it themselves",
        ),
        (
            "run --policy fcfs --preset backlog --request-rate 5",
            "--request-rate: cannot go with arrivals backlog, which say it themselves",
        ),
        (
            "run --policy fcfs --arrivals gamma:burstiness=0.5 --burstiness 2",
            "--burstiness: cannot go with arrivals gamma:burstiness=0.5, which say it themselves",
        ),
        ("run --policy fcfs --length output", "--length: needs --requests, it says how a file is read"),
        ("run --policy fcfs --seed -1", "--seed=-1: must be a whole number >= 0"),
        (
            "run --policy fcfs --warmup 1000",
            "warmup=1000: must be >= 0 and below the number of requests, 1000",
        ),
        ("run --policy fcfs --requests no.csv", "no.csv: no such file"),
        (
            "compare --preset dmo",
            (
                "preset='dmo': is unknown; did you mean 'demo'? known: demo, backlog, steady, "
                "printed-flaw-1, printed-flaw-2, printed-flaw-3"
            ),
        ),
        (
            "run --policy fcfs --replications 10001",
            "invalid value for '--replications': Input should be less than or equal to 10000",
        ),
        (
            "reproduce table1 --sets 10001",
            "invalid value for '--sets': Input should be less than or equal to 10000",
        ),
        (
            "adversary search --workers 257",
            "invalid value for '--workers': Input should be less than or equal to 256",
        ),
        (
            "adversary jigsaw --slots 100000",
            "invalid value for '--slots': Input should be less than or equal to 1000",
        ),
        (
            f"optimum 1,2 --slots {10**20}",
            "invalid value for '--slots': Input should be less than or equal to 1000000",
        ),
        (
            "capacity --attainment 90%",
            "--attainment: needs --goodput, the objectives to attain",
        ),
        ("capacity --policy fcfs --policy fcfs", "policy='fcfs': must not be compared with itself"),
        (
            "run --policy fcfs --step-cost 1e308 --token-cost 1e308 --token-price 1e308",
            "c=1e+308: must be at most 1e+100, sums over a run would overflow",
        ),
        (
            "run --policy fcfs --token-price 1e308",
            "price=1e+308: must be at most 1e+100, sums over a run would overflow",
        ),
        ("calibrate no.csv --delta nan", "--delta=nan: must be a finite number >= 0"),
        ("calibrate no.csv --min-throughput nan", "min_throughput=nan: must be a finite number >= 0"),
        ("calibrate no.csv --max-latency p95:nan", "max-latency='nan': must be a finite number"),
        (
            "calibrate no.csv --max-latency p0:3",
            "--max-latency='p0:3': percentiles must lie strictly between 0 and 100",
        ),
        (
            "compare --percentile-metrics itl",
            (
                "percentile-metrics='itl': must be one of "
                "queue_time, ttft, e2el, tpot, normalized_latency, slowdown"
            ),
        ),
        ("run --policy fcfs --request-rate 0", "--request-rate=0.0: must be a finite number > 0"),
        (
            "run --policy fcfs --load 1e308 --lengths fixed:length=1",
            "load=1e+308: gives a rate of inf, must be a finite number > 0",
        ),
        (
            "run --policy fcfs --load 1e-300 --slots 4",
            "--load=1e-300: 1,000 requests must come within 2**50 steps on 4 slots",
        ),
        (
            "workload make --out w.csv --num-prompts 7 --request-rate 1e-300",
            "--request-rate=1e-300: 7 requests must come within 2**50 steps on 32 slots",
        ),
        (
            "compare --arrivals poisson:rate=1e-300 --alpha 2",
            "--arrivals=poisson:rate=1e-300: 1,000 requests must come within 2**50 steps on 32 slots",
        ),
        (
            "capacity --quiet --policy fcfs --loads 1e-300,0.5",
            "loads=1e-300: 20,000 requests must come within 2**50 steps on 32 slots",
        ),
        ("compare --policy fcfs --policy fcfs", "policy='fcfs': must not be compared with itself"),
        (
            "compare --policy isjl:alpha=4,beta=4.0 --policy isjl --alpha 4",
            "policy='isjl:alpha=4': must not be compared with itself",
        ),
        (
            "adversary jigsaw --quiet --policy fair-fcfs --policy fair:inner=fcfs",
            "policy='fair-fcfs:alpha=3': must not be compared with itself",
        ),
        (
            "adversary search --policy ljf --policy ljf",
            "policy='ljf': must not be compared with itself",
        ),
        (
            "workload make --out w.csv --replications 2",
            "--replications=2: must be 1, this is about one workload",
        ),
    ],
)
def test_bad_arguments_get_one_line_and_exit_code_2(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command(*words.split()) == (2, "", f"serving-sim: error: {message}\n")
    assert names(tmp_path) == []


@pytest.mark.parametrize("value", ["0", "x"])
def test_a_value_of_the_wrong_kind_names_its_option(command: Command, value: str) -> None:
    code, out, err = command("run", "--policy", "fcfs", "--slots", value)
    assert (code, out) == (2, "")
    assert re.fullmatch(r"serving-sim: error: invalid value for '--slots': [^\n]+\n", err)


def test_a_policy_that_starves_ends_with_its_name(command: Command) -> None:
    code, out, err = command("run", "--policy", "made_runs:Idle", "--quiet", *SMALL)
    assert (code, out) == (2, "")
    assert re.fullmatch(r"serving-sim: error: [^\n]*idle[^\n]*200[^\n]*\n", err)


@pytest.mark.parametrize(
    ("out", "rule"),
    [
        ("", "must not be empty"),
        ("~nobody-of-that-name/x", "~nobody-of-that-name/x: Could not determine home directory."),
        ("file", "{folder}/file is a file, not a folder"),
        ("file/x/y", "{folder}/file is a file, not a folder"),
    ],
)
@pytest.mark.parametrize(
    "words",
    [
        "run --policy fcfs --out",
        "compare --out",
        "adversary golden-ratio --out",
        "claims --out",
        "reproduce table1 --out",
        "calibrate no.csv --out",
        "validate --out",
    ],
)
def test_an_output_folder_that_cannot_be_is_refused_before_the_work(
    *, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, out: str, rule: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("", encoding="utf-8")
    place = str(tmp_path / out) if out.startswith("file") else out
    assert command(*words.split(), place) == (
        2,
        "",
        f"serving-sim: error: invalid value for '--out': {rule.format(folder=tmp_path)}\n",
    )
    assert names(tmp_path) == ["file"]


def test_a_file_to_write_is_refused_before_the_work(command: Command, tmp_path: Path) -> None:
    (tmp_path / "w.csv").mkdir()
    for out, rule in (
        ("", "must not be empty"),
        (tmp_path / "w.csv", f"{tmp_path}/w.csv is a folder, not a file"),
    ):
        said = f"serving-sim: error: invalid value for '--out': {rule}\n"
        assert command("workload", "make", "--out", out) == (2, "", said)


def test_a_tilde_is_the_home_of_the_user(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert command("workload", "make", "--num-prompts", "3", "--out=~/deep/w.csv")[0] == 0
    assert command("run", "--policy", "fcfs", "--requests=~/deep/w.csv", "--out=~/out", "--csv")[0] == 0
    assert names(tmp_path) == ["deep/w.csv", "out/requests.csv", "out/summary.json"]


def test_commands_without_arguments_show_their_help(command: Command) -> None:
    code, out, err = command("workload")
    assert code == 2
    assert "serving-sim workload" in out
    assert err == ""


def test_an_interruption_keeps_what_was_finished(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished: list[Run] = []
    simulate = serving_sim.simulate

    def second_is_interrupted(*arguments: object, **settings: object) -> Run:
        if len(finished) == 2:  # each policy also serves a backlog, to see what it can sustain
            raise KeyboardInterrupt
        finished.append(simulate(*arguments, **settings))  # type: ignore[arg-type]
        return finished[-1]

    monkeypatch.setattr(serving_sim, "simulate", second_is_interrupted)
    words = ("compare", "--policy", "fcfs", "--policy", "sjf", *SMALL, "--quiet", "--out", tmp_path)
    assert command(*words) == (
        130, "", "serving-sim: error: interrupted, files written so far are complete\n",
    )  # fmt: skip
    assert names(tmp_path) == ["fcfs/requests.parquet", "fcfs/summary.json"]


@pytest.mark.parametrize(
    ("number", "code", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_signals_end_a_process_without_half_files(tmp_path: Path, number: int, code: int, word: str) -> None:
    words = ["run", "--policy", "fcfs", "--num-prompts", "1000000", "--csv", "--out", str(tmp_path / "out")]
    with subprocess.Popen(
        command_line(*words), stderr=subprocess.PIPE, text=True, env=environment()
    ) as process:
        assert process.stderr is not None
        assert "1,000,000 requests" in process.stderr.readline()
        assert "policies may know" in process.stderr.readline()  # the run has begun
        process.send_signal(number)
        said = process.stderr.read()
        assert process.wait(timeout=60) == code
    assert said == f"serving-sim: error: {word}\n"  # nothing was written
    assert names(tmp_path) == []


def test_the_same_seed_gives_the_same_bytes_in_any_process(tmp_path: Path) -> None:
    contents = set()
    for number in range(3):
        folder = tmp_path / str(number)
        words = ["compare", "--policy", "fcfs", "--policy", "isjl", "--alpha", "30", *SMALL, "--seed", "5"]
        subprocess.run(
            command_line(*words, "--csv", "--quiet", "--out", str(folder)),
            check=True,
            env=environment(),
            stdout=subprocess.DEVNULL,
        )
        contents.add(tuple((folder / name).read_bytes() for name in ("fcfs/requests.csv", "e2el-tail.svg")))
    assert len(contents) == 1


def test_help_loads_nothing_heavy() -> None:
    script = (
        "import sys; from analysis.cli import main; main(['--help']); "
        "print(sorted({'pandas', 'scipy', 'matplotlib', 'pyarrow', 'jinja2', 'rich', 'joblib'} "
        "& sys.modules.keys()))"
    )
    assert python(script).splitlines()[-1] == "[]"


def test_no_colour_away_from_a_terminal(command: Command) -> None:
    _, out, err = command("run", "--policy", "fcfs", *SMALL)
    assert "\x1b" not in out + err


def test_tables_align_numbers_to_the_right() -> None:
    table = Table("t", ("policy", "mean"), [("a", "1,234"), ("longer", "5")])
    assert aligned(table) == "t\npolicy   mean\na       1,234\nlonger      5\n"


@pytest.mark.parametrize(("width", "ruled"), [(120, True), (60, False)])
def test_a_narrow_terminal_breaks_no_number(
    *, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int, ruled: bool
) -> None:
    table = Table("t", ("policy", *"abcdef"), [("fcfs", *["1,234,567 ± 8"] * 6)])
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    show(table)
    printed = capsys.readouterr().out
    assert printed.count("1,234,567 ± 8") == 6
    assert ("─" in printed) is ruled


def test_a_narrow_terminal_wraps_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Table("t", ("policy", "rule"), [("fcfs", "first come " * 20)], numbers=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "50")
    show(table)
    printed = capsys.readouterr().out
    assert printed.count("first") == printed.count("come") == 20
    assert max(line.count("first") for line in printed.splitlines()) < 20


def test_policies_whose_files_would_share_a_folder(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "twins.py").write_text(
        "from policies.continuous import FCFS\n"
        "class One(FCFS):\n    name = 'a b'\n"
        "class Other(FCFS):\n    name = 'a-b'\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    arguments = ("compare", "--policy", "twins:One", "--policy", "twins:Other", "--num-prompts", "5")
    assert command(*arguments)[0] == 0
    code, _, err = command(*arguments, "--out", tmp_path / "out")
    assert (code, err) == (2, "serving-sim: error: 'a-b': would write to the same place as 'a b', 'a-b'\n")


def test_what_a_policy_of_one_s_own_does_on_a_backlog_is_of_no_concern(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fragile.py").write_text(
        "import numpy as np\n"
        "from policies.continuous import FCFS\n"
        "class Fragile(FCFS):\n"
        "    name = 'fragile'\n"
        "    made = []\n"
        "    def __init__(self):\n"
        "        self.made.append(self)\n"
        "    def begin(self, slots):\n"
        "        super().begin(slots)\n"
        "        self.times = []\n"
        "    def decide(self, epoch):\n"
        "        self.times.append(epoch.now)\n"
        "        if epoch.joined == 50 and epoch.now == 0:\n"
        "            raise KeyError('a backlog')\n"
        "        return [(np.int64(request), slot) for request, slot in super().decide(epoch)]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    arguments = ("run", "--policy", "fragile:Fragile", "--num-prompts", 50, "--request-rate", 0.5)
    code, _, err = command(*arguments, "--slots", 2, "--alpha", 0, "--verbose", "--out", tmp_path / "out")
    assert code == 0
    assert "nobody knows the most a policy can do, a backlog ended it: KeyError('a backlog')" in err
    first, *_ = importlib.import_module("fragile").Fragile.made
    assert first.times[-1] > 0  # the run is the last that this object has seen
    fairness = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))["fairness"]
    assert fairness["violations"] > 0
    assert type(fairness["first_violation"]["request"]) is int


def test_the_azure_trace_is_served_whole(command: Command, shared: Path, tmp_path: Path) -> None:
    code, _, err = command(
        "run", "--requests", shared / "traces" / "azure2023" / "AzureLLMInferenceTrace_code.csv",
        "--format", "azure", "--length", "output", "--time-unit", "0.03", "--slots", "64",
        "--policy", "isjl", "--alpha", "100", "--out", tmp_path,
    )  # fmt: skip
    assert code == 0
    assert "8,819 rows = 8,819 kept" in err
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert summary["requests"] == 8819
    assert summary["fairness"]["fair"] is True
    assert summary["fairness"]["max_gap"] <= 100
    assert summary["E"] <= 100 * summary["tokens"]
