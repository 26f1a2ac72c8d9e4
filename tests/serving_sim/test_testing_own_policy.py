"""The example of a user's own policy: shown as it is, tested, installed, and run by its name."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import serving_sim
from serving_sim.testing import check_policy

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "own_policy"
GUIDE = (ROOT / "docs" / "how-to" / "own-policy.md").read_text(encoding="utf-8")
SHOWN = dict(re.findall(r"^`([\w./]+)`\n\n```\w+\n(.*?)^```$", GUIDE, flags=re.DOTALL | re.MULTILINE))
COMMANDS = [shlex.split(line) for line in re.findall(r"^\$ serving-sim (.*)$", GUIDE, flags=re.MULTILINE)]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment of a process that finds the example installed, and this very serving_sim."""
    site = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-index", "--no-deps", "--no-build-isolation"]
    spells = {**os.environ, "PYTHONUTF8": "1"}  # pip cannot name a path beyond the letters of the locale
    subprocess.run([*pip, *offline, "--target", str(site), str(EXAMPLE)], check=True, env=spells)
    paths = [str(site), str(Path(serving_sim.__file__).parents[1])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}


def run(environment: dict[str, str], folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words], env=environment, cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def command(environment: dict[str, str], folder: Path, *words: str) -> str:
    main = "import sys; from analysis.cli import main; sys.exit(main())"
    return run(environment, folder, "-c", main, *words)


def test_guide_shows_every_file_of_the_example_as_it_is() -> None:
    files = {
        str(file.relative_to(EXAMPLE)): file.read_text(encoding="utf-8")
        for file in EXAMPLE.rglob("*")
        if file.suffix in {".py", ".toml"}
    }
    assert files == SHOWN


def test_example_passes_its_own_tests(environment: dict[str, str], tmp_path: Path) -> None:
    pytest_here = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path))
    said = run(environment, tmp_path, *pytest_here, str(EXAMPLE / "tests"))
    assert re.search(r"^15 passed", said, flags=re.MULTILINE)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_commands_of_the_guide_know_the_policy(
    environment: dict[str, str], tmp_path: Path, words: list[str]
) -> None:
    assert "patient-sjf" in command(environment, tmp_path, *words)


def test_guide_shows_what_the_kit_says_of_a_forgetful_policy() -> None:
    spec = importlib.util.spec_from_file_location("patient_sjf", EXAMPLE / "patient_sjf.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    class Forgetful(module.PatientSJF):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__(patience=8)
            super().begin(0)

        def begin(self, slots: int) -> None:
            pass

    with pytest.raises(AssertionError) as caught:
        check_policy(Forgetful)
    (shown,) = re.findall(r"^```text\n(.*?)^```", GUIDE, flags=re.DOTALL | re.MULTILINE)
    assert " ".join(shown.split()) == str(caught.value)


def test_long_run_of_the_guide_is_checked(environment: dict[str, str], tmp_path: Path) -> None:
    script = re.findall(r"```python\n(.*?)^```", GUIDE, flags=re.DOTALL | re.MULTILINE)[-1]
    assert run(environment, tmp_path, "-c", script) == "patient-sjf:patience=8 [ 0.  9.  5. 18.]\n"
