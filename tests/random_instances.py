"""Count how many random instances the tests try at most, without trying them: options are pytest's.

    python tests/random_instances.py --hypothesis-profile=soak

Properties count once for every set of parameters they are tried with.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest


class _Counting:
    """Adds up the examples of all properties that are collected."""

    def __init__(self) -> None:
        self.properties = self.examples = 0

    def pytest_collection_modifyitems(self, items: Sequence[pytest.Item]) -> None:
        from hypothesis import settings  # pytest loads its plugin first

        for item in items:
            test = getattr(item, "obj", None)
            own = getattr(test, "_hypothesis_internal_use_settings", None)
            machine = getattr(getattr(item, "cls", None), "settings", None)
            found = own if own is not None else machine
            if isinstance(found, settings):
                self.properties += 1
                self.examples += found.max_examples


def main(words: Sequence[str]) -> int:
    """Collect the tests and print the sum."""
    counting = _Counting()
    code = pytest.main(["--collect-only", "-qq", "--no-header", *words], plugins=[counting])
    print(f"{counting.properties:,} properties, {counting.examples:,} random instances at most")  # noqa: T201
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
