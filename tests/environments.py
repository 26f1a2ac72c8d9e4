"""Run the tests against the wheel in every environment that is promised: all of them, or one by hand.

    python tests/environments.py
    python tests/environments.py oldest --python python3.11

`oldest` holds the lower bound of every dependency, `bare` none of the extras, `newest` the newest release
of everything in hostile surroundings: a locale without UTF-8, another time zone, a home that nobody can
write to, a path with blanks and letters beyond ASCII. Each takes minutes and a virtual environment of its
own. Exit code 1 if the tests fail in one of them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("serving_sim", "policies", "workloads", "analysis")
EXTRAS = ("dask", "fast", "optimum", "test")
Project = Mapping[str, Any]
"""The table `project` of pyproject.toml."""


@dataclass(frozen=True)
class Environment:
    """An interpreter, what is installed beside the wheel, and what surrounds the tests."""

    python: str
    needs: Callable[[Project], list[str]]
    folder: str = "checkout"
    surroundings: Mapping[str, str] = field(default_factory=dict)


def read_project() -> Project:
    """What pyproject.toml says of the project."""
    table: Project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def newest(project: Project) -> list[str]:
    """Everything, free to be the newest release."""
    extras = project["optional-dependencies"]
    return [*project["dependencies"], *(need for extra in EXTRAS for need in extras[extra])]


def oldest(project: Project) -> list[str]:
    """Everything at its lower bound."""
    of_their_time = ["pyparsing<3.3"]  # whose later releases warn of what matplotlib 3.10 calls
    return [*(need.replace(">=", "==") for need in newest(project)), *of_their_time]


def bare(project: Project) -> list[str]:
    """What the packages and the tests cannot do without."""
    tools = project["optional-dependencies"]["test"]
    return [*project["dependencies"], *(need for need in tools if Requirement(need).name != "ciw")]


ENVIRONMENTS = {
    "oldest": Environment("python3.11", oldest),
    "bare": Environment("python3.12", bare),
    "newest": Environment(
        "python3.13",
        newest,
        folder="là où l'on naît, 道",
        surroundings={
            "HOME": "/dev/null/home",  # in no folder, so that not even root can write there
            "LC_ALL": "C",
            "PYTHONCOERCECLOCALE": "0",
            "PYTHONUTF8": "0",
            "TZ": "Pacific/Chatham",  # off the hour by 45 minutes
        },
    ),
}


def install(environment: Environment, python: str, work: Path) -> Path:
    """Install the wheel of the tree as it stands, and its needs; the interpreter that finds them."""
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(work / "dist"), versions=["standard"])
    subprocess.run([python, "-m", "venv", work / "venv"], check=True)
    interpreter = work / "venv" / "bin" / "python"
    pip: list[str | Path] = [interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *environment.needs(read_project()), wheel], check=True)
    return interpreter


def copy_without_packages(target: Path) -> None:
    """Copy what the tests read of the repository, and nothing that could be imported instead of the wheel."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in map(Path, names.split("\0")[:-1]):
        if name.parts[0] not in PACKAGES:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)


def releases(interpreter: Path, needs: Iterable[str]) -> str:
    """What was installed: the interpreter, and the release of every need."""
    names = sorted({Requirement(need).name for need in needs})
    script = (
        "import platform, sys; from importlib.metadata import version\n"
        "here = [f'{name} {version(name)}' for name in sys.argv[1:]]\n"
        "print('Python', ', '.join([platform.python_version(), *here]))"
    )
    return subprocess.check_output([interpreter, "-c", script, *names], text=True).strip()


def passes(environment: Environment, python: str, more: list[str]) -> bool:
    """Whether the tests pass in an environment made anew; pytest says how many were skipped, and why."""
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        copy_without_packages(work / environment.folder)  # before a long installation: the tree may change
        interpreter = install(environment, python, work)
        print(releases(interpreter, environment.needs(read_project())), flush=True)  # noqa: T201
        # no xdist: its messages are UTF-8
        words = ["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "--hypothesis-profile=brief", *more]
        around = {
            "SERVING_SIM_SHARED": str(ROOT.parent / "shared"),  # beside the repository, not beside its copy
            **os.environ,
            "PYTHONPATH": "",  # it may name the repository
            **environment.surroundings,
        }
        run = subprocess.run([interpreter, *words], cwd=work / environment.folder, env=around, check=False)
        return run.returncode == 0


def main() -> int:
    """Run the tests in the environments named, or in all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(ENVIRONMENTS))
    parser.add_argument("--python", help="another interpreter than python3.11, python3.12 and python3.13")
    parser.add_argument("--pytest", nargs=argparse.REMAINDER, default=[], help="the rest is for pytest")
    arguments = parser.parse_args()
    failed = []
    for name in arguments.names or ENVIRONMENTS:
        environment = ENVIRONMENTS[name]
        python = arguments.python or environment.python
        print(f"{name}: {python}", flush=True)  # noqa: T201
        if not passes(environment, python, arguments.pytest):
            failed.append(name)
    print(f"failed: {', '.join(failed) or 'none'}")  # noqa: T201
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
