"""Nothing runs what a file holds, and no module is loaded but where a user names it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import analysis

ROOT = Path(analysis.__file__).parents[1]
PACKAGES = ("serving_sim", "policies", "workloads", "analysis")
RUNS = {"eval", "exec", "compile", "__import__", "read_pickle", "allow_pickle", "unsafe_load", "full_load"}
UNPICKLES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "yaml", "jsonpickle"}
LOADS = {"serving_sim/by_name.py", "analysis/__init__.py"}
"""Who imports by name: built in and installed modules, and those that a user names as ``module:Class``."""


def words(path: Path) -> Iterator[str]:
    """Names that a module calls, passes and imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield getattr(node.func, "id", "")
            yield f".{node.func.attr}" if isinstance(node.func, ast.Attribute) else ""
            yield from (word.arg or "" for word in node.keywords)
        elif isinstance(node, ast.Import):
            yield from (each.name.partition(".")[0] for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def test_no_module_runs_data() -> None:
    found = set()
    for path in (path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        forbidden = RUNS | UNPICKLES | {f".{each}" for each in RUNS - {"compile"}}  # re.compile is none
        if name not in LOADS:
            forbidden |= {"import_module", ".import_module"}
        found |= {(name, word) for word in words(path) if word in forbidden}
    assert found == set()


def test_the_rule_sees_what_it_forbids(tmp_path: Path) -> None:
    module = tmp_path / "bad.py"
    module.write_text("import pickle, re\nfrom yaml import x\neval('1')\npd.read_pickle(f)\nre.compile('')\n")
    assert {"pickle", "yaml", "eval", ".read_pickle", ".compile"} <= set(words(module))
