"""The environments in which the tests are promised to pass."""

from __future__ import annotations

from environments import ENVIRONMENTS, bare, newest, oldest, read_project
from packaging.requirements import Requirement

PROJECT = read_project()


def names(needs: list[str]) -> set[str]:
    return {Requirement(need).name for need in needs}


def test_newest_is_whatever_the_package_can_use_and_its_tests_need() -> None:
    extras = PROJECT["optional-dependencies"]
    tools = {"docs", "dev", "fuzz"}  # of those who work on it
    wanted = [need for extra in extras.keys() - tools for need in extras[extra]]
    assert names(newest(PROJECT)) == names(PROJECT["dependencies"] + wanted)


def test_oldest_takes_every_dependency_at_its_lower_bound() -> None:
    bounds = {need.name: str(need.specifier) for need in map(Requirement, newest(PROJECT))}
    pins = {need.name: str(need.specifier) for need in map(Requirement, oldest(PROJECT))}
    assert all(bound.startswith(">=") and "," not in bound for bound in bounds.values())
    assert {name: pins[name] for name in bounds} == {
        name: bound.replace(">", "=", 1) for name, bound in bounds.items()
    }


def test_bare_leaves_out_what_is_optional() -> None:
    assert names(newest(PROJECT)) - names(bare(PROJECT)) == {
        "ciw",
        "distributed",
        "numba",
        "ortools",
    }


def test_every_python_promised_is_tried() -> None:
    tried = {environment.python.removeprefix("python") for environment in ENVIRONMENTS.values()}
    promise = "Programming Language :: Python :: "
    lines = PROJECT["classifiers"]
    assert tried == {line.removeprefix(promise) for line in lines if line.startswith(f"{promise}3.")}
    assert ENVIRONMENTS["oldest"].python == f"python{PROJECT['requires-python'].removeprefix('>=')}"
