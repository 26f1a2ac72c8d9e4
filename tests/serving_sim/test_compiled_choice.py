"""Which engine serves a run, what it says when it cannot, and that nobody pays for numba unasked."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from fresh_process import python
from streams import Blocks, Kept

from policies import FCFS, Delayed, Fair, RobustISJL, make_policy
from serving_sim import Admission, Epoch, Policy, ReactiveSource, StepTime, Workload, simulate
from serving_sim.arrivals import Desk
from serving_sim.compiled import choice
from serving_sim.source import Process

FEW = Workload([0.0, 0.5, 3.0], [4, 2, 1])
MANY_TOKENS = Workload([0] * 128, [2**49] * 127 + [2**49 + 1])


class InBatches(FCFS):
    """Inherits from a policy with a rule and acts differently."""

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        return () if epoch.active else super().decide(epoch)


class Once(ReactiveSource):
    def process(self, desk: Desk) -> Process:
        yield desk.finished(desk.release(1))


@pytest.fixture
def any_size_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "WORTH_COMPILING", 1)


@pytest.fixture
def without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "find_spec", lambda _: None)
    choice._say_once.cache_clear()


def test_auto_takes_the_compiled_engine_from_its_size_on(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr(choice, "WORTH_COMPILING", 3)
    assert simulate(FEW, FCFS(), slots=1).engine == "compiled"
    monkeypatch.setattr(choice, "WORTH_COMPILING", 4)
    assert simulate(FEW, FCFS(), slots=1).engine == "simpy"


@pytest.mark.usefixtures("any_size_is_worth_it")
@pytest.mark.parametrize("policy", [InBatches(), Delayed(FCFS(), 2), make_policy("isjl-as-printed", alpha=3)])
def test_auto_leaves_policies_without_a_rule_to_simpy(policy: Policy) -> None:
    assert simulate(FEW, policy, slots=2).engine == "simpy"


@pytest.mark.usefixtures("any_size_is_worth_it")
def test_auto_leaves_sources_that_react_to_simpy() -> None:
    assert simulate(Once(), FCFS(), slots=2).engine == "simpy"


@pytest.mark.parametrize(("worth", "engine"), [(6, "compiled"), (7, "simpy")])
def test_auto_reads_ahead_of_a_stream_until_it_knows(
    monkeypatch: pytest.MonkeyPatch, worth: int, engine: str
) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr(choice, "WORTH_COMPILING", worth)
    stream = Blocks([FEW, Workload(FEW.release + 1e6, FEW.length)])
    run = simulate(stream, FCFS(), slots=2, sink=Kept(stream))
    assert (run.engine, run.totals.requests) == (engine, 6)


@pytest.mark.parametrize(
    ("workload", "policy", "options", "message"),
    [
        (Once(), FCFS(), {}, "cannot react to what happens, as the source Once does"),
        (FEW, InBatches(), {}, "knows no rule for the policy fcfs"),
        (FEW, Fair(InBatches(), 4), {}, "knows no rule for the policy fair-fcfs:alpha=4"),
        (
            FEW,
            Fair(make_policy("isjl", alpha=2), 4),
            {},
            "knows no rule for the policy fair:inner=(isjl:alpha=2),alpha=2",
        ),
        (
            Workload([0, 0], [2**55, 2**55 + 1]),
            FCFS(),
            {},
            "counts up to 2**56 tokens, the workload has more",
        ),
        (
            Workload([0], [1], upper=[2**60]),
            RobustISJL(4),
            {},
            "counts up to 2**56 tokens, the workload has more",
        ),
        (
            Workload([0], [2**31 + 1]),
            FCFS(),
            {"step_time": StepTime(1, 0, 0.1)},
            "dates steps that grow with the tokens up to lengths of 2**31, the workload has longer ones",
        ),
    ],
)
def test_compiled_says_why_it_cannot(workload, policy, options, message) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    with pytest.raises(ValueError, match="engine='compiled'") as refusal:
        simulate(workload, policy, slots=2, engine="compiled", **options)
    assert str(refusal.value) == f"engine='compiled': {message}"


@pytest.mark.parametrize("workload", [Workload([0], [2**56]), Workload([0], [1], upper=[2**56])])
def test_numbers_up_to_2_to_the_56_are_counted(workload: Workload) -> None:
    pytest.importorskip("numba")
    assert choice.can_compile(workload, RobustISJL(4), StepTime())


@pytest.mark.usefixtures("any_size_is_worth_it")
def test_auto_leaves_what_the_kernel_cannot_count_to_simpy() -> None:
    run = simulate(MANY_TOKENS, FCFS(), slots=128)
    assert run.engine == "simpy"


@pytest.mark.usefixtures("any_size_is_worth_it")
def test_auto_leaves_a_stream_that_begins_so_to_simpy() -> None:
    pytest.importorskip("numba")
    run = simulate(Blocks([MANY_TOKENS]), FCFS(), slots=128)
    assert run.engine == "simpy"
    assert run.finish.tolist() == [2.0**49] * 127 + [2.0**49 + 1]


def test_a_log_of_details_says_who_plays_and_why(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="serving_sim"):
        simulate(FEW, FCFS(), slots=2)
        simulate(FEW, InBatches(), slots=2)
    assert caplog.messages == [
        "fcfs: simpy engine, the compiled one is for 100,000 requests or more",
        "fcfs: simpy engine, the compiled one knows no rule for the policy fcfs",
    ]


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(ValueError, match="must be 'auto', 'simpy' or 'compiled'"):
        simulate(FEW, FCFS(), slots=1, engine="c++")  # type: ignore[arg-type]


@pytest.mark.usefixtures("without_numba", "any_size_is_worth_it")
def test_without_numba_large_runs_work_and_say_so_once(caplog: pytest.LogCaptureFixture) -> None:
    assert simulate(FEW, FCFS(), slots=1).engine == "simpy"
    simulate(FEW, FCFS(), slots=1)
    assert caplog.messages == [
        "large runs take longer than they need: numba is not installed, the extra 'fast' brings it"
    ]


@pytest.mark.parametrize(
    ("blocks", "options", "message"),
    [
        (
            [Workload([0], [2**55]), Workload([1], [2**55 + 1])],
            {},
            "the compiled engine counts up to 2**56 tokens, the workload has more: take engine='simpy'",
        ),
        (
            [FEW, Workload([1e300], [1])],
            {},
            (
                "release=1e+300: too late to tell steps of 1.0 time units apart; "
                "where releases are stamps, subtract the first"
            ),
        ),
    ],
)
def test_a_stream_is_refused_at_the_block_that_is_too_much(  # type: ignore[no-untyped-def]
    blocks: list[Workload],
    options,  # noqa: ANN001
    message: str,
) -> None:
    pytest.importorskip("numba")
    with pytest.raises(ValueError, match=r"compiled|late") as refusal:
        simulate(Blocks(blocks), FCFS(), slots=2, engine="compiled", **options)
    assert str(refusal.value) == message


@pytest.mark.usefixtures("without_numba")
def test_without_numba_compiled_is_refused() -> None:
    with pytest.raises(ValueError, match="engine='compiled': numba is not installed"):
        simulate(FEW, FCFS(), slots=1, engine="compiled")


@pytest.mark.usefixtures("without_numba")
def test_without_numba_short_runs_say_nothing(caplog: pytest.LogCaptureFixture) -> None:
    simulate(FEW, FCFS(), slots=1)
    assert not caplog.messages


def test_short_runs_import_no_numba() -> None:
    run_strictly(
        "import sys",
        "from policies import make_policy",
        "from serving_sim import Workload, simulate",
        "simulate(Workload([0], [1]), make_policy('isjl', alpha=1), slots=2)",
        "assert 'numba' not in sys.modules",
    )


ADDING = (
    "from serving_sim.compiled.jit import entry\n"
    "@entry\n"
    "def add(left, right):\n"
    "    return left + right\n"
    "print(add(1, 2), add.stats.cache_path)\n"
)


@pytest.mark.skipif(sys.platform == "win32", reason="no limits for the size of files")
def test_on_a_full_disk_functions_are_compiled_all_the_same(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    script = tmp_path / "script.py"
    script.write_text(ADDING, encoding="utf-8")
    told = run_strictly(
        f"import os, resource, runpy; os.environ['NUMBA_CACHE_DIR'] = {str(tmp_path / 'cache')!r}",
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))",
        f"runpy.run_path({str(script)!r})",
        "os._exit(print(flush=True) or 0)",  # what measures coverage writes files as well
    )
    assert told.split()[0] == "3"
    assert [file.name for file in (tmp_path / "cache").rglob("*.nbc")] == []


@pytest.mark.skipif(sys.platform == "win32", reason="the home of caches stays where it is")
def test_without_a_folder_to_write_to_functions_are_compiled_all_the_same(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    script = tmp_path / "script.py"
    script.write_text(ADDING, encoding="utf-8")
    beside, home = tmp_path / "__pycache__", tmp_path / "home"  # where numba would keep them, in this order
    beside.touch()
    home.touch()
    told = run_strictly(
        "import os, runpy; os.environ.pop('NUMBA_CACHE_DIR', None)",
        f"os.environ |= dict.fromkeys(('HOME', 'XDG_CACHE_HOME'), {str(home)!r})",
        f"runpy.run_path({str(script)!r})",
    )
    assert told.split() == ["3", "None"]


def test_where_numba_is_told_not_to_compile_functions_stay_plain_python(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    script = tmp_path / "script.py"
    script.write_text(ADDING.replace("add.stats.cache_path", "type(add).__name__"), encoding="utf-8")
    told = run_strictly(
        "import os, runpy; os.environ['NUMBA_DISABLE_JIT'] = '1'",
        f"runpy.run_path({str(script)!r})",
    )
    assert told.split() == ["3", "function"]


def run_strictly(*lines: str) -> str:
    """What lines of Python print in a process where a warning is an error."""
    return python("\n".join(lines), "-W", "error")


def test_what_can_be_compiled_is_known_without_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    assert choice.can_compile(FEW, FCFS(), StepTime())
    assert not choice.can_compile(FEW, InBatches(), StepTime())
    assert not choice.can_compile(Workload([0], [2**57]), FCFS(), StepTime())
    monkeypatch.setattr(choice, "find_spec", lambda _: None)
    assert not choice.can_compile(FEW, FCFS(), StepTime())
