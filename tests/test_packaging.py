"""What is shipped, and that the files which describe the project agree."""

from __future__ import annotations

import json
import pkgutil
import re
import tomllib
from collections.abc import Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import ZipFile

import pytest
from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

import analysis

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {"serving_sim", "policies", "workloads", "analysis"}


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> set[PurePosixPath]:
    """Files of the installed wheel, or of one built now from the tree that is installed in place."""
    installed = distribution("serving-sim")
    if not _in_place(installed):
        assert installed.files is not None
        return {PurePosixPath(file) for file in installed.files if file.parts[0] != ".."}
    target = tmp_path_factory.mktemp("dist")
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(target), versions=["standard"])
    with ZipFile(wheel) as archive:
        return {PurePosixPath(name) for name in archive.namelist()}


def _in_place(installed: Distribution) -> bool:
    origin = json.loads(installed.read_text("direct_url.json") or "{}")
    return bool(origin.get("dir_info", {}).get("editable"))


def test_wheel_holds_the_four_packages_and_nothing_else(
    shipped: set[PurePosixPath], project: dict[str, Any]
) -> None:
    version = project["project"]["version"]
    assert {file.parts[0] for file in shipped} == PACKAGES | {f"serving_sim-{version}.dist-info"}


def test_wheel_marks_every_package_as_typed(shipped: set[PurePosixPath]) -> None:
    assert {file.parts[0] for file in shipped if file.name == "py.typed"} == PACKAGES


def test_wheel_holds_the_licence(shipped: set[PurePosixPath]) -> None:
    assert any(file.name == "LICENSE" for file in shipped)


def test_command_is_installed() -> None:
    (command,) = distribution("serving-sim").entry_points.select(group="console_scripts")
    assert (command.name, command.value) == ("serving-sim", "analysis.cli:main")


def test_linters_watch_every_package(project: dict[str, Any]) -> None:
    tools = project["tool"]
    assert set(tools["hatch"]["build"]["targets"]["wheel"]["packages"]) == PACKAGES
    assert set(tools["importlinter"]["root_packages"]) == PACKAGES
    assert set(tools["coverage"]["run"]["source_pkgs"]) == PACKAGES
    assert set(tools["mypy"]["files"]) > PACKAGES


def test_engine_may_import_numpy_and_simpy_alone(project: dict[str, Any]) -> None:
    """A new dependency is out of bounds for the engine from its first day."""
    extras = project["project"]["optional-dependencies"]
    needs = project["project"]["dependencies"] + extras["optimum"] + extras["fast"] + extras["dask"]
    (contract,) = _contracts(project, type="forbidden", source_modules=["serving_sim"])
    assert set(contract["forbidden_modules"]) == {Requirement(need).name for need in needs} - {
        "numpy",
        "simpy",
    }


def test_numbers_know_no_layer_above_them(project: dict[str, Any]) -> None:
    """import-linter cannot protect a layer before its first module exists; from then on it must."""
    (order,) = _contracts(project, type="layers", containers=["analysis"])
    layers = {f"analysis.{layer.strip('()')}" for layer in order["layers"]}
    present = {module.name for module in pkgutil.iter_modules(analysis.__path__, "analysis.")}
    (contract,) = _contracts(project, type="protected", allowed_importers=sorted(layers & present))
    assert set(contract["protected_modules"]) == layers & present


def test_constraints_pin_every_dependency(project: dict[str, Any]) -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    lines = [line for line in lines if not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    pins = {canonicalize_name(name): version for name, version in (line.split("==") for line in lines)}
    extras = project["project"]["optional-dependencies"].values()
    needs = project["project"]["dependencies"] + [need for extra in extras for need in extra]
    direct = {canonicalize_name(Requirement(need).name) for need in needs} - {"serving-sim"}
    assert _with_what_they_need(direct, pins) - pins.keys() == set()


def test_version_is_the_same_everywhere(project: dict[str, Any]) -> None:
    version = project["project"]["version"]
    assert distribution("serving-sim").version == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def _contracts(project: dict[str, Any], **wanted: object) -> list[dict[str, Any]]:
    return [
        contract
        for contract in project["tool"]["importlinter"]["contracts"]
        if all(contract.get(key) == value for key, value in wanted.items())
    ]


def _with_what_they_need(
    names: set[NormalizedName], pins: Mapping[NormalizedName, str]
) -> set[NormalizedName]:
    """The names and, as far as the pinned releases are installed, all that these need in turn."""
    found: set[NormalizedName] = set()
    left = list(names)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += _needs_of(name, pins)
    return found


def _needs_of(name: NormalizedName, pins: Mapping[NormalizedName, str]) -> list[NormalizedName]:
    try:
        installed = distribution(name)
    except PackageNotFoundError:
        return []
    if installed.version != pins.get(name):  # another release may have other needs
        return []
    needs = [Requirement(line) for line in installed.requires or []]
    here = [need for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    return [canonicalize_name(need.name) for need in here]
