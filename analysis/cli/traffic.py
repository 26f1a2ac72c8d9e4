"""From options to the workloads that a command serves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.cli.naming import flag
from analysis.cli.options import FileOptions, WorkerOptions, WorkloadOptions
from analysis.cli.preset import with_defaults
from analysis.cli.shaping import (
    chunks,
    input_record,
    offering_to_drop,
    rows_line,
    shapings,
    step_lines,
    window_span,
)
from analysis.pace import check_pace
from analysis.time_unit import TimeUnit
from serving_sim import StepTime, Workload
from serving_sim.how_many import how_many

if TYPE_CHECKING:
    from serving_sim import ReactiveSource
    from serving_sim.request import FloatArray
    from workloads import Arrivals

_REQUESTS = 1000
_LENGTHS = "lmsys-like"
_LOAD = 0.9
_LONGEST = 60
_NO_CAPACITY = "--step-time: must be constant for a load, others have no fixed capacity; use --request-rate"
_MADE_ONLY = ("preset", "workload", "lengths", "arrivals", "burstiness", "clients", "users", "think_time")
_NOT_OF_CLIENTS = ("preset", "workload", "lengths", "arrivals", "burstiness", "users", "think_time")
_NOT_OF_USERS = ("preset", "workload", "arrivals", "burstiness", "request_rate", "load")
_FOR_BOTH = ("num_prompts", "request_rate", "load", "seed", "time_unit")
_FILE_ONLY = {field.name: field.default for field in fields(FileOptions) if field.name not in _FOR_BOTH}


@dataclass(frozen=True)
class Users:
    """Who sends a workload request by request.

    Attributes
    ----------
    count : int
        How many there are.
    thinking : tuple of ndarray of float
        Time units of thought before each request, one array a replication.
    """

    count: int
    thinking: tuple[FloatArray, ...]


@dataclass(frozen=True)
class Traffic:
    """Workloads to serve, one a replication, and what to say about them.

    Attributes
    ----------
    workloads : tuple of Workload
        One a replication.
    facts : tuple of str
        What arrives, first in a phrase, then notes of the reader.
    seed : int or None
        None where nothing is random.
    inputs : tuple of mapping
        What became of the rows of a file, one a replication; empty where none was read.
    offered : float or None
        Work that arrives in the long run, in tokens per time unit; None where nobody knows.
    dispersion : float or None
        Index of dispersion of the arrivals in the long run; None where nobody knows.
    requests_a_round : float or None
        Requests in one round of a rate that goes up and down over and over; None without such a rhythm.
    time_unit : float or None
        Seconds in a time unit; None where nobody knows.
    span : float or None
        Time units from 0 on in which all requests came, of a window of a file; None where nobody knows.
    users : Users or None
        Who sends the requests one by one; None where they come by themselves.
    known : str
        What policies may know of the length of a request that waits.
    one_log : bool
        Whether the workloads are several draws from one log, or passes over it: they agree with each
        other more than with other traffic, and carry no intervals.
    """

    workloads: tuple[Workload, ...]
    facts: tuple[str, ...]
    seed: int | None
    inputs: tuple[Mapping[str, Any], ...] = ()
    offered: float | None = None
    dispersion: float | None = None
    requests_a_round: float | None = None
    time_unit: float | None = None
    span: float | None = None
    users: Users | None = None
    known: str = "the true length of every request that waits"
    one_log: bool = False

    @property
    def at_once(self) -> bool:
        """Whether all requests are there from the start."""
        from analysis.stability import is_backlog

        return self.users is None and any(map(is_backlog, self.workloads))

    @property
    def told(self) -> tuple[str, ...]:
        """The facts, and what policies may know, as lines."""
        return (*self.facts, f"policies may know {self.known}")

    def source(self, replication: int) -> Workload | ReactiveSource:
        """What is served in a replication, numbered from 0."""
        workload = self.workloads[replication]
        if self.users is None:
            return workload
        from workloads import ClosedLoop

        return ClosedLoop(workload, self.users.count, self.users.thinking[replication])


def traffic(options: WorkloadOptions, *, slots: int, step_time: StepTime, reactive: bool = False) -> Traffic:
    """Read or make the workloads that ``options`` name.

    ``reactive`` says whether requests may come when a policy lets them.

    Raises
    ------
    ValueError
        If options exclude each other or a value is refused.
    """
    if options.requests is not None:
        arriving = _from_file(options, options.requests, slots, step_time)
    elif options.clients is not None:
        arriving = _from_clients(options, options.clients, slots, step_time)
    elif options.users is not None:
        arriving = _from_users(options, options.users, reactive=reactive)
    else:
        arriving = _made(options, slots, step_time)
    if arriving.time_unit is None:
        arriving = replace(arriving, time_unit=options.time_unit)
    return arriving if options.predictions is None else _predicted(arriving, options, options.predictions)


def one_workload(options: WorkloadOptions, slots: int | None) -> tuple[Traffic, int]:
    """The one workload that ``options`` name, and the slots that its load counts on.

    Raises
    ------
    ValueError
        If there would be several, or an option is refused.
    """
    if options.replications > 1:
        raise ValueError(f"--replications={options.replications}: must be 1, this is about one workload")
    workload, worker = with_defaults(options, WorkerOptions(slots=slots))
    assert worker.slots is not None
    return traffic(workload, slots=worker.slots, step_time=StepTime()), worker.slots


def _from_file(options: WorkloadOptions, path: Path, slots: int, step_time: StepTime) -> Traffic:
    from workloads import read_requests
    from workloads.shaping import shape

    for name in _MADE_ONLY:
        if getattr(options, name) is not None:
            raise ValueError(f"{flag(name)}: cannot go with --requests, the file says what arrives")
    _check_rate(options, step_time)
    changes = shapings(options, slots=slots, step_time=step_time)
    random = any(change.random for change in changes)
    if options.replications > 1 and not random:
        raise ValueError(
            f"--requests: holds one sequence of arrivals, {options.replications} replications need --repeat, "
            "--sample or --shuffle-gaps, which draw others from it"
        )
    with offering_to_drop():
        workload, report = read_requests(
            path,
            format=options.format,
            length=options.length.value,
            time_unit=options.time_unit,
            on_bad_row=options.on_bad_row.value,
        )
    made, steps = zip(*(shape(workload, changes, seed) for seed in _seeds(options)), strict=True)
    if options.load is not None or options.request_rate is not None:
        for each in made:
            last = float(each.release.max())
            check_pace(_pace(options), len(each), last, slots=slots, step_time=step_time)
    return Traffic(
        workloads=made,
        facts=(rows_line(report, steps[0]), *report.notes, *step_lines(steps)),
        seed=options.seed if random else None,
        inputs=tuple(input_record(report, each) for each in steps),
        time_unit=report.time_unit,
        span=window_span(options, steps[0]),
        one_log=options.replications > 1 or (options.repeat or 1) > 1,
    )


def _made(options: WorkloadOptions, slots: int, step_time: StepTime) -> Traffic:
    from workloads import make_workload, parse_arrivals, parse_lengths
    from workloads.arrivals import requests_a_round

    _refuse_reading(replace(options, prefill_chunk=None))
    if options.think_time is not None:
        raise ValueError("--think-time: needs --users, who think")
    lengths = parse_lengths(options.lengths or _LENGTHS)
    process = options.arrivals or ("poisson" if options.burstiness is None else "gamma")
    if options.burstiness is not None and process.partition(":")[0] != "gamma":
        raise ValueError(f"--burstiness={options.burstiness}: needs gamma arrivals, found {process}")
    _check_pace(options, process)
    rate = _rate(options, lengths.mean, slots, step_time)
    arrivals = parse_arrivals(process, rate=rate, burstiness=options.burstiness)
    count = _count(options)
    phrase = (
        f"{how_many(count, 'request')}, {_short(options.lengths or _LENGTHS)} lengths, "
        f"{_described(process, arrivals)} arrivals"
    )
    in_the_long_run = getattr(arrivals, "rate", None)  # a backlog has none
    if in_the_long_run is not None:
        check_pace(_pace(options), count, count / in_the_long_run, slots=slots, step_time=step_time)
    origin = () if options.workload is None else (f"as {options.workload} specifies",)
    made = Traffic(
        workloads=tuple(make_workload(count, lengths, arrivals, seed) for seed in _seeds(options)),
        facts=(phrase, *origin),
        seed=options.seed,
        offered=None if in_the_long_run is None else in_the_long_run * lengths.mean,
        dispersion=getattr(arrivals, "dispersion", None),
        requests_a_round=requests_a_round(arrivals),
    )
    return made if options.prefill_chunk is None else _in_chunks(made, options, options.prefill_chunk)


def _in_chunks(made: Traffic, options: WorkloadOptions, tokens: int) -> Traffic:
    """The traffic with prompts in chunks; the work that arrives then is for the runs to find out."""
    from workloads.shaping import shape

    if options.request_rate is None:
        raise ValueError(
            "--prefill-chunk: needs --requests, or --request-rate with lengths of prompts and outputs; "
            "a load counts each token of a prompt as a step"
        )
    changes = [chunks(tokens)]
    pairs = zip(made.workloads, _seeds(options), strict=True)
    workloads, steps = zip(*(shape(workload, changes, seed) for workload, seed in pairs), strict=True)
    return replace(made, workloads=workloads, facts=(*made.facts, *step_lines(steps)), offered=None)


def _check_pace(options: WorkloadOptions, process: str) -> None:
    """Refuse options that the process would leave without effect."""
    from workloads.arrivals import ARRIVALS
    from workloads.spec import leaves_open

    for name, parameter in (("request_rate", "rate"), ("load", "rate"), ("burstiness", "burstiness")):
        if getattr(options, name) is not None and not leaves_open(process, ARRIVALS, parameter):
            raise ValueError(
                f"{flag(name)}: cannot go with arrivals {_short(process)}, which say it themselves"
            )


def _from_clients(options: WorkloadOptions, path: Path, slots: int, step_time: StepTime) -> Traffic:
    from workloads import read_clients

    _refuse_reading(options)
    for name in _NOT_OF_CLIENTS:
        if getattr(options, name) is not None:
            raise ValueError(f"{flag(name)}: cannot go with --clients, the file says who sends what")
    mix = read_clients(path)
    if options.request_rate is not None or options.load is not None:
        rate = _rate(options, mix.mean_length, slots, step_time)
        assert rate is not None  # one of the two was given
        mix = mix.at_rate(rate)
    count = _count(options)
    check_pace(_pace(options), count, count / mix.rate, slots=slots, step_time=step_time)
    senders = f"{how_many(len(mix.clients), 'client')} in {path.name}"
    return Traffic(
        workloads=tuple(mix.workload(count, seed) for seed in _seeds(options)),
        facts=(f"{how_many(count, 'request')} of {senders} (rate {mix.rate:.4g})",),
        seed=options.seed,
        offered=mix.rate * mix.mean_length,
        dispersion=mix.dispersion,
    )


def _from_users(options: WorkloadOptions, users: int, *, reactive: bool) -> Traffic:
    from workloads import make_workload, parse_arrivals, parse_lengths, think_times

    _refuse_reading(options)
    for name in _NOT_OF_USERS:
        if getattr(options, name) is not None:
            raise ValueError(f"{flag(name)}: cannot go with --users, answers decide when requests come")
    if not reactive:
        raise ValueError(
            f"--users={users}: goes with 'serving-sim run' alone; when requests come depends on the policy, "
            "so there are no arrivals on which to compare policies, or to write down"
        )
    mean = 0.0 if options.think_time is None else options.think_time
    lengths, backlog = parse_lengths(options.lengths or _LENGTHS), parse_arrivals("backlog")
    count, seeds = _count(options), _seeds(options)
    phrase = (
        f"{how_many(count, 'request')}, {_short(options.lengths or _LENGTHS)} lengths, from "
        f"{how_many(users, 'user')} who think for {mean:g} time units on average"
    )
    return Traffic(
        workloads=tuple(make_workload(count, lengths, backlog, seed) for seed in seeds),
        facts=(phrase,),
        seed=options.seed,
        users=Users(users, tuple(think_times(count, mean, seed) for seed in seeds)),
    )


def _refuse_reading(options: WorkloadOptions) -> None:
    for name, default in _FILE_ONLY.items():
        if getattr(options, name) != default:
            raise ValueError(f"{flag(name)}: needs --requests, it says how a file is read")


def _count(options: WorkloadOptions) -> int:
    return _REQUESTS if options.num_prompts is None else options.num_prompts


def _predicted(arriving: Traffic, options: WorkloadOptions, text: str) -> Traffic:
    from workloads import parse_predictions, predict

    model = parse_predictions(text)
    pairs = zip(arriving.workloads, _seeds(options), strict=True)
    return replace(
        arriving,
        workloads=tuple(predict(workload, model, seed) for workload, seed in pairs),
        facts=(*arriving.facts, f"lengths predicted by {text}"),
        seed=options.seed,
    )


def _seeds(options: WorkloadOptions) -> list[np.random.SeedSequence]:
    """One seed a replication.

    Replication r is the same whatever the number of replications, and shares no stream with others.
    """
    if options.seed < 0:
        raise ValueError(f"--seed={options.seed}: must be a whole number >= 0")
    from workloads import replication_seed

    return [replication_seed(options.seed, number + 1) for number in range(options.replications)]


def _rate(options: WorkloadOptions, mean_length: float, slots: int, step_time: StepTime) -> float | None:
    """Requests per time unit for a process that does not name its own; None if nothing implies one."""
    from workloads import rate_for_load

    _check_rate(options, step_time)
    if options.request_rate is not None:
        return options.request_rate
    if not step_time.constant:
        if options.arrivals is not None:
            return None
        raise ValueError(_NO_CAPACITY)
    load = _LOAD if options.load is None else options.load
    return rate_for_load(load, slots=slots, mean_length=mean_length, step_duration=step_time.base)


def _check_rate(options: WorkloadOptions, step_time: StepTime) -> None:
    from workloads.parameters import check_positive

    if options.request_rate is not None:
        check_positive("--request-rate", options.request_rate)
    if options.load is None:
        return
    if options.request_rate is not None:
        raise ValueError("--load: cannot go with --request-rate, one sets the other")
    if not step_time.constant:
        raise ValueError(_NO_CAPACITY)


def _pace(options: WorkloadOptions) -> str:
    """The option that says how fast requests come, with its value."""
    names = ("load", "request_rate", "arrivals", "clients", "workload")
    given = {name: value for name in names if (value := getattr(options, name)) is not None}
    name, value = next(iter(given.items()), ("load", _LOAD))
    return f"{flag(name)}={_short(str(value))}"


def _described(process: str, arrivals: Arrivals) -> str:
    rate = getattr(arrivals, "rate", None)  # a backlog has none
    return _short(process) if rate is None else f"{_short(process)} (rate {rate:.4g})"


def _short(text: str) -> str:
    """A text that may hold hundreds of numbers, cut to what a line has room for."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}.."


def time_unit(arriving: Traffic, step_time: StepTime) -> TimeUnit:
    """What a run counts time in, steps where a step takes one time unit, and service on what arrives."""
    in_chunks = any(workload.in_chunks for workload in arriving.workloads)
    return TimeUnit.of(steps=step_time == StepTime(), seconds=arriving.time_unit, in_chunks=in_chunks)


def lines(facts: Sequence[str]) -> str:
    """Facts one a line, the first as the headline."""
    return "\n  ".join(facts)
