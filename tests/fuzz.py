"""Feed the readers with changed inputs for as long as you like: `make fuzz`, or by hand as below.

    python tests/fuzz.py --seconds 60
    python tests/fuzz.py azure study --seconds 600

Needs atheris (`pip install -e '.[fuzz]'`), which watches which lines an input reaches and keeps what
reaches new ones. Every target runs in a process of its own, for so many seconds of computing. A fault
ends its target and is kept as a file, to be fed once more with `--again FILE`. Exit code 1 if there is
one, 2 if atheris is missing.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

_LARGEST = 1 << 16  # bytes of an input
_MEMORY = 2048  # megabytes that a target may take
_HANG = 60  # seconds, of a machine that does other things as well


def main() -> int:
    """Feed the targets that are named, all unless some are, and print what came of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="formats of logs, study, policy, ..")
    parser.add_argument("--seconds", type=float, default=60.0, help="of computing, for each target")
    parser.add_argument("--found", type=Path, default=Path("fuzz-found"), help="folder for what is found")
    parser.add_argument("--again", type=Path, help="one input, for one target")
    parser.add_argument("--within", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.within:
        _feed(options.targets[0], options.seconds, options.found)
    from fuzz_targets import TARGETS

    for name in options.targets:
        if name not in TARGETS:
            parser.error(f"target {name!r}: must be one of {', '.join(TARGETS)}")
    if options.again is not None and len(options.targets) != 1:
        parser.error("--again: needs one target, the one that the file is for")
    if options.again is not None:
        TARGETS[options.targets[0]](options.again.read_bytes())
        return 0
    if find_spec("atheris") is None:
        print("fuzz.py: error: atheris is missing, get it with: pip install -e '.[fuzz]'", file=sys.stderr)  # noqa: T201
        return 2
    faults = [_finds_fault(name, options) for name in options.targets or TARGETS]
    print(f"{len(faults)} targets, {sum(faults)} with a fault")  # noqa: T201
    return int(any(faults))


def _finds_fault(name: str, options: argparse.Namespace) -> bool:
    """Feed a target in a process of its own."""
    words = [name, "--within", "--seconds", str(options.seconds), "--found", str(options.found)]
    done = subprocess.run([sys.executable, __file__, *words], capture_output=True, text=True, check=False)
    fault = done.returncode != 0
    print(done.stdout.strip() or f"{name}: exit code {done.returncode}", "FAULT" if fault else "")  # noqa: T201
    if fault:
        print(done.stderr[-5000:])  # noqa: T201
    sys.stdout.flush()
    return fault


def _feed(name: str, seconds: float, found: Path) -> NoReturn:
    """Feed one target until its time is up, in this process."""
    import atheris

    with atheris.instrument_imports(include=["analysis", "policies", "serving_sim", "workloads"]):
        from fuzz_targets import SEEDS, TARGETS

    corpus = found / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(SEEDS[name]):
        (corpus / f"seed-{number}").write_bytes(seed)
    target, begin, count = TARGETS[name], time.process_time(), 0

    def count_and_try(data: bytes) -> None:
        nonlocal count
        spent = time.process_time() - begin
        if spent > seconds:
            print(f"{name}: {count:,} inputs in {spent:.0f} s of computing", flush=True)  # noqa: T201
            os._exit(0)  # an exit of Python would be taken for a fault
        count += 1
        target(data)

    limits = (f"-max_len={_LARGEST}", f"-rss_limit_mb={_MEMORY}", f"-timeout={_HANG}")
    atheris.Setup([sys.argv[0], f"-artifact_prefix={found}/{name}-", *limits, str(corpus)], count_and_try)
    atheris.Fuzz()
    raise AssertionError("the time is up inside")


if __name__ == "__main__":
    sys.exit(main())
