"""The study file: what it spans, what it refuses, and that cells know nothing of each other."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from refusal import refusal

from analysis.study import Study, read_study
from serving_sim import StepTime, Workload
from workloads import make_workload, parse_arrivals, parse_lengths, rate_for_load
from workloads.arrivals import ARRIVALS

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "studies"

SMALL = """
policy = ["fcfs", "isjl"]
alpha = [4, 8]
slots = 2
load = [0.5, 0.7]
lengths = "uniform:low=1,high=9"
num-prompts = 20
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Working folder, so that messages name the file without a path."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def study(text: str) -> Study:
    Path("a.toml").write_text(text, encoding="utf-8")
    return read_study(Path("a.toml"))


def columns(workload: Workload) -> tuple[list[float], list[int]]:
    return workload.release.tolist(), workload.length.tolist()


@pytest.mark.usefixtures("folder")
def test_cells_are_all_combinations_in_the_order_of_the_table() -> None:
    cells = study(SMALL + "replications = 2").cells
    assert [(cell.coordinates["load"], cell.policy, cell.alpha, cell.replication) for cell in cells] == [
        (load, policy, alpha, replication)
        for load in (0.5, 0.7)
        for policy, alpha in (("fcfs", None), ("isjl", 4), ("isjl", 8))
        for replication in (1, 2)
    ]
    assert str(cells[-1]) == (
        "lengths=uniform:low=1,high=9, arrivals=poisson, load=0.7, num_prompts=20, slots=2, "
        "step_time=base=1.0, policy=isjl, alpha=8, replication=2"
    )


@pytest.mark.usefixtures("folder")
def test_a_byte_order_mark_is_fine() -> None:
    assert study("\ufeff" + SMALL).cells == study(SMALL).cells


@pytest.mark.usefixtures("folder")
def test_a_budget_multiplies_only_the_policies_that_take_it() -> None:
    text = SMALL.replace(
        '["fcfs", "isjl"]', '["ljf", "isjl:alpha=5", "delayed:x=0.5,inner=(isjl:alpha=6)", "fair-lpt"]'
    )
    found = [(cell.policy, cell.alpha) for cell in study(text).cells if cell.coordinates["load"] == 0.5]
    assert found == [
        ("ljf", 0),
        ("isjl:alpha=5", 5),
        ("delayed:x=0.5,inner=(isjl:alpha=6)", 6),
        ("fair-lpt", 4),
        ("fair-lpt", 8),
    ]


@pytest.mark.usefixtures("folder")
def test_a_load_multiplies_only_the_processes_without_a_rate_of_their_own() -> None:
    text = SMALL + 'arrivals = ["backlog", "poisson:rate=0.1", "gamma:burstiness=0.5"]'
    places = [
        (cell.coordinates["arrivals"], cell.coordinates["load"])
        for cell in study(text).cells
        if cell.policy == "fcfs"
    ]
    assert places == [
        ("backlog", None),
        ("poisson:rate=0.1", None),
        ("gamma:burstiness=0.5", 0.5),
        ("gamma:burstiness=0.5", 0.7),
    ]


@pytest.mark.usefixtures("folder")
def test_policies_meet_the_arrivals_of_the_command_run_and_of_each_other() -> None:
    cells = study(SMALL + "replications = 3\nseed = 7").cells
    lengths = parse_lengths("uniform:low=1,high=9")
    poisson = parse_arrivals("poisson", rate=rate_for_load(0.7, slots=2, mean_length=5.0))
    children = np.random.SeedSequence(7).spawn(3)
    for cell in cells:
        if cell.coordinates["load"] == 0.7:
            expected = make_workload(20, lengths, poisson, children[cell.replication - 1])
            assert columns(cell.workload()) == columns(expected)


@pytest.mark.usefixtures("folder")
def test_cells_do_not_depend_on_which_others_there_are() -> None:
    before = study(SMALL).cells
    text = SMALL.replace('"fcfs"', '"sjf", "fcfs"').replace("[0.5, 0.7]", "[0.3, 0.5, 0.7, 0.9]")
    after = {cell.key: cell for cell in study(text + "replications = 2").cells}
    assert [after[cell.key].digest for cell in before] == [cell.digest for cell in before]
    for cell in before:
        assert columns(after[cell.key].workload()) == columns(cell.workload())


@pytest.mark.parametrize("line", ["seed = 1", "percentiles = [50]", "warmup = 5", "goodput = { e2el = 50 }"])
@pytest.mark.usefixtures("folder")
def test_settings_change_the_digest_and_not_the_place(line: str) -> None:
    before, after = study(SMALL).cells, study(SMALL + line).cells
    assert [cell.key for cell in before] == [cell.key for cell in after]
    assert not {cell.digest for cell in before} & {cell.digest for cell in after}


def test_lengths_are_drawn_from_a_file_beside_the_study(folder: Path) -> None:
    (folder / "sub").mkdir()
    lengths = folder / "sub" / "lengths.csv"
    lengths.write_text("release,length\n0,3\n", encoding="utf-8")
    text = (
        'policy = "fcfs"\nslots = 1\nnum-prompts = 2\narrivals = "backlog"\n'
        'lengths = "empirical:file=lengths.csv"\n'
    )
    (folder / "sub" / "a.toml").write_text(text, encoding="utf-8")
    (before,) = read_study(Path("sub/a.toml")).cells
    assert before.coordinates["lengths"] == "empirical:file=lengths.csv"
    assert before.workload().length.tolist() == [3, 3]
    lengths.write_text("release,length\n0,4\n", encoding="utf-8")
    assert refusal(before.workload) == "empirical:file=lengths.csv: has changed since the study was read"
    (after,) = read_study(Path("sub/a.toml")).cells
    assert (before.key, before.digest == after.digest) == (after.key, False)
    assert after.workload().length.tolist() == [4, 4]


@pytest.mark.usefixtures("folder")
def test_a_log_with_other_content_changes_the_digest() -> None:
    text = 'policy = "fcfs"\nslots = 1\nrequests = "log.csv"'
    Path("log.csv").write_text("release,length\n0,3\n", encoding="utf-8")
    (before,) = study(text).cells
    assert before.workload().length.tolist() == [3]
    Path("log.csv").write_text("release,length\n0,4\n", encoding="utf-8")
    (after,) = study(text).cells
    assert (before.key, before.digest == after.digest) == (after.key, False)
    assert after.coordinates["requests_file"] == "log.csv"
    Path("log.csv").write_text("release,length\n0,5\n", encoding="utf-8")
    assert refusal(after.workload) == "log.csv: has changed since the study was read"


@pytest.mark.usefixtures("folder")
def test_step_times_span_the_grid() -> None:
    text = SMALL + "step-time = [{ base = 2 }, { base = 0.5, per_request = 0.25 }]"
    text = text.replace("load", "request-rate")
    times = {cell.step_time for cell in study(text).cells}
    assert times == {StepTime(base=2.0), StepTime(base=0.5, per_request=0.25)}


REFUSED = {
    "policy = ": "Invalid value (at end of document)",
    SMALL.replace("policy", "policies"): (
        "key='policies': is unknown; did you mean 'policy'? known: policy, alpha, slots, step-time, seed, "
        "percentiles, warmup, goodput, workload, lengths, arrivals, load, request-rate, num-prompts, "
        "replications, requests, format, length, time-unit, on-bad-row"
    ),
    SMALL.replace("slots = 2", ""): "slots: is missing",
    SMALL.replace("slots = 2", "slots = []"): "slots=[]: must hold at least one value",
    SMALL.replace("slots = 2", "slots = [2, 0]"): "slots=0: must be a whole number >= 1",
    SMALL.replace("slots = 2", "slots = [2, 2]"): "slots=2: must not come twice",
    SMALL.replace('"fcfs"', '"sjf", "sjf"'): "policy='sjf': must not come twice",
    SMALL.replace('"fcfs"', '"isjl:alpha=4"'): (
        "policy='isjl': must not come twice, 'isjl:alpha=4' with alpha=4 says the same"
    ),
    SMALL.replace('"fcfs"', '"isjl:beta=0.5e1", "isjl:alpha=8,beta=5.0"'): (
        "policy='isjl:alpha=8,beta=5.0': must not come twice, 'isjl:beta=0.5e1' with alpha=8 says the same"
    ),
    SMALL.replace('"isjl"', '"fair-sjf", "fair:alpha=4,inner=sjf"'): (
        "policy='fair:alpha=4,inner=sjf': must not come twice, 'fair-sjf' with alpha=4 says the same"
    ),
    SMALL.replace('"isjl"', '"windowed:w=3,inner=fcfs", "windowed:inner=(fcfs),w=3.0"'): (
        "policy='windowed:inner=(fcfs),w=3.0': must not come twice, 'windowed:w=3,inner=fcfs' says the same"
    ),
    SMALL.replace('"uniform:low=1,high=9"', '["uniform:low=1,high=9", "uniform: high=9, low=1"]'): (
        "lengths='uniform: high=9, low=1': must not come twice, 'uniform:low=1,high=9' says the same"
    ),
    SMALL + "arrivals = ['gamma:burstiness=1', 'gamma']": (
        "arrivals='gamma': must not come twice, 'gamma:burstiness=1' says the same"
    ),
    SMALL + "step-time = [{ base = 2 }, { base = 2, per_request = 0 }]": (
        "step-time={'base': 2, 'per_request': 0}: must not come twice, {'base': 2} says the same"
    ),
    "policy = 'fcfs'\nslots = 1\nrequests = ['log.csv', './log.csv']": (
        "requests='./log.csv': must not come twice, 'log.csv' says the same"
    ),
    SMALL.replace("slots = 2", "slots = true"): "slots=True: must be a whole number >= 1",
    SMALL.replace("num-prompts = 20", ""): "num-prompts: is missing",
    SMALL.replace("[0.5, 0.7]", "[0.5, nan]"): "load=nan: must be a finite number > 0",
    SMALL.replace("[0.5, 0.7]", "'high'"): "load='high': must be a finite number > 0",
    SMALL.replace("load = [0.5, 0.7]", ""): "arrivals='poisson': needs load or request-rate",
    SMALL.replace("alpha = [4, 8]", ""): "policy isjl: needs a value for alpha, as in isjl:alpha=..",
    SMALL + "arrivals = ['backlog', 'poisson:rate=2']": (
        "load: cannot go with arrivals='poisson:rate=2', which say it themselves"
    ),
    SMALL + "request-rate = 1": "load: cannot go with request-rate, one sets the other",
    SMALL + "step-time = { base = 1, per_token = 1 }": (
        "load: needs a constant step time, others have no fixed capacity; use request-rate"
    ),
    SMALL + "step-time = { bass = 1 }": (
        "step-time: name='bass': is unknown; did you mean 'base'? "
        "known: base, per_request, per_max_token, per_token"
    ),
    SMALL + "step-time = 1": "step-time=1: must be a table as in { base = 1 }",
    SMALL + "warmup = 20": "warmup=20: must be >= 0 and below the number of requests, 20",
    SMALL + "percentiles = 50": "percentiles=50: must be a list of numbers",
    SMALL + "percentiles = [100]": "percentiles=100.0: must lie strictly between 0 and 100",
    SMALL + "goodput = { e2el = 'low' }": "goodput.e2el='low': must be a finite number",
    SMALL + "goodput = { e2el = -1 }": "goodput=e2el:-1.0: the limit must be > 0",
    SMALL + "arrivals = 'poison'": (
        f"arrival process='poison': is unknown; did you mean 'poisson'? known: {', '.join(ARRIVALS.targets)}"
    ),
    SMALL + "format = 'csv'": "format: needs requests, it says how a file is read",
    SMALL.replace("slots = 2", f"slots = {10**20}"): f"slots={10**20}: must be at most 1,000,000",
    SMALL.replace("= 20", f"= {10**20}"): f"num-prompts={10**20}: must be at most 1,000,000,000",
    SMALL.replace("[0.5, 0.7]", "1e-300"): (
        "load=1e-300: 20 requests must come within 2**50 steps on 2 slots"
    ),
    SMALL.replace("load = [0.5, 0.7]", "request-rate = 1e-300"): (
        "request-rate=1e-300: 20 requests must come within 2**50 steps on 2 slots"
    ),
    SMALL.replace("load = [0.5, 0.7]", "arrivals = 'poisson:rate=1e-300'"): (
        "arrivals='poisson:rate=1e-300': 20 requests must come within 2**50 steps on 2 slots"
    ),
    SMALL + f"replications = {10**20}": f"replications={10**20}: must be at most 1,000,000",
    SMALL + "replications = 300_000": "1,800,000 cells: must be at most 1,000,000",
    SMALL.replace("0.5, 0.7", ", ".join(map(str, range(1, 1002)))).replace(
        "= 20", f"= {list(range(1, 1001))}"
    ): "1,001,000 workloads: must be at most 1,000,000",
    SMALL + "prefill-chunk = 512": (
        "prefill-chunk: a study takes a log as it is; shape it first with 'serving-sim workload convert'"
    ),
    "policy = 'fcfs'\nslots = 1\nrequests = 'log.csv'\nload = 0.5": (
        "load: cannot go with requests, the file says what arrives; "
        "a study takes a log as it is; shape it first with 'serving-sim workload convert', "
        "or name what 'serving-sim workload fit' makes of it as workload, to vary the load"
    ),
    SMALL + "requests = 'log.csv'": "lengths: cannot go with requests, the file says what arrives",
    "policy = 'fcfs'\nslots = 1\nrequests = 'log.csv'\nlength = 'totl'": (
        "length='totl': is unknown; did you mean 'total'? known: total, output, prompt"
    ),
}


@pytest.mark.parametrize("text", REFUSED)
@pytest.mark.usefixtures("folder")
def test_refusals_name_file_key_value_and_rule(text: str) -> None:
    assert refusal(lambda: study(text)) == f"a.toml: {REFUSED[text]}"


SPECIFICATION = """
num-prompts = 30
lengths = "prompt-output:prompt=1+9,output=1+5"
arrivals = "profile:levels=1+3,duration=9,gaps=0+2"
request-rate = 0.25
time-unit = 0.03
"""


@pytest.mark.parametrize(
    ("keys", "rates"),
    [
        ("", [(None, 0.25)]),
        ("load = [0.5, 0.7]", [(0.5, None), (0.7, None)]),
        ("request-rate = 2", [(None, 2)]),
    ],
)
def test_a_specification_says_what_arrives(
    folder: Path, keys: str, rates: list[tuple[float | None, float | None]]
) -> None:
    (folder / "like-the-log.toml").write_text(SPECIFICATION, encoding="utf-8")
    cells = study(f'policy = "fcfs"\nslots = 2\nworkload = "like-the-log.toml"\n{keys}').cells
    assert [(cell.coordinates["load"], cell.coordinates["request_rate"]) for cell in cells] == rates
    assert {cell.coordinates["workload"] for cell in cells} == {"like-the-log.toml"}
    assert "lengths" not in cells[0].coordinates
    made = cells[0].workload()
    assert len(made) == 30
    assert made.prompt_tokens is not None


def test_another_specification_under_the_same_name_is_another_cell(folder: Path) -> None:
    text = 'policy = "fcfs"\nslots = 2\nworkload = "w.toml"'
    keys = []
    for longest in (5, 6):
        (folder / "w.toml").write_text(SPECIFICATION.replace("1+5", f"1+{longest}"), encoding="utf-8")
        keys.append(study(text).cells[0].source.definition)
    assert keys[0] != keys[1]


@pytest.mark.parametrize(
    ("content", "keys", "message"),
    [
        (
            SPECIFICATION,
            'lengths = "lmsys-like"',
            "lengths: cannot go with workload, the specification says it",
        ),
        (SPECIFICATION, 'format = "azure"', "format: needs requests, it says how a file is read"),
        (SPECIFICATION, "warmup = 30", "warmup=30: must be >= 0 and below the number of requests, 30"),
        ("", "", "w.toml: keys num-prompts, lengths, arrivals: must be there"),
    ],
)
def test_refused_specifications(folder: Path, content: str, keys: str, message: str) -> None:
    (folder / "w.toml").write_text(content, encoding="utf-8")
    text = f'policy = "fcfs"\nslots = 2\nworkload = "w.toml"\n{keys}'
    assert refusal(lambda: study(text)) == f"a.toml: {message}"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_the_studies_of_the_documentation_can_be_read(path: Path) -> None:
    cells = read_study(path).cells
    assert len({cell.key for cell in cells}) == len(cells) >= 100


HUGE = "1" + "0" * 400


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SMALL.replace("0.5, 0.7", HUGE), f"load={HUGE}: must be a finite number > 0"),
        (SMALL + f"goodput = {{ e2el = {HUGE} }}", f"goodput.e2el={HUGE}: must be a finite number"),
        (SMALL + "seed = " + "9" * 5000, "Exceeds the limit (4300 digits) for integer string conversion"),
        (SMALL + "seed = " + "[" * 5000, "is nested too deeply"),
        (SMALL + "#" * (1 << 22), "must have at most 4,194,304 bytes"),
    ],
    ids=lambda text: text[-30:],
)
def test_hostile_values_are_refused(text: str, message: str) -> None:
    assert refusal(lambda: study(text)).startswith(f"a.toml: {message}")


@pytest.mark.usefixtures("folder")
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
@pytest.mark.parametrize("name", ["pipe", "/dev/zero"])
def test_files_without_an_end_are_refused(name: str) -> None:
    os.mkfifo("pipe")
    rule = "must be a file, found a pipe or a device"
    workers = 'policy = "sjf"\nslots = 2\n'
    assert refusal(lambda: study(f'{workers}requests = "{name}"')) == f"a.toml: requests='{name}': {rule}"
    assert refusal(lambda: study(f'{workers}workload = "{name}"')) == f"a.toml: {name}: {rule}"
    assert refusal(lambda: read_study(Path(name))) == f"{name}: {rule}"
