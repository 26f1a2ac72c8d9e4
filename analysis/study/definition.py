"""The study file: a grid of simulations in TOML.

A key is the name of an option of ``serving-sim run``. A key that spans the grid takes one value or a
list; the cells are all combinations.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence, Sized
from dataclasses import dataclass, fields
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from analysis.definitions import REQUEST_METRICS
from analysis.goodput import check_objectives
from analysis.latency import check_warmup
from analysis.statistic import PERCENTILES, quantiles
from analysis.study.cell import Cell, Settings, build_policy
from analysis.study.reading import Entries, numbers, positive, table, text, whole, word
from analysis.study.source import Logged, Made, Source, Specified, lengths_digest, log_digest
from analysis.time_unit import TimeUnit
from policies import modules_of
from serving_sim import Policy, StepTime
from serving_sim.simulate import MOST_SLOTS
from workloads import parse_arrivals, parse_lengths, read_specification
from workloads.arrivals import ARRIVALS
from workloads.lengths import LENGTHS

_MADE = ("workload", "lengths", "arrivals", "load", "request-rate", "num-prompts", "replications")
_LOGGED = ("format", "length", "time-unit", "on-bad-row")
_SHARED = ("policy", "alpha", "slots", "step-time", "seed", "percentiles", "warmup", "goodput")
KEYS = (*_SHARED, *_MADE, "requests", *_LOGGED)
"""Keys that a study file may have."""

MOST_CELLS = 1_000_000
"""Cells of a study: more would fill the memory before the first is simulated."""

_MOST_REQUESTS = 10**9
"""Requests of a cell, for the same reason."""

_CONVERT = "a study takes a log as it is; shape it first with 'serving-sim workload convert'"
_SHAPING = dict.fromkeys(
    (
        "from",
        "for",
        "tenant",
        "model",
        "max-model-len",
        "too-long",
        "sample",
        "repeat",
        "shuffle-gaps",
        "prefill-chunk",
    ),
    _CONVERT,
)


@dataclass(frozen=True)
class Study:
    """A study as its file defines it.

    Attributes
    ----------
    path : Path
        The file.
    cells : tuple of Cell
        All combinations, in the order of the tables; no two have the same coordinates.
    """

    path: Path
    cells: tuple[Cell, ...]

    @property
    def store_path(self) -> Path:
        """Where finished cells are kept: beside the study file."""
        return self.path.with_suffix(".sqlite")

    @property
    def time_unit(self) -> TimeUnit:
        """What the cells count time in, steps where every step takes one time unit, and service.

        How long a unit is, is known where all logs and specifications say the same.
        """
        steps = all(cell.step_time == StepTime() for cell in self.cells)
        sources = dict.fromkeys(cell.source for cell in self.cells)
        # side by side, as a log is read for both and only the last one stays in memory
        found = [(each.seconds, isinstance(each, Logged) and each.in_chunks) for each in sources]
        seconds = {each for each, _ in found}
        known = seconds.pop() if len(seconds) == 1 else None
        return TimeUnit.of(steps=steps, seconds=known, in_chunks=any(chunks for _, chunks in found))


def read_study(path: Path, modules: Collection[str] = ()) -> Study:
    """Read a study file.

    Parameters
    ----------
    path : Path
        The file.
    modules : collection of str
        Modules that its policies, lengths and arrivals may come from beside those built in and
        installed: a file from elsewhere must not choose what code runs.

    Raises
    ------
    ValueError
        If the file or a value is refused: one line with file, key, value and rule.
    OSError
        If the file cannot be read.
    """
    try:
        return Study(path, tuple(_cells(Entries(path, KEYS, _SHAPING), path.parent, modules)))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _cells(entries: Entries, folder: Path, modules: Collection[str]) -> list[Cell]:
    for key in ("policy", "slots"):
        _needed(entries, key)
    settings = _settings(entries)
    sources = _sources(entries, settings, folder, modules)
    step_times = entries.several("step-time", _step_time)
    if any(source.coordinates.get("load") for source in sources):
        _check_constant(step_times)
    slots = entries.several("slots", whole(1, MOST_SLOTS))
    policies = _policies(entries, modules)
    replications = entries.one("replications", whole(1, MOST_CELLS), 1)
    grid = (sources, slots, step_times or (StepTime(),), policies, range(1, replications + 1))
    _check_size("cells", grid)
    for source, size, step_time in product(*grid[:3]):
        source.check_span(slots=size, step_time=step_time)
    return [
        Cell(source, size, step_time, policy, alpha, replication, settings)
        for source, size, step_time, (policy, alpha), replication in product(*grid)
    ]


def _check_size(name: str, grid: Sequence[Sized]) -> None:
    """Refuse a grid before it is built."""
    size = math.prod(map(len, grid))
    if size > MOST_CELLS:
        raise ValueError(f"{size:,} {name}: must be at most {MOST_CELLS:,}")


def _settings(entries: Entries) -> Settings:
    percentiles: tuple[float, ...] = entries.one("percentiles", numbers, PERCENTILES)
    quantiles(percentiles)  # refuses what cannot be
    goodput = entries.one("goodput", table([metric.key for metric in REQUEST_METRICS]), None)
    check_objectives(goodput or {})
    return Settings(
        seed=entries.one("seed", whole(0), 0),
        percentiles=percentiles,
        warmup=entries.one("warmup", whole(0), 0),
        goodput=goodput,
    )


def _policies(entries: Entries, modules: Collection[str]) -> list[tuple[str, int | None]]:
    """Policies with their budgets; one that takes no budget stands there once.

    Raises
    ------
    ValueError
        If two are the same policy with the same budget, however they are spelled.
    """
    budgets = entries.several("alpha", whole(0))
    found: dict[tuple[str, int | None], None] = {}
    spellings: dict[object, str] = {}
    for policy in entries.several("policy", text):
        _check_module("policy", policy, modules_of(policy), modules)
        for given in budgets or (None,):
            alpha = build_policy(policy, given).alpha if given is None else _reaching(policy, given)
            found[policy, alpha] = None
            first = spellings.setdefault(_identity(build_policy(policy, alpha)), policy)
            if first != policy:
                budget = "" if alpha is None else f" with alpha={alpha}"
                raise ValueError(f"policy={policy!r}: must not come twice, {first!r}{budget} says the same")
    return [*found]


def _identity(policy: Policy | None) -> object:
    """The same for every spelling of a policy, and never for two policies that go by one name."""
    if policy is None:
        return None
    return type(policy), policy.describe(), _identity(getattr(policy, "inner", None))


def _reaching(policy: str, alpha: int) -> int | None:
    """The budget given where it makes a difference to the policy, else the one the policy has."""
    built = build_policy(policy, alpha)
    takes_it = built.describe() != build_policy(policy, alpha + 1).describe()
    return alpha if takes_it else built.alpha


def _check_module(key: str, text: str, named: Collection[str | None], modules: Collection[str]) -> None:
    """Refuse a text that would run code which nobody said is to be trusted."""
    for module in sorted(set(map(str, named)) - set(modules)):
        raise ValueError(f"{key}={text!r}: runs code of {module}; if you trust it: --module {module}")


def _sources(entries: Entries, settings: Settings, folder: Path, modules: Collection[str]) -> list[Source]:
    if "requests" in entries:
        return _logged(entries, folder)
    for key in _LOGGED:
        if key in entries:
            raise ValueError(f"{key}: needs requests, it says how a file is read")
    if "workload" in entries:
        return _specified(entries, settings, folder)
    for key, registry in (("lengths", LENGTHS), ("arrivals", ARRIVALS)):
        for each in entries.several(key, text):
            _check_module(key, each, {registry.module_of(each)} - {None}, modules)
    return _made(entries, settings, folder)


def _specified(entries: Entries, settings: Settings, folder: Path) -> list[Source]:
    for key in ("lengths", "arrivals"):
        if key in entries:
            raise ValueError(f"{key}: cannot go with workload, the specification says it")
    paced = "load" in entries or "request-rate" in entries
    found: list[Source] = []
    for name in entries.several("workload", text, lambda name: (folder / name).absolute()):
        given = read_specification(folder / name)
        counts = entries.several("num-prompts", whole(1, _MOST_REQUESTS)) or (given.num_prompts,)
        check_warmup(settings.warmup, min(counts))
        content = lengths_digest(given.lengths, Path.cwd())
        file = log_digest(folder / name)
        own_pace = [(given.arrivals, None, given.request_rate)]
        found += [
            Specified(
                name,
                Made(given.lengths, process, load, rate, count, Path.cwd(), content),
                file,
                given.time_unit,
            )
            for (process, load, rate), count in product(
                _processes(entries, (given.arrivals,)) if paced else own_pace, counts
            )
        ]
    return found


def _made(entries: Entries, settings: Settings, folder: Path) -> list[Source]:
    for key in ("lengths", "num-prompts"):
        _needed(entries, key)
    counts = entries.several("num-prompts", whole(1, _MOST_REQUESTS))
    check_warmup(settings.warmup, min(counts))
    lengths = entries.several("lengths", text, partial(_lengths, folder=folder))
    processes = _processes(entries, entries.several("arrivals", text, _process) or ("poisson",))
    _check_size("workloads", (lengths, processes, counts))
    contents = {each: lengths_digest(each, folder.absolute()) for each in lengths}
    return [
        Made(each, process, load, rate, count, folder.absolute(), contents[each])
        for each, (process, load, rate), count in product(lengths, processes, counts)
    ]


def _processes(entries: Entries, arrivals: tuple[str, ...]) -> list[tuple[str, float | None, float | None]]:
    """Arrival processes with load or rate; one that has its own rate stands there once."""
    loads, rates = entries.several("load", positive), entries.several("request-rate", positive)
    if loads and rates:
        raise ValueError("load: cannot go with request-rate, one sets the other")
    found: list[tuple[str, float | None, float | None]] = []
    if (loads or rates) and all(_process(process).own_rate for process in arrivals):
        key = "load" if loads else "request-rate"
        raise ValueError(f"{key}: cannot go with arrivals={arrivals[-1]!r}, which say it themselves")
    for process in arrivals:
        if _process(process).own_rate:
            found.append((process, None, None))
            continue
        if not loads and not rates:
            raise ValueError(f"arrivals={process!r}: needs load or request-rate")
        found += [(process, load, None) for load in loads] + [(process, None, rate) for rate in rates]
    return found


def _lengths(distribution: str, folder: Path) -> object:
    """What a length distribution is, however it is spelled."""
    return _parameters(parse_lengths(distribution, folder=folder))


@dataclass(frozen=True)
class _Process:
    """What an arrival process is, however it is spelled, and whether it has a rate of its own."""

    parameters: object
    own_rate: bool


def _process(arrivals: str) -> _Process:
    try:
        return _Process(_parameters(parse_arrivals(arrivals)), own_rate=True)
    except ValueError:
        return _Process(_parameters(parse_arrivals(arrivals, rate=1.0)), own_rate=False)


def _parameters(part: Any) -> object:  # noqa: ANN401  (any dataclass)
    """Kind and parameters: a dataclass of a user's may hold arrays, which cannot be told apart at once."""
    return type(part), [getattr(part, field.name) for field in fields(part) if field.init]


def _logged(entries: Entries, folder: Path) -> list[Source]:
    for key in _MADE:
        if key in entries:
            shaping = f"; {_CONVERT}" if key in ("load", "request-rate", "num-prompts") else ""
            if key in ("load", "request-rate"):
                shaping += (
                    f", or name what 'serving-sim workload fit' makes of it as workload, to vary the {key}"
                )
            raise ValueError(f"{key}: cannot go with requests, the file says what arrives{shaping}")
    reading = partial(
        Logged,
        format=entries.one("format", text, "auto"),
        length=entries.one("length", word("total", "output", "prompt"), "total"),
        time_unit=entries.one("time-unit", positive, None),
        on_bad_row=entries.one("on-bad-row", word("error", "drop"), "error"),
    )
    names = entries.several("requests", text, lambda name: (folder / name).absolute())
    return [reading(name, folder.absolute() / name, log_digest(folder / name)) for name in names]


_COEFFICIENTS = [field.name for field in fields(StepTime)]


def _step_time(key: str, value: object) -> StepTime:
    return StepTime(**{"base": 0.0, **table(_COEFFICIENTS)(key, value)})


def _check_constant(step_times: tuple[StepTime, ...]) -> None:
    for step_time in step_times:
        if not step_time.constant:
            raise ValueError(
                "load: needs a constant step time, others have no fixed capacity; use request-rate"
            )


def _needed(entries: Entries, key: str) -> None:
    if key not in entries:
        raise ValueError(f"{key}: is missing")
