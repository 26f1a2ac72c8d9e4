"""A study that is killed, changed, damaged or made to fail ends with the table it should have."""

from __future__ import annotations

import importlib
import json
import os
import pickle
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fresh_process import command_line, environment
from joblib.externals.loky import ProcessPoolExecutor
from refusal import refusal

from analysis.cli import main
from analysis.stability import backlog_of, sustained_work
from analysis.study import Cell, Store, Study, backends, read_study, run_study, study_table
from analysis.study.backends import Loky, Results
from analysis.study.cell import _code_of_policy
from analysis.study.lock import is_running, sole_worker
from analysis.study.measure import attempt, measure
from analysis.study.run import Standing, standing
from analysis.study.store import kept_cells, set_aside
from analysis.user_code import _digest
from serving_sim import Run

SMALL = """
policy = ["fcfs", "isjl"]
alpha = [4, 8]
slots = 2
load = [0.5, 0.7]
lengths = "uniform:low=1,high=9"
num-prompts = 200
percentiles = [50, 90]
"""

FATAL = """
import os, signal
from policies.continuous import FCFS

class Fatal(FCFS):
    def begin(self, slots):
        if slots == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        if slots == 3:
            raise RuntimeError("three are\\ntoo many")
        if slots == 4:
            raise SystemExit(0)
        super().begin(slots)
"""


UNLUCKY = """
import os, signal
from pathlib import Path
from policies.continuous import FCFS

class Unlucky(FCFS):
    def begin(self, slots):
        deaths = Path("deaths")
        count = len(deaths.read_text()) if deaths.exists() else 0
        if slots == 2 and count < 2:
            deaths.write_text("x" * (count + 1))
            os.kill(os.getpid(), signal.SIGKILL)
        super().begin(slots)
"""


class Here:
    """Simulates in this process and remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[Cell] = []

    def results(self, cells: Iterable[Cell]) -> Results:
        for cell in cells:
            self.asked.append(cell)
            yield cell, attempt(cell, cell.digest)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def study(text: str, name: str = "a.toml") -> Study:
    Path(name).write_text(text, encoding="utf-8")
    return read_study(Path(name), ["fatal", "unlucky"])


def run_here(text: str) -> tuple[Study, Here]:
    """Run what is left of a study and give the cells that were simulated."""
    defined, here = study(text), Here()
    with Store(defined.store_path) as store:
        assert run_study(defined, store, here, lambda _: None) == []
    return defined, here


def rows(defined: Study) -> dict[str, str]:
    """Rows of the table by cell, as text."""
    kept = kept_cells(defined.store_path)
    return {cell.key: json.dumps(kept[cell.key].row) for cell in defined.cells if cell.key in kept}


def stand(defined: Study) -> Standing:
    return standing(defined.cells, kept_cells(defined.store_path))


def test_rows_hold_what_the_command_run_finds() -> None:
    defined, _ = run_here(SMALL + "replications = 2\nwarmup = 10\ngoodput = { e2el = 20 }")
    table = study_table(defined, kept_cells(defined.store_path))
    row = table[(table["policy"] == "isjl") & (table["alpha"] == 8) & (table["load"] == 0.7)].iloc[1]
    words = (
        "run --policy isjl --alpha 8 --slots 2 --load 0.7 --lengths uniform:low=1,high=9 --num-prompts 200 "
        "--percentiles 50,90 --replications 2 --warmup 10 --goodput e2el:20 --csv --out out --quiet"
    )
    assert main(words.split()) == 0
    summary = json.loads(Path("out/replication-2/summary.json").read_text(encoding="utf-8"))
    for name in ("tokens", "steps", "E", "Q", "makespan", "throughput", "occupancy", "extent_max", "engine"):
        assert row[name] == summary[name], name
    assert row["e2el_mean"] == summary["metrics"]["e2el"]["mean"]["value"]
    assert row["slowdown_p90"] == summary["metrics"]["slowdown"]["quantiles"]["p90"]["value"]
    assert row["queue_time_count"] == summary["metrics"]["queue_time"]["count"] == 190
    assert row["goodput"] == summary["goodput"]["tokens_per_time_unit"]
    assert row["violations"] == summary["fairness"]["violations"] == 0


def test_the_engine_of_a_large_cell_serves_its_backlog_too(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr("serving_sim.compiled.choice.WORTH_COMPILING", 2_000)
    small, large = study(SMALL).cells[0], study(SMALL.replace("200", "2000")).cells[0]
    served: list[tuple[int, str]] = []

    def watched(backlog: Run) -> float:
        served.append((backlog.totals.requests, backlog.engine))
        return sustained_work(backlog)

    monkeypatch.setattr("analysis.stability.sustained_work", watched)
    monkeypatch.setattr("analysis.stability.backlog_of", lambda requests: backlog_of(requests, 100))
    for cell in (small, large):
        measure(cell)
    assert served == [(100, "simpy"), (100, "compiled")]


def test_adding_a_policy_a_load_and_replications_leaves_rows_as_they_were() -> None:
    before = rows(run_here(SMALL)[0])
    text = SMALL.replace('"fcfs"', '"sjf", "fcfs"').replace("0.5, 0.7", "0.5, 0.6, 0.7")
    defined, here = run_here(text + "replications = 2")
    after = rows(defined)
    assert {key: after[key] for key in before} == before
    assert len(here.asked) == len(defined.cells) - len(before)


def test_another_definition_is_noticed_and_never_mixed_with_the_old() -> None:
    run_here(SMALL)
    defined = study(SMALL + "seed = 1")
    assert len(stand(defined).outdated) == len(defined.cells) == 6
    assert len(study_table(defined, kept_cells(defined.store_path))) == 0
    _, here = run_here(SMALL + "seed = 1")
    assert here.asked == list(defined.cells)
    assert stand(defined).to_do == []
    assert len(stand(study(SMALL)).outdated) == 6


def test_another_version_is_another_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    run_here(SMALL)
    monkeypatch.setattr("analysis.study.cell.project_version", lambda: "99")
    assert len(stand(study(SMALL)).outdated) == 6


def test_a_worker_of_another_version_gives_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    (cell, *_) = study(SMALL).cells
    digest, sent = cell.digest, pickle.dumps(cell)
    monkeypatch.setattr("analysis.study.cell.project_version", lambda: "99")
    result = attempt(pickle.loads(sent), digest)  # noqa: S301  (as backends send it)
    assert (result.row, str(result.error)[:44]) == (None, "its worker has another version of the projec")


def test_a_cell_that_raises_and_one_that_kills_its_worker_are_told_and_the_rest_goes_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("fatal.py").write_text(FATAL, encoding="utf-8")
    text = SMALL.replace('"isjl"]', '"fatal:Fatal"]').replace("slots = 2", "slots = [1, 2, 3, 4]")
    study(text.replace("alpha = [4, 8]\n", "").replace("[0.5, 0.7]", "0.5"))
    assert main(["study", "a.toml", "--jobs", "2", "--module", "fatal"]) == 1
    place = (
        "failed: lengths=uniform:low=1,high=9, arrivals=poisson, load=0.5, num_prompts=200, slots={}, "
        "step_time=base=1.0, policy=fatal:Fatal, replication=1: "
    )
    failures = [
        place.format(2) + "its worker process died: killed, or out of memory",
        place.format(3) + "RuntimeError: three are too many",
        place.format(4) + "SystemExit: 0",
    ]
    lines = capsys.readouterr().err.splitlines()
    assert sorted(lines[2:]) == failures
    assert lines[:2] == ["a.toml: 8 cells: 8 missing", "8 cells: 5 done, 3 failed; kept in a.sqlite"]
    assert main(["study", "status", "a.toml", "--module", "fatal"]) == 0
    shown = capsys.readouterr()
    assert [line.split()[-1] for line in shown.out.splitlines()[2:6]] == ["5", "0", "0", "3"]
    assert shown.err.splitlines() == failures
    Path("fatal.py").write_text(FATAL.replace("if slots ==", "if 0 =="), encoding="utf-8")
    as_in_a_new_process("fatal")
    assert main(["study", "a.toml", "--jobs", "2", "--quiet", "--module", "fatal"]) == 0
    assert stand(read_study(Path("a.toml"), ["fatal"])).to_do == []


def as_in_a_new_process(module: str) -> None:
    """Forget a module and what is known of its file."""
    sys.modules.pop(module)
    importlib.invalidate_caches()
    _digest.cache_clear()
    _code_of_policy.cache_clear()


def test_rows_of_other_code_are_stale() -> None:
    module = Path("mine.py")
    module.write_text("from policies import FCFS\nclass Mine(FCFS):\n    name = 'mine'\n", encoding="utf-8")
    text = SMALL.replace('"isjl"]', '"delayed:x=0,inner=mine:Mine"]').replace("alpha = [4, 8]\n", "")
    Path("a.toml").write_text(text, encoding="utf-8")
    before = {cell.key: cell.digest for cell in read_study(Path("a.toml"), ["mine"]).cells}
    with module.open("a", encoding="utf-8") as file:
        file.write("    limit = 3\n")
    as_in_a_new_process("mine")
    after = read_study(Path("a.toml"), ["mine"]).cells
    assert set(before) == {cell.key for cell in after}
    stale = [cell.policy for cell in after if cell.digest != before[cell.key]]
    assert stale == ["delayed:x=0,inner=mine:Mine"] * 2


@pytest.mark.parametrize(
    "policy",
    ["trap:Trap", "delayed:x=1,inner=trap:Trap", "windowed:w=2,inner=(delayed:x=1,inner=(trap:Trap))"],
)
@pytest.mark.parametrize(
    "words", ["a.toml", "status a.toml", "plot a.toml --out p", "export a.toml --out e.csv"]
)
def test_a_study_file_chooses_no_code(policy: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("trap.py").write_text("from pathlib import Path\nPath('sprung').touch()\n", encoding="utf-8")
    Path("a.toml").write_text(SMALL.replace('["fcfs", "isjl"]', f'"{policy}"'), encoding="utf-8")
    assert main(["study", *words.split(), "--module", "other"]) == 2
    rule = f"policy='{policy}': runs code of trap; if you trust it: --module trap"
    assert capsys.readouterr().err == f"serving-sim: error: a.toml: {rule}\n"
    assert not Path("sprung").exists()


def test_a_cell_whose_own_process_is_killed_from_outside_gets_another() -> None:
    Path("unlucky.py").write_text(UNLUCKY, encoding="utf-8")
    cells = study(SMALL.replace('["fcfs", "isjl"]', '"unlucky:Unlucky"').replace("[4, 8]", "4")).cells
    assert [result.error for _, result in Loky(jobs=1).results(cells)] == [None, None]
    assert Path("deaths").read_text(encoding="utf-8") == "xx"  # once in the pool, once alone


def test_cells_that_end_while_a_result_is_kept_are_taken_for_no_death(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(backends, "_alone", lambda cell: pytest.fail(f"{cell}: was healthy"))
    asked = study(SMALL.replace("200", "20") + "replications = 2").cells
    given = []
    for cell, result in Loky(jobs=2).results(asked):
        time.sleep(0.05)  # longer than a cell takes: those beside it end meanwhile
        assert result.error is None
        given.append(cell)
    assert sorted(cell.key for cell in given) == sorted(cell.key for cell in asked)


def test_killed_at_random_moments_and_resumed_it_gives_the_same_table() -> None:
    text = SMALL.replace("200", "5000") + "replications = 2"
    killed = study(text, "killed.toml")
    chance = random.Random(0)  # noqa: S311  (moments, not secrets)
    for goal in (1, 5):
        process = subprocess.Popen(
            command_line("study", "killed.toml", "--jobs", "2"), env=environment(), start_new_session=True
        )
        while len(kept_cells(killed.store_path)) < goal:
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(chance.uniform(0, 0.2))
        os.kill(process.pid, signal.SIGKILL)  # its workers notice by themselves
        process.wait()
    assert 5 <= len(stand(killed).done) < len(killed.cells)
    assert main(["study", "killed.toml", "--quiet"]) == 0
    whole = study(text, "whole.toml")
    with Store(whole.store_path) as store:
        run_study(whole, store, Here(), lambda _: None)
    for name in ("killed", "whole"):
        assert main(["study", "export", f"{name}.toml", "--out", f"{name}.csv", "--quiet"]) == 0
        assert main(["study", "export", f"{name}.toml", "--out", f"{name}.parquet", "--quiet"]) == 0
    assert Path("killed.csv").read_bytes() == Path("whole.csv").read_bytes()
    assert Path("killed.parquet").read_bytes() == Path("whole.parquet").read_bytes()


def test_interrupted_it_ends_with_130_and_keeps_finished_cells() -> None:
    defined = study(SMALL.replace("200", "3000") + "replications = 20")
    process = subprocess.Popen(
        command_line("study", "--jobs", "1", "a.toml"),
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not kept_cells(defined.store_path):
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: workers hear it too
    _, said = process.communicate()
    assert process.returncode == 130
    done, missing = (len(cells) for cells in (stand(defined).done, stand(defined).missing))
    assert done >= 1
    assert said.splitlines()[1:] == [
        f"{done + missing} cells: {done} done, {missing} missing; kept in a.sqlite, the same command goes on",
        "serving-sim: error: interrupted",
    ]
    assert not is_running(defined.store_path)


def test_a_second_process_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    defined = study(SMALL)
    with sole_worker(defined.store_path):
        assert is_running(defined.store_path)
        assert main(["study", "a.toml"]) == 2
    message = "a.sqlite: another process is running this study"
    assert capsys.readouterr().err == f"serving-sim: error: {message}\n"
    assert not is_running(defined.store_path)


def foreign() -> None:
    with closing(sqlite3.connect("a.sqlite")) as database:
        database.execute("CREATE TABLE theirs (x)")


def damaged() -> None:
    run_here(SMALL)
    content = bytearray(Path("a.sqlite").read_bytes())
    content[5000:] = os.urandom(len(content) - 5000)
    Path("a.sqlite").write_bytes(content)


def later() -> None:
    run_here(SMALL)
    with closing(sqlite3.connect("a.sqlite")) as database:
        database.execute("PRAGMA user_version = 2")


FLAWS = {
    foreign: "is a database of something else",
    damaged: "is damaged",
    later: "has layout 2, this version reads 1",
    lambda: Path("a.sqlite").write_text("a note\n" * 1000, encoding="utf-8"): (
        "is damaged or no store of a study (file is not a database)"
    ),
}


@pytest.mark.parametrize("spoil", FLAWS)
def test_a_file_that_is_no_sound_store_is_kept_aside(
    spoil: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert callable(spoil)
    spoil()
    flaw, content = FLAWS[spoil], Path("a.sqlite").read_bytes()
    defined = study(SMALL.replace("[0.5, 0.7]", "0.5").replace('["fcfs", "isjl"]', '"fcfs"'))
    assert refusal(lambda: kept_cells(defined.store_path)).startswith(f"a.sqlite: {flaw}")
    Path("a.sqlite.aside-1").write_text("of the last time", encoding="utf-8")
    assert main(["study", "a.toml", "--jobs", "1"]) == 0
    said = capsys.readouterr().err.splitlines()[0]
    assert said.startswith(f"a.sqlite: {flaw}")
    assert said.endswith("; kept as a.sqlite.aside-2")
    assert Path("a.sqlite.aside-2").read_bytes() == content
    assert len(stand(defined).done) == 1


@pytest.mark.parametrize(
    ("change", "flaw"),
    [
        ("UPDATE cells SET row = '{\"E\": '", "is damaged (Expecting value: "),
        ("UPDATE cells SET row = '[1]'", "is damaged (row='[1]': must be a JSON object)"),
        ("UPDATE cells SET row = CAST(x'FF' AS TEXT)", "is damaged (Could not decode"),
        ("ALTER TABLE cells RENAME TO others", "is damaged (no such table: cells)"),
        (
            "UPDATE sqlite_master SET sql = 'CREATE TABLE [\n\n' WHERE type = 'table'",
            "is damaged or no store of a study (malformed database schema (cells)",
        ),
    ],
)
def test_a_store_whose_cells_cannot_be_read_is_kept_aside(change: str, flaw: str) -> None:
    defined, _ = run_here(SMALL)
    with closing(sqlite3.connect("a.sqlite")) as database:
        database.execute("PRAGMA writable_schema = 1")
        database.execute(change)
        database.commit()
    assert refusal(lambda: kept_cells(defined.store_path)).startswith(f"a.sqlite: {flaw}")
    moved = set_aside(defined.store_path)
    assert moved is not None
    assert moved[0] == Path("a.sqlite.aside-1")
    assert moved[0].exists()
    assert not Path("a.sqlite").exists()


def test_looking_leaves_one_file_and_the_lock() -> None:
    defined, _ = run_here(SMALL)
    with sole_worker(defined.store_path):
        assert main(["study", "status", "a.toml"]) == 0
    assert main(["study", "export", "a.toml", "--out", "a.csv", "--quiet"]) == 0
    assert sorted(path.name for path in Path().glob("a.sqlite*")) == ["a.sqlite", "a.sqlite-lock"]


def test_an_empty_file_becomes_the_store() -> None:
    Path("a.sqlite").touch()
    assert stand(run_here(SMALL)[0]).to_do == []


def test_a_large_cell_takes_the_compiled_engine() -> None:
    pytest.importorskip("numba")
    text = SMALL.replace("200", "[1000, 100_000]").replace('["fcfs", "isjl"]', '"fcfs"')
    defined, _ = run_here(text.replace("[0.5, 0.7]", "0.5"))
    table = study_table(defined, kept_cells(defined.store_path))
    assert list(table["engine"]) == ["simpy", "compiled"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--scheduler", "tcp://x:1"], "--scheduler: needs --backend dask"),
        (["--backend", "dask"], "--backend dask: needs --scheduler ADDRESS"),
        (
            ["--backend", "dask", "--scheduler", "tcp://x:1", "--jobs", "2"],
            "--jobs: cannot go with --backend dask, the cluster has the workers it has",
        ),
    ],
)
def test_options_that_exclude_each_other_are_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    study(SMALL)
    assert main(["study", "a.toml", *words]) == 2
    assert capsys.readouterr().err == f"serving-sim: error: {message}\n"


def test_a_log_that_cannot_be_read_is_refused_once(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.toml").write_text(
        'policy = ["fcfs", "sjf"]\nslots = [1, 2]\nrequests = "log.csv"', encoding="utf-8"
    )
    Path("log.csv").write_text("root:x:0:0\n", encoding="utf-8")
    assert main(["study", "a.toml", "--jobs", "1", "--quiet"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "log.csv" in line
    assert kept_cells(Path("a.sqlite")) == {}


def test_a_folder_in_the_place_of_the_store_is_called_one(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.toml").write_text(SMALL, encoding="utf-8")
    Path("a.sqlite").mkdir()
    for command in ("run", "status"):
        assert main(["study", command, "a.toml"]) == 2
        assert capsys.readouterr().err.endswith("a.sqlite: is a folder, not a store of a study\n")


def test_no_more_processes_than_cells_and_none_that_hears_ctrl_c_while_it_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    blocked: list[bool] = []

    class Pool(ProcessPoolExecutor):  # type: ignore[misc]  # loky has no types
        def __init__(self, jobs: int, **options: Any) -> None:  # noqa: ANN401
            asked.append(jobs)
            super().__init__(jobs, **options)

        def submit(self, *call: Any, **options: Any) -> Any:  # noqa: ANN401
            blocked.append(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))
            return super().submit(*call, **options)

    monkeypatch.setattr(backends, "ProcessPoolExecutor", Pool)
    Path("a.toml").write_text(
        SMALL.replace("[0.5, 0.7]", "0.5").replace("alpha = [4, 8]", "alpha = 4"), encoding="utf-8"
    )
    defined = read_study(Path("a.toml"))
    with Store(defined.store_path) as store:
        assert run_study(defined, store, Loky(100_000), lambda _: None) == []
    assert asked == [2]
    assert blocked == [True, False, False]


def test_processes_beyond_any_machine_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.toml").write_text(SMALL, encoding="utf-8")
    assert main(["study", "a.toml", "--jobs", "100000"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--jobs" in line
    assert "1024" in line
