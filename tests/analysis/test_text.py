"""Numbers and names as people read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
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
    ("half", "value", "text"),
    [
        (0.04149, "1,000.000", "0.041"),
        (0.0996, "1,000.00", "0.10"),
        (7.3, "1,000.0", "7.3"),
        (9.96, "1,000", "10"),
        (99.4, "1,000", "99"),
        (99.5, "1,000", "100"),
        (99.7, "1,000", "100"),
        (1249.6, "1,000", "1,250"),
    ],
)
def test_widths_have_two_digits_and_values_no_fewer(half: float, value: str, text: str) -> None:
    assert with_interval(Estimate(1000.0, 1000.0 - half, 1000.0 + half)) == f"{value} ± {text}"
    assert float(percent(half / 100).removesuffix(" %").replace(",", "")) == float(text.replace(",", ""))


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [
        (1234.49, 0.05, "1,234.490 ± 0.050"),
        (1.01112, 0.00014, "1.01112 ± 0.00014"),
        (-12345.4, 0.1, "-12,345.40 ± 0.10"),
        (12345.4, 250.2, "12,345 ± 250"),
        (-0.3, 12, "0 ± 12"),
        (0.001234567, 0.000014, "0.001235 ± 0.000014"),
        (0.001234567, 1.4e-8, "1.234567e-03 ± 1.4e-08"),
        (3e-9, 1.4e-8, "3e-09 ± 1.4e-08"),
        (0.0, 1.4e-8, "0 ± 1.4e-08"),
        (1.2346e18, 2e15, "1.2346e+18 ± 2.0e+15"),
    ],
)
def test_a_value_ends_with_the_last_digit_of_its_half_width(value: float, half: float, text: str) -> None:
    assert with_interval(Estimate(value, value - half, value + half)) == text


@given(st.floats(-1e12, 1e12), st.floats(1e-5, 1e9))
def test_the_interval_shown_is_the_interval(value: float, half: float) -> None:
    estimate = Estimate(value, value - half, value + half)
    assert estimate.half_width is not None
    if estimate.half_width <= 1e-9 * abs(value):
        return  # floats of this size tell no such widths
    shown = [float(each.replace(",", "")) for each in with_interval(estimate).split(" ± ")]
    assert shown == pytest.approx([value, half], abs=max(0.06 * half, 1e-6))
