"""All benchmarks, one after the other: ``make bench``.

Each prints what it measured and the limit it is held to; a benchmark that misses its limit ends with
exit code 1, and so does this.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BENCHMARKS = (
    "engine",
    "kernel",
    "memory",
    "planning",
    "fairness_stress",
    "optimum",
    "reading",
    "report",
    "study_soak",
    "interval_coverage",
    "periodic_coverage",
)


def main() -> int:
    """Run all, whatever the ones before came to."""
    missed = []
    for name in BENCHMARKS:
        print(f"\n== benchmarks/{name}.py", flush=True)
        script = Path(__file__).with_name(f"{name}.py")
        if subprocess.run([sys.executable, str(script)], check=False).returncode:  # noqa: S603  (our own)
            missed.append(name)
    if missed:
        print(f"\nmissed: {', '.join(missed)}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
