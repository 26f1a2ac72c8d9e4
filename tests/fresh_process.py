"""Python processes of their own, in which the packages under test are found wherever they are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import analysis

COMMAND = "import sys; from analysis.cli import main; sys.exit(main())"
"""A script that is the command ``serving-sim``."""


def python(script: str, *options: str) -> str:
    """What a script prints, which must end well; with options of Python itself."""
    line = [sys.executable, *options, "-c", script]
    return subprocess.run(line, check=True, capture_output=True, text=True, env=environment()).stdout


def command_line(*words: str, script: str = COMMAND) -> list[str]:
    """The words that start the command, or another script, in the right `environment`."""
    return [sys.executable, "-c", script, *words]


def environment(**changes: str) -> dict[str, str]:
    """The environment of this process, with the packages on the path and hashes as they fall."""
    inherited = {key: value for key, value in os.environ.items() if key != "PYTHONHASHSEED"}
    return {**inherited, "PYTHONPATH": str(Path(analysis.__file__).parents[1]), **changes}
