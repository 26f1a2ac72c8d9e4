"""Completion of command lines: what shells ask and are answered, and in a real bash."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fresh_process import environment, python

from analysis.cli import completion, main
from analysis.experiments.adversarial import FAMILIES
from analysis.experiments.reproduce.catalogue import ALL, EXPERIMENTS
from policies import catalogue
from workloads import PRESETS
from workloads.traces.formats import FORMATS

Ask = Callable[[str], list[str]]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """What bash is offered for a line typed so far."""

    def typed(line: str) -> list[str]:
        monkeypatch.setenv("_SERVING_SIM_COMPLETE", "complete_bash")
        words = line.replace("=", " = ").replace(":", " : ").split(" ")  # as bash breaks it
        words = words if words[-2:] != ["=", ""] else words[:-1]
        monkeypatch.setenv("COMP_WORDS", "\n".join(words))
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        assert main([]) == 0
        return capsys.readouterr().out.split()

    return typed


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("serving-sim w", ["watch", "workload"]),
        ("serving-sim workload ", ["make", "convert", "inspect", "fit", "servegen"]),
        ("serving-sim run --num", ["--num-prompts"]),
        ("serving-sim run --policy isjl", ["isjl", "isjl-as-printed"]),
        ("serving-sim watch --policy fair-", ["fair-fcfs", "fair-sjf", "fair-lpt"]),
        ("serving-sim compare --policy fcfs --policy lj", ["ljf"]),
        ("serving-sim capacity --metric t", ["ttft", "tpot"]),
        ("serving-sim run --policy=isjl", ["isjl", "isjl-as-printed"]),
        ("serving-sim run --preset=", ["demo", *(name for name in PRESETS if name != "demo")]),
        ("serving-sim run --alpha=5 --policy=isjl:alpha=4,beta=2 --preset st", ["steady"]),
        ("serving-sim run --policy isjl:alpha=4 --pres", ["--preset"]),
        ("serving-sim run --preset de", ["demo"]),
        ("serving-sim run --lengths ge", ["geometric"]),
        ("serving-sim run --arrivals poi", ["poisson"]),
        ("serving-sim run --predictions noi", ["noise"]),
        ("serving-sim workload inspect --format azure", ["azure", "azure-multimodal"]),
        ("serving-sim run --on-bad-row ", ["error", "drop"]),
        ("serving-sim compare --percentile-metrics e2el,t", ["e2el,ttft", "e2el,tpot"]),
        ("serving-sim study plot my.toml --metrics thr", ["throughput"]),
        ("serving-sim study run my.toml --backend d", ["dask"]),
        ("serving-sim adversary over", ["over-inserting"]),
        ("serving-sim reproduce table", ["table1", "table2", "table3"]),
        ("serving-sim run --requests ", []),
    ],
)
def test_bash_is_offered(ask: Ask, line: str, words: list[str]) -> None:
    assert ask(line) == words


def test_all_names_there_are_are_offered() -> None:
    assert completion.policy("") == [entry.name for entry in catalogue()]
    assert completion.preset("") == list(PRESETS)
    assert completion.trace_format("") == ["auto", *FORMATS.targets]
    assert set(completion.adversary("")) == {"golden-ratio", *FAMILIES, "search", "worst-by-slots"}
    assert set(completion.experiment("")) == {*EXPERIMENTS, ALL}


@pytest.mark.parametrize(
    ("shell", "answer"),
    [
        ("zsh", """_arguments '*: :(("watch":"Watch a small run epoch by epoch"""),
        ("fish", "watch\tWatch a small run epoch by epoch"),
    ],
)
def test_other_shells_are_answered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], shell: str, answer: str
) -> None:
    monkeypatch.setenv("_SERVING_SIM_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "serving-sim wat")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    assert main([]) == 0
    assert capsys.readouterr().out.startswith(answer)


def test_names_come_without_heavy_imports() -> None:
    script = (
        "import os, sys; os.environ.update(_SERVING_SIM_COMPLETE='complete_bash', "
        "COMP_WORDS='serving-sim run --policy ', COMP_CWORD='3'); from analysis.cli import main; main([]); "
        "print([name for name in ('pandas', 'scipy', 'pyarrow', 'rich') if name in sys.modules])"
    )
    printed = python(script).splitlines()
    assert printed[0] == "fcfs"
    assert printed[-1] == "[]"


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_once_it_is_told_to(tmp_path: Path) -> None:
    program = tmp_path / "serving-sim"
    program.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -c '
        '"import sys; from analysis.cli import main; sys.exit(main())" "$@"\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
    script = """
        serving-sim --install-completion
        source ~/.bashrc
        complete -p serving-sim
        COMP_WORDS=(serving-sim run --policy isjl)
        COMP_CWORD=3
        _serving_sim_completion serving-sim
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    done = subprocess.run(
        ["bash", "--norc", "-c", script],  # noqa: S607
        env={
            **environment(),
            "HOME": str(tmp_path),
            "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        f"bash completion installed in {tmp_path}/.bash_completions/serving-sim.sh",
        "Completion will take effect once you restart the terminal",
        "complete -o default -F _serving_sim_completion serving-sim",
        "isjl",
        "isjl-as-printed",
    ]
