"""The file that says what to make: there and back, and what it refuses."""

from __future__ import annotations

from codecs import BOM_UTF8
from pathlib import Path

import numpy as np
import pytest
from refusal import refusal

from workloads import Specification, make_workload, parse_arrivals, parse_lengths
from workloads.specification import read_specification, write_specification

LEAST = 'num-prompts = 9\nlengths = "fixed:length=3"\narrivals = "backlog"\n'


@pytest.mark.parametrize(
    "specification",
    [
        Specification(9, "fixed:length=3", "backlog"),
        Specification(9, "geometric:mean=3", "poisson", request_rate=0.25, time_unit=0.03),
        Specification(2, "quantiles:tokens=1+2+9", "gamma:rate=1e-05,burstiness=0.1"),
    ],
)
def test_there_and_back(tmp_path: Path, specification: Specification) -> None:
    path = tmp_path / "spec.toml"
    write_specification(specification, path, "one\ntwo")
    assert path.read_text(encoding="utf-8").startswith("# one\n# two\nnum-prompts = ")
    assert read_specification(path) == specification
    path.write_bytes(BOM_UTF8 + path.read_bytes())  # as some editors begin a file
    assert read_specification(path) == specification


def test_it_makes_what_its_parts_make() -> None:
    made = Specification(50, "geometric:mean=3", "poisson", request_rate=0.25).workload(seed=4)
    other = make_workload(50, parse_lengths("geometric:mean=3"), parse_arrivals("poisson:rate=0.25"), 4)
    np.testing.assert_array_equal(made.release, other.release)
    np.testing.assert_array_equal(made.length, other.length)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (LEAST + "slots = 3\n", "key='slots': is unknown; known: num-prompts, lengths, arrivals, "),
        ("num-prompts = 9\n", "keys lengths, arrivals: must be there"),
        (LEAST.replace("9", '"9"'), "num-prompts='9': must be a whole number"),
        (LEAST.replace("9", "true"), "num-prompts=True: must be a whole number"),
        (LEAST.replace("9", "0"), "num-prompts=0: must be a whole number >= 1"),
        (LEAST + "time-unit = 0\n", "time-unit=0: must be a finite number of seconds > 0"),
        (LEAST.replace("fixed", "fixd"), "length distribution='fixd': is unknown; did you mean 'fixed'? "),
        (LEAST.replace("backlog", "poisson"), "poisson: needs rate=.."),
        ("num-prompts = ", "Invalid value (at end of document)"),
    ],
)
def test_refused_files(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "spec.toml"
    path.write_text(content, encoding="utf-8")
    assert refusal(lambda: read_specification(path)).startswith(f"{path}: {message}")


def test_a_missing_file_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_specification(tmp_path / "no.toml")
