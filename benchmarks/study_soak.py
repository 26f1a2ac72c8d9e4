"""A study of 200 cells, killed at random moments and resumed, against one that nobody disturbed.

    python benchmarks/study_soak.py
    python benchmarks/study_soak.py --kills 30 --seed 7

Each time the command itself is killed, by SIGKILL, at a random moment after it has finished at least
one more cell; half of the times its workers are killed with it, else they must notice by themselves.
Exit code 1 if the two tables differ in a byte.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from analysis.study import read_study
from analysis.study.store import kept_cells

STUDY = """
policy = ["fcfs", "isjl", "ljf"]
alpha = [50, 100, 200]
slots = 16
load = [0.5, 0.7]
lengths = "lmsys-like"
num-prompts = [2000, 4000]
warmup = 200
replications = 10
percentiles = [50, 90, 99]
"""
COMMAND = [sys.executable, "-c", "import sys; from analysis.cli import main; sys.exit(main())", "study"]
HOME = Path(__file__).resolve().parents[1]


def main() -> int:
    """Print what happened."""
    options = _options()
    chance = random.Random(options.seed)  # noqa: S311  (moments, not secrets)
    with tempfile.TemporaryDirectory() as folder:
        killed, whole = Path(folder, "killed.toml"), Path(folder, "whole.toml")
        for path in (killed, whole):
            path.write_text(STUDY, encoding="utf-8")
        cells = len(read_study(killed).cells)
        for number in range(1, options.kills + 1):
            done = _run_and_kill(killed, most_more=2 * cells // (options.kills + 2), chance=chance)
            print(f"kill {number}: {done} of {cells} cells are kept", flush=True)
        for path in (killed, whole):
            subprocess.run([*COMMAND, str(path)], env=_environment(), check=True)  # noqa: S603
        same = _table(killed) == _table(whole)
    print(f"{cells} cells, {options.kills} kills: the tables are {'the same' if same else 'NOT the same'}")
    return int(not same)


def _run_and_kill(study: Path, *, most_more: int, chance: random.Random) -> int:
    """Kill a run at a random moment; how many cells are kept then."""
    store = read_study(study).store_path
    goal = len(kept_cells(store)) + chance.randint(1, most_more)
    process = subprocess.Popen(  # noqa: S603
        [*COMMAND, "--quiet", str(study)], env=_environment(), start_new_session=True
    )
    while process.poll() is None and len(kept_cells(store)) < goal:
        time.sleep(0.01)
    time.sleep(chance.uniform(0, 0.3))
    kill = chance.choice([os.kill, os.killpg])
    with suppress(ProcessLookupError):
        kill(process.pid, signal.SIGKILL)
    process.wait()
    return len(kept_cells(store))


def _table(study: Path) -> bytes:
    out = study.with_suffix(".csv")
    words = ["export", str(study), "--out", str(out), "--quiet"]
    subprocess.run([*COMMAND, *words], env=_environment(), check=True)  # noqa: S603
    return out.read_bytes()


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(HOME)}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
