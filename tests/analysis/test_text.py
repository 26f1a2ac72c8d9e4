"""Numbers and names as people read them."""

from __future__ import annotations

import pytest

from analysis.text import file_name, number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0, "0"),
        (1.23456, "1.235"),
        (-999.4, "-999.4"),
        (12345.6, "12,346"),
        (-1000.0, "-1,000"),
        (999_999_999_999_999.0, "999,999,999,999,999"),
        (1.5e300, "1.5e+300"),
        (2**50, "1,125,899,906,842,624"),
        (1e-300, "1e-300"),
    ],
)
def test_numbers(value: float | None, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("isjl:alpha=4,beta=optimal", "isjl-alpha-4-beta-optimal"),
        ("a/b ", "a-b"),
        ("", ""),
        ("..", ""),
        ("../../etc/passwd", "etc-passwd"),
        ("C:\\x\0y\n", "C-x-y"),
    ],
)
def test_names_as_files(name: str, file: str) -> None:
    assert file_name(name) == file
