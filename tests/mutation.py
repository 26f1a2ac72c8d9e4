"""Mutation testing of the engine and of ISJL: the share of small faults in the code that the tests notice.

    python tests/mutation.py --sample 500
    python tests/mutation.py 'serving_sim/batch.py' 'policies/*'

mutmut's operators change one expression of a function at a time (a sign, a comparison, a number, an argument
left out, an assignment of None); what they change is not run is left alone: annotations, decorators,
docstrings, and code outside functions. The tests are collected once. Each mutant then lives in a fork of
this process, where the code of the function is exchanged and the tests that run the changed line are
played, the likeliest to fail first, until one does. So a mutant costs milliseconds, not the start of an
interpreter, and no file is ever changed. The compiled engine is tested as the plain Python that it also is.

A mutant counts as killed if a test fails or takes ten times as long as it should. Mutants that no test can
kill, since they do the same, stand with the reason in tests/data/equivalent_mutants.toml. Outcomes are
written to a log: what is killed there is not played again, what survived is. Exit code 1 if less than 90 %
of the mutants that do something else are killed.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import pickle
import random
import resource
import signal
import sys
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from math import inf
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import libcst as cst
import libcst.matchers as m
import pytest
from _pytest.runner import runtestprotocol
from coverage import Coverage
from hypothesis import Phase, settings
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators, operator_string

ROOT = Path(__file__).resolve().parents[1]
EQUIVALENT = ROOT / "tests" / "data" / "equivalent_mutants.toml"
MUTATED = (
    "serving_sim/**/*.py",
    "policies/isjl.py",
    "policies/planning.py",
    "policies/queues.py",
    "policies/waiting.py",
)
NOT_MUTATED = (
    "serving_sim/compiled/bits.py",  # words that wrap around at 64 bits
    "serving_sim/compiled/instructions.py",  # what numba runs when it compiles
    "serving_sim/compiled/jit.py",
)
"""What plain Python cannot do as machine code does; tests on machine code have it."""

TESTS = (
    "tests/serving_sim",
    "tests/policies/test_bucketed.py",
    "tests/policies/test_explanations.py",
    "tests/policies/test_information.py",
    "tests/policies/test_planning.py",
    "tests/policies/test_queues.py",
    "tests/policies/test_waiting.py",
)
DESELECTED = (
    "tests/serving_sim/test_compiled_engine.py::test_engines_agree_on_many_seeded_instances",
    "tests/serving_sim/test_testing_own_policy.py",
)
"""Made for machine code; and what starts other processes, which hold no mutant."""

SLOW = 1.5
"""Seconds from which a test is too slow to be asked of every mutant."""

PATIENCE = 8.0
"""Seconds of tests after which a mutant has survived."""

REAL_SECONDS = 600
"""Seconds by the clock on the wall after which a mutant that waits for ever is killed."""

MEMORY = 8 * 2**30
"""Bytes a mutant may take before it is killed."""

FEW = 20
"""Tests that must pass in every file before it is changed."""

GOAL = 0.9


@dataclass(frozen=True)
class Mutant:
    """A file with one change, which lies on the lines from `first` to `last`."""

    file: str
    first: int
    last: int
    was: str
    now: str
    source: str = field(repr=False)

    @property
    def name(self) -> str:
        """The same in every run, as long as the file stays the same."""
        return f"{self.file} {sha256(self.source.encode()).hexdigest()}"


class Sites(cst.CSTVisitor):
    """The expressions and statements of functions that may be changed."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self) -> None:
        self.found: list[tuple[cst.CSTNode, CodeRange]] = []
        self._depth = 0

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Annotation | cst.Decorator) or _is_docstring(node):
            return False
        if m.matches(node, m.Call(func=m.Name("cast"))):  # its first argument is a type
            cst.ensure_type(node, cst.Call).args[1].visit(self)
            return False
        if self._depth:
            place = self.get_metadata(PositionProvider, node, None)
            if isinstance(place, CodeRange):
                self.found.append((node, place))
        self._depth += isinstance(node, cst.FunctionDef)
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        self._depth -= isinstance(original_node, cst.FunctionDef)


def _is_docstring(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.SimpleString) and node.value.startswith('"""')


def mutants_of(file: str) -> Iterator[Mutant]:
    """Every mutant of a file, each source once."""
    source = (ROOT / file).read_text(encoding="utf-8")
    lines = source.splitlines(keepends=True)
    wrapper = MetadataWrapper(cst.parse_module(source), unsafe_skip_copy=True)
    sites = Sites()
    wrapper.visit(sites)
    seen = {source}
    for node, place in sites.found:
        first, last = place.start.line, place.end.line
        was = "".join(lines[first - 1 : last])
        for changed in _changes(node):
            code = wrapper.module.code_for_node(changed)
            now = lines[first - 1][: place.start.column] + code + lines[last - 1][place.end.column :]
            mutated = "".join([*lines[: first - 1], now, *lines[last:]])
            if mutated not in seen:
                seen.add(mutated)
                yield Mutant(file, first, last, _on_one_line(was), _on_one_line(now), mutated)


def _changes(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for kind, operator in mutation_operators:
        if isinstance(node, kind):
            # the others of a string change its case, which says the same a second and a third time
            yield from islice(operator(node), 1 if operator is operator_string else None)


def _on_one_line(code: str) -> str:
    return " ".join(code.split())


Runs = dict[tuple[str, int], set[int]]
"""By file and line: numbers of the tests that run it."""


class Player:
    """The plugin of pytest that plays the tests against mutants instead of once."""

    def __init__(self, mutants: list[Mutant], log: Path) -> None:
        self._mutants = mutants
        self._log = log
        self.outcomes: dict[Mutant, str] = {}
        self._items: list[pytest.Item] = []
        self._seconds: list[float] = []
        self._runs: Runs = {}
        self._kills: dict[str, Counter[int]] = defaultdict(Counter)
        self._functions: dict[str, list[FunctionType]] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Measure the tests, then play those that a mutant can fail."""
        self._items = session.items
        self._seconds, self._runs = self._measured()
        for file in {mutant.file for mutant in self._mutants}:
            self._functions[file] = functions_of(vars(importlib.import_module(_module(file))))
        gc.collect()
        gc.freeze()  # children share memory as long as nobody writes to it; `functions_of` skips it
        for file in self._functions:  # the exchange alone must do no harm
            source = (ROOT / file).read_text(encoding="utf-8")
            unchanged = Mutant(file, 1, source.count("\n"), "", "", source)
            if self._play(unchanged, self._candidates(unchanged)[:FEW]) == "killed":
                pytest.exit(f"{file}: the tests fail although nothing is changed")
        with self._log.open("a", encoding="utf-8") as log:
            for mutant in self._mutants:
                self.outcomes[mutant] = outcome = self._play(mutant, self._candidates(mutant))
                print(json.dumps({"mutant": mutant.name, "outcome": outcome}), file=log, flush=True)
        return True

    def _measured(self) -> tuple[list[float], Runs]:
        """What `_measure` finds, in a fork as well: some tests pass but once in a process."""
        reading, writing = os.pipe()
        if not os.fork():
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump(self._measure(), pipe)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            found: tuple[list[float], Runs] = pickle.load(pipe)  # noqa: S301  (from our own fork)
        os.wait()
        return found

    def _measure(self) -> tuple[list[float], Runs]:
        """Seconds of each test, inf of those that fail without a mutant; and what they run."""
        packages = [str(ROOT / package) for package in ("serving_sim", "policies")]
        coverage = Coverage(data_file=None, config_file=False, source=packages)
        coverage.start()
        seconds = []
        for number, item in enumerate(self._items):
            coverage.switch_context(str(number))
            begun = time.process_time()
            seconds.append(inf if _fails(item) else time.process_time() - begun)
        coverage.stop()
        data = coverage.get_data()
        return seconds, {
            (file, line): {int(context) for context in contexts if context}
            for file in {mutant.file for mutant in self._mutants}
            for line, contexts in data.contexts_by_lineno(str(ROOT / file)).items()
        }

    def _candidates(self, mutant: Mutant) -> list[int]:
        """Tests that run the line, or the file for a default value; the likeliest to fail first."""
        runs = [self._runs.get((mutant.file, line), set()) for line in range(mutant.first, mutant.last + 1)]
        found = set[int]().union(*runs)
        if not found:
            found.update(*(tests for (file, _), tests in self._runs.items() if file == mutant.file))
        kills = self._kills[mutant.file]
        quick = [test for test in found if self._seconds[test] < SLOW]
        return sorted(quick, key=lambda test: (-kills[test], self._seconds[test]))

    def _play(self, mutant: Mutant, tests: list[int]) -> str:
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os._exit(self._play_in_child(mutant, tests, writing))
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            played = len(pipe.read())
        _, status = os.waitpid(child, 0)
        if status == 0:
            return "survived"
        if played:
            self._kills[mutant.file][tests[played - 1]] += 1
        return "killed"

    def _play_in_child(self, mutant: Mutant, tests: list[int], writing: int) -> int:
        try:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            signal.alarm(REAL_SECONDS)
            exchange(self._functions[mutant.file], mutant)
            end = time.process_time() + PATIENCE
            for test in tests:
                os.write(writing, b".")
                signal.setitimer(signal.ITIMER_PROF, 5 + 10 * self._seconds[test])  # ends this process
                if _fails(self._items[test]):
                    return 1
                if time.process_time() > end:
                    break
        except BaseException:  # noqa: BLE001  (the module cannot even be imported)
            return 1
        return 0


def _fails(item: pytest.Item) -> bool:
    return any(report.failed for report in runtestprotocol(item, log=False, nextitem=None))


def _module(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def functions_of(namespace: dict[str, Any]) -> list[FunctionType]:
    """Functions and methods whose globals these are; those inside others come with them."""
    found = [
        thing for thing in gc.get_objects() if type(thing) is FunctionType and thing.__globals__ is namespace
    ]
    outer = [function for function in found if "<locals>" not in function.__qualname__]
    return sorted(outer, key=lambda function: (function.__qualname__, function.__code__.co_firstlineno))


def exchange(functions: list[FunctionType], mutant: Mutant) -> None:
    """Give the functions of a module the code and the defaults that they have in the mutant."""
    name = _module(mutant.file)
    original, mutated = sys.modules[name], ModuleType(name)
    vars(mutated).update({key: vars(original)[key] for key in ("__file__", "__package__", "__spec__")})
    if hasattr(original, "__path__"):
        mutated.__path__ = original.__path__
    sys.modules[name] = mutated  # dataclasses look themselves up
    exec(compile(mutant.source, str(original.__file__), "exec"), vars(mutated))  # noqa: S102
    sys.modules[name] = original
    twins = functions_of(vars(mutated))
    for function, twin in zip(functions, twins, strict=True):
        assert function.__qualname__ == twin.__qualname__
        function.__code__ = twin.__code__
        function.__defaults__ = twin.__defaults__
        function.__kwdefaults__ = twin.__kwdefaults__


def run_kernels_as_python() -> None:
    """Nothing is compiled, and two machine instructions get a word in Python."""
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    instructions: Any = importlib.import_module("serving_sim.compiled.instructions")
    instructions.trailing_zeros = lambda word: (int(word) & -int(word)).bit_length() - 1
    instructions.leading_zeros = lambda word: 64 - (int(word) % 2**64).bit_length()


def killed_before(log: Path) -> set[str]:
    """Names of the mutants that an earlier run has killed."""
    if not log.exists():
        return set()
    entries = map(json.loads, log.read_text(encoding="utf-8").splitlines())
    return {entry["mutant"] for entry in entries if entry["outcome"] == "killed"}


def explained() -> set[tuple[str, str, str]]:
    """File, line and changed line of mutants that are known to compute the same."""
    listing = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["equivalent"]
    return {(entry["file"], entry["was"], entry["now"]) for entry in listing}


def report(outcomes: dict[Mutant, str]) -> float:
    """Print a table by file and the survivors; the share of killed mutants among those not equivalent."""
    known = explained()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for mutant, outcome in outcomes.items():
        same = outcome != "killed" and (mutant.file, mutant.was, mutant.now) in known
        counts[mutant.file]["equivalent" if same else outcome] += 1
        if outcome != "killed" and not same:
            print(f"{mutant.file}:{mutant.first}:\n  - {mutant.was}\n  + {mutant.now}")  # noqa: T201
    total = sum(counts.values(), Counter())
    for file, count in [*sorted(counts.items()), ("all", total)]:
        print(  # noqa: T201
            f"{file:44}{count.total():6} mutants{count['killed']:6} killed{count['equivalent']:4} equivalent"
            f"{count['survived']:4} survived  {_score(count):6.1%}"
        )
    return _score(total)


def _score(count: Counter[str]) -> float:
    return count["killed"] / max(1, count.total() - count["equivalent"])


def main() -> int:
    """Mutate the files named, or all that are meant to be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("patterns", nargs="*", default=MUTATED, help="files, relative to the repository")
    parser.add_argument("--sample", type=int, help="only so many mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="another one draws another sample")
    parser.add_argument(
        "--log", type=Path, default=ROOT / "mutation.jsonl", help="outcomes; killed is killed in the next run"
    )
    arguments = parser.parse_args()
    files = {str(path.relative_to(ROOT)) for pattern in arguments.patterns for path in ROOT.glob(pattern)}
    mutants = [mutant for file in sorted(files - set(NOT_MUTATED)) for mutant in mutants_of(file)]
    random.Random(arguments.seed).shuffle(mutants)  # noqa: S311  (a larger sample holds the smaller)
    mutants = mutants[: arguments.sample]
    killed = killed_before(arguments.log)
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    run_kernels_as_python()
    quick = settings(
        deadline=None,
        derandomize=True,
        max_examples=10,
        phases=[Phase.explicit, Phase.generate],
        database=None,
    )
    settings.register_profile("mutation", quick)
    left = [mutant for mutant in mutants if mutant.name not in killed]
    player = Player(left, arguments.log.absolute())
    words = [
        "-q",
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
        "-p",
        "no:cacheprovider",
        "--hypothesis-profile=mutation",
        "-o",
        "tmp_path_retention_policy=none",
    ]
    deselected = [f"--deselect={test}" for test in DESELECTED]
    pytest.main([*words, *deselected, *TESTS], plugins=[player])
    outcomes = {mutant: "killed" for mutant in mutants if mutant.name in killed} | player.outcomes
    return 0 if report(outcomes) >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
