"""Numbers and names as people read them."""

from __future__ import annotations

import pytest
from refusal import refusal

from analysis.estimate import Estimate
from analysis.sequential import percent
from analysis.text import file_name, file_names, number, with_interval


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
        ("p:x=-1", "p-x--1"),
        ("isjl-2:x=1", "isjl-2-x-1"),
        ("a/b ", "a-b"),
        ("", ""),
        ("..", ""),
        ("../../etc/passwd", "etc-passwd"),
        ("C:\\x\0y\n", "C-x-y"),
    ],
)
def test_names_as_files(name: str, file: str) -> None:
    assert file_name(name) == file


def test_names_that_would_share_a_file() -> None:
    assert file_names(["p:x=1", "p:x=-1"]) == {"p:x=1": "p-x-1", "p:x=-1": "p-x--1"}
    assert refusal(lambda: file_names(["p:x=1", "P(x 1)"])) == (
        "'P(x 1)': would write to the same place as 'p:x=1', 'P-x-1'"
    )
    assert refusal(lambda: file_names([".."])) == "'..': has no letter or digit to name a file after"


@pytest.mark.parametrize(
    ("half", "text"),
    [(0.04149, "0.041"), (7.3, "7.3"), (99.4, "99"), (99.5, "100"), (99.7, "100"), (1249.6, "1,250")],
)
def test_widths_have_two_digits_and_no_power(half: float, text: str) -> None:
    assert with_interval(Estimate(1000.0, 1000.0 - half, 1000.0 + half)) == f"1,000 ± {text}"
    assert percent(half / 100) == f"{text} %"
