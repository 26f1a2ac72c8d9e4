"""A command that would write over what it reads is refused before it computes, and nothing is lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command_line import Command

from analysis.study import Store, read_study
from analysis.study.measure import attempt
from workloads import read_workload, write_workload

LOG = "release,length,prompt_tokens,output_tokens\n" + "".join(f"{row},9,4,5\n" for row in range(40))
CLIENT = '[[client]]\nname = "a"\nrate = 0.1\nlengths = "uniform:low=1,high=9"\n'
STUDY = 'policy = "fcfs"\nslots = 2\nrequests = "log.csv"\n'
TARIFFS = "tariff,input,output\nflat,1,1\n"
RUN = "run --policy fcfs --slots 2 --csv"
COMPARE = "compare --policy fcfs --policy sjf --slots 2 --csv"


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {"log.csv": LOG, "clients.toml": CLIENT, "grid.toml": STUDY}.items():
        Path(name).write_text(text, encoding="utf-8")
    os.link("log.csv", "hard.csv")
    Path("soft.csv").symlink_to("log.csv")
    for folder in ("out", "out/replication-2", "out/fcfs", "out/ljf"):
        Path(folder).mkdir()
        Path(folder, "requests.csv").write_text(LOG, encoding="utf-8")
    Path("out/batches.csv").write_text(TARIFFS, encoding="utf-8")


def contents() -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("words", "called", "read"),
    [
        ("workload convert log.csv --from 0s --time-unit 1 --out log.csv", "--out='log.csv'", "log.csv"),
        ("workload convert log.csv --out hard.csv", "--out='hard.csv'", "log.csv"),
        ("workload convert log.csv --out soft.csv", "--out='soft.csv'", "log.csv"),
        ("workload convert soft.csv --out ./log.csv", "--out='log.csv'", "soft.csv"),
        ("workload convert log.csv --out out/../log.csv", "--out='out/../log.csv'", "log.csv"),
        ("workload convert h*.csv --out log.csv", "--out='log.csv'", "hard.csv"),
        ("workload make --requests log.csv --out log.csv", "--out='log.csv'", "log.csv"),
        ("workload make --clients clients.toml --out clients.toml", "--out='clients.toml'", "clients.toml"),
        ("workload make --lengths empirical:file=log.csv --out hard.csv", "--out='hard.csv'", "log.csv"),
        ("workload fit log.csv --out log.csv", "--out='log.csv'", "log.csv"),
        ("study export grid.toml --out log.csv", "--out='log.csv'", "log.csv"),
        ("study export grid.toml --out grid.toml", "--out='grid.toml'", "grid.toml"),
        (f"{RUN} --requests out/requests.csv --out out", "--out='out'", "out/requests.csv"),
        (
            f"{RUN} --requests out/replication-2/requests.csv --out out",
            "--out='out'",
            "out/replication-2/requests.csv",
        ),
        (f"{RUN} --requests log.csv --tariffs out/batches.csv --out out", "--out='out'", "out/batches.csv"),
        (f"{COMPARE} --requests out/fcfs/requests.csv --out out", "out/fcfs", "out/fcfs/requests.csv"),
    ],
)
def test_no_command_writes_over_its_input(words: str, called: str, read: str, command: Command) -> None:
    study = read_study(Path("grid.toml"))
    with Store(study.store_path) as store:
        for cell in study.cells:
            store.keep(cell, attempt(cell, cell.digest))
    before = contents()
    line = f"{called}: would write over {read!r}, which the command reads; give another name"
    assert command(words) == (2, "", f"serving-sim: error: {line}\n")
    assert contents() == before


def test_a_part_of_a_log_is_named_only_once_the_log_is_read(command: Command) -> None:
    text = "release,length,tenant\n0,1,a\n1,2,b\n"
    Path("log-b.csv").write_text(text, encoding="utf-8")
    code, _, err = command("workload convert log-b.csv --split-by tenant --out log.csv --quiet")
    assert code == 2
    assert err == (
        "serving-sim: error: log-b.csv: would write over 'log-b.csv', which the command reads; "
        "give another name\n"
    )
    assert Path("log-b.csv").read_text(encoding="utf-8") == text
    assert not Path("log-a.csv").exists()


@pytest.mark.parametrize(
    "words",
    [
        "workload inspect --requests out/requests.csv --out out",
        f"{RUN} --requests out/fcfs/requests.csv --out out",
        f"{RUN} --requests log.csv --out .",
    ],
)
def test_what_a_command_leaves_alone_it_may_read(words: str, command: Command) -> None:
    inputs = {path: contents()[path] for path in (Path("log.csv"), Path("out/fcfs/requests.csv"))}
    code, _, err = command(f"{words} --quiet")
    assert (code, err) == (0, "")
    assert inputs.items() <= contents().items()


def test_a_program_may_write_over_what_it_has_read() -> None:
    workload, _ = read_workload("log.csv")
    write_workload(workload, "log.csv")
    assert read_workload("log.csv")[0].length.tolist() == workload.length.tolist()
