"""What ``run`` and ``compare`` share: serve workloads with a policy, write what happened."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.cli.console import show
from analysis.cli.information import (
    check_information,
    check_known,
    check_sequential,
    inform,
)
from analysis.cli.money import make_prices
from analysis.cli.options import (
    OutputOptions,
    PriceOptions,
    StatisticsOptions,
    WorkerOptions,
    WorkloadOptions,
    arguments,
)
from analysis.cli.parsing import parse_step_time, parse_window
from analysis.cli.preset import with_defaults
from analysis.cli.server import Server, make_policies, make_server
from analysis.cli.traffic import Traffic, time_unit, traffic
from analysis.cli.wanted import Wanted, parse_wanted
from analysis.run_files import ESTIMATES, REPLICATION, TIMELINE
from analysis.time_unit import TimeUnit
from analysis.version import project_version
from serving_sim.how_many import how_many

if TYPE_CHECKING:
    from analysis.books import Books, Lead
    from analysis.capacity import Bench
    from analysis.outcome import Outcome
    from analysis.prices import Prices
    from analysis.stability import WorkRates
    from analysis.timeline import Window
    from serving_sim import Policy, Run, StepTime, Workload


@dataclass(frozen=True)
class Job:
    """Everything a command needs to serve, parsed and checked before the first run starts."""

    traffic: Traffic
    policies: tuple[Policy, ...]
    server: Server
    wanted: Wanted
    time_unit: TimeUnit
    prices: Prices
    arguments: dict[str, Any]
    replicate: Callable[[int], Traffic]
    """The traffic with another number of replications, the first of them the same."""
    rebuild: Callable[[], tuple[Policy, ...]]
    """The policies once more, as objects that have served nobody."""
    paces: dict[str, float | None] = field(default_factory=dict)
    """Most work that each policy can do, once measured; on the first workload, which never changes."""
    kept: dict[tuple[Run, ...], Books] = field(default_factory=dict)
    """Books of runs, once kept: files, report and terminal show them."""

    def headline(self) -> str:
        """The one line that says what will be done."""
        names = ", ".join(policy.describe() for policy in self.policies)
        count = len(self.traffic.workloads)
        times = f", {count}{' or more' if self.wanted.targets else ''} replications" if count > 1 else ""
        return f"{names} on {how_many(self.server.slots, 'slot')}: {self.traffic.facts[0]}{times}"

    def head(self) -> tuple[str, ...]:
        """The headline, and a line for whatever else there is to know before the numbers."""
        return (self.headline(), *self.traffic.told[1:])

    @property
    def tasks(self) -> int | None:
        """Runs to come, None where the first ones decide."""
        return None if self.wanted.targets else len(self.policies) * len(self.traffic.workloads)

    def benches(self) -> list[list[Bench]]:
        """Every policy before every workload, which may then come at any speed."""
        from analysis.capacity import Bench

        server = self.server
        return [
            [
                Bench(policy, workload, server.slots, server.step_time, server.slotted, server.information)
                for workload in self.traffic.workloads
            ]
            for policy in self.policies
        ]

    def serve(self, policy: Policy, begin: Callable[[str], None], *, first: int = 0) -> list[Run]:
        """Run a policy on every workload from the ``first`` on; ``begin`` is told when each run starts."""
        runs = []
        for replication in range(first, len(self.traffic.workloads)):
            begin(policy.describe())
            runs.append(self.server.simulate(self.traffic.source(replication), policy))
        return runs

    def replicated(self, count: int) -> Job:
        """The job on another number of replications, the first of them the same."""
        return replace(self, traffic=self.replicate(count))

    def warmed_up(self, policies: Sequence[Sequence[Run]]) -> Job:
        """The job with the warm-up that the runs of all policies call for, if it was left to them."""
        from analysis.stability import judge, judge_together
        from analysis.steady_state import warm_up

        if self.wanted.warmup is not None:
            return self
        verdicts = []
        for policy, runs in zip(self.policies, policies, strict=True):
            rates = self._rates(policy)
            verdicts.append(judge_together([judge(run, rates) for run in runs]))
        found = warm_up(policies, verdicts)
        return replace(self, wanted=replace(self.wanted, warmup=0 if found is None else found.requests))

    @property
    def left_out(self) -> int:
        """First requests that the metrics leave out; known once the job is `warmed_up`."""
        assert self.wanted.warmup is not None
        return self.wanted.warmup

    @property
    def ruled_out(self) -> str | None:
        """Why nothing measured on these arrivals has an interval, None if it may have."""
        from analysis.ruled_out import ruled_out
        from analysis.stability import WorkRates

        traffic = self.traffic
        counted = min(map(len, traffic.workloads)) - self.left_out
        periods = WorkRates(requests_a_round=traffic.requests_a_round).periods(counted)
        return ruled_out(one_log=traffic.one_log, periods=periods, replications=len(traffic.workloads))

    def evaluate(self, policy: Policy, runs: Sequence[Run]) -> Outcome:
        """Numbers of the runs of one policy."""
        from analysis.outcome import evaluate

        return evaluate(
            runs,
            percentiles=self.wanted.percentiles,
            warmup=self.left_out,
            goodput=self.wanted.objectives,
            rates=self._rates(policy),
            prefill_chunk=self.wanted.audited_chunk,
            one_log=self.traffic.one_log,
        )

    def _rates(self, policy: Policy) -> WorkRates | None:
        from analysis.stability import WorkRates

        if self.traffic.users is not None:
            return None
        traffic = self.traffic
        return WorkRates(
            traffic.offered,
            self._sustained(policy),
            traffic.dispersion,
            traffic.requests_a_round,
            traffic.span,
        )

    def _sustained(self, policy: Policy) -> float | None:
        from analysis.stability import probed_work

        name = policy.describe()
        if name not in self.paces:
            self.paces[name] = probed_work(partial(self._serve_anew, policy), self.traffic.workloads[0])
        return self.paces[name]

    def _serve_anew(self, policy: Policy, workload: Workload) -> Run:
        return self.server.simulate(workload, self.rebuild()[self.policies.index(policy)])

    def summary(self, outcome: Outcome, replication: int) -> dict[str, Any]:
        """Content of ``summary.json`` for one replication, numbered from 0."""
        from analysis.books import prices_as_dict

        inputs = self.traffic.inputs
        books = self.books((outcome.runs[replication],))
        return {
            **self.header(),
            "replication": replication + 1,
            "input": inputs[replication] if inputs else None,
            **outcome.summaries[replication].to_dict(),
            "costs": {"prices": prices_as_dict(self.prices), **books.numbers()},
        }

    def money(self, outcomes: Sequence[Outcome]) -> tuple[list[Books], list[Lead]]:
        """Books of every policy, and the leads of all over the first."""
        from analysis.books import lead_over

        baseline, one_log = outcomes[0].runs, self.traffic.one_log
        books = [self.books(outcome.runs) for outcome in outcomes]
        leads = [lead_over(outcome.runs, baseline, self.prices, one_log=one_log) for outcome in outcomes[1:]]
        return books, leads

    def books(self, runs: tuple[Run, ...]) -> Books:
        """Books of the runs of one policy."""
        from analysis.books import keep_books

        if runs not in self.kept:
            self.kept[runs] = keep_books(runs, self.prices, one_log=self.traffic.one_log)
        return self.kept[runs]

    def estimates(self, outcome: Outcome) -> dict[str, Any]:
        """Content of ``replications.json``."""
        from analysis.books import prices_as_dict

        books = self.books(outcome.runs).to_dict()
        costs = {"prices": prices_as_dict(self.prices), **books}
        return {**self.header(), **outcome.to_dict(), "costs": costs, **self.precision([outcome])}

    def precision(self, outcomes: Sequence[Outcome]) -> dict[str, Any]:
        """What became of ``--until``, nothing without it."""
        from analysis.sequential import records

        return {"until": records(outcomes, self.wanted.targets)} if self.wanted.targets else {}

    def header(self) -> dict[str, Any]:
        """What every JSON file says first."""
        return {
            "version": project_version(),
            "seed": self.traffic.seed,
            "arguments": self.arguments,
        }

    def facts(self) -> dict[str, str]:
        """What was run, in words for a report."""
        seed, alpha = self.traffic.seed, self.server.alpha
        left_out = f"first {self.left_out:,} requests of each run" if self.left_out else "nothing"
        return {
            "Workload": "; ".join(self.traffic.facts),
            "Policies may know": self.traffic.known,
            "Seed": "none, the arrivals come from a file" if seed is None else str(seed),
            "Replications": str(len(self.traffic.workloads)),
            "Slots": str(self.server.slots),
            "Fairness budget alpha": "each policy's own"
            if alpha is None
            else self.time_unit.in_service(f"{alpha} tokens"),
            "Left out as warm-up": left_out,
            "Time": self.time_unit.plural,
            "Version": project_version(),
        }

    def write(
        self, folder: Path, outcome: Outcome, output: OutputOptions, timeline: Window | None
    ) -> list[str]:
        """Write the files of every run of one policy that ``output`` asks for; what to say of them.

        With several replications each has a folder of its own, and the estimates over all of them
        stand in ``replications.json``. What earlier runs left there goes at the end.
        """
        from analysis.leftovers import remove_runs
        from analysis.output import write_json, write_run
        from analysis.timeline import write_timeline

        single = len(outcome.runs) == 1
        folders = [
            folder if single else folder / f"{REPLICATION}{place + 1}" for place in range(len(outcome.runs))
        ]
        notes: list[str] = []
        written: list[Path] = []
        for place, (run, home) in enumerate(zip(outcome.runs, folders, strict=True)):
            if timeline is not None:
                written.append(home / TIMELINE)
                notes.append(write_timeline(written[-1], run, timeline, self.time_unit))
            summary = self.summary(outcome, place)
            written += write_run(home, run, summary, csv=output.csv, batches=output.record_batches)
        if not single:
            written.append(folder / ESTIMATES)
            write_json(written[-1], self.estimates(outcome))
        remove_runs(folder, but=written)
        return notes


def make_job(
    policies: Sequence[str],
    workload: WorkloadOptions,
    worker: WorkerOptions,
    prices: PriceOptions,
    statistics: StatisticsOptions,
    *,
    record_batches: bool,
    recorded: Mapping[str, object],
    reactive: bool = False,
) -> Job:
    """Parse all options; ``recorded`` joins them among the arguments of the JSON files.

    ``reactive`` says whether requests may come when a policy lets them.

    Raises
    ------
    ValueError
        If an option is refused.
    """
    from analysis.prices import check_tariffs
    from analysis.replications import ONE_LOG

    workload, worker = with_defaults(workload, worker)
    step_time = parse_step_time(worker.step_time)
    wanted = parse_wanted(statistics, workload)
    if wanted.targets:
        workload = _sequential(workload, worker)
    rebuild = partial(make_policies, policies, worker)
    built = rebuild()
    check_information(workload, worker)
    replicate = partial(_replicated, workload, worker, step_time, reactive=reactive)
    served = replicate(workload.replications)
    if wanted.targets and served.one_log:
        raise ValueError(f"--until={statistics.until!r}: cannot go with --requests, {ONE_LOG}")
    check_known(built, served.workloads)
    money = make_prices(prices)
    check_tariffs(money, served.workloads)
    _check_warmup(wanted.warmup, served)
    record_batches = record_batches or wanted.audited_chunk is not None
    return Job(
        policies=built,
        traffic=served,
        server=make_server(worker, step_time, record_batches=record_batches),
        wanted=wanted,
        time_unit=time_unit(served, step_time),
        prices=money,
        arguments=arguments(workload, worker, prices, statistics, **recorded),
        replicate=replicate,
        rebuild=rebuild,
    )


def _sequential(workload: WorkloadOptions, worker: WorkerOptions) -> WorkloadOptions:
    """The workload with as many replications as ``--until`` begins with."""
    from analysis.sequential import FEWEST

    check_sequential(worker)
    return replace(workload, replications=max(FEWEST, workload.replications))


def _replicated(
    workload: WorkloadOptions, worker: WorkerOptions, step_time: StepTime, count: int, *, reactive: bool
) -> Traffic:
    assert worker.slots is not None, "`with_defaults` knows them"
    asked = replace(workload, replications=count)
    return inform(traffic(asked, slots=worker.slots, step_time=step_time, reactive=reactive), worker)


def _check_warmup(warmup: int | None, served: Traffic) -> None:
    from analysis.latency import check_warmup

    if warmup is None and served.at_once:
        raise ValueError("--warmup=auto: a backlog has no steady state to warm up to")
    check_warmup(warmup or 0, min(map(len, served.workloads)))


def show_costs(job: Job, outcomes: Sequence[Outcome]) -> None:
    """Print the tables about money."""
    from analysis.cost_tables import cost_tables

    for table in cost_tables(*job.money(outcomes), job.prices, job.time_unit):
        show(table)


def timeline_window(output: OutputOptions) -> Window | None:
    """What ``--timeline`` shows, None without it.

    Raises
    ------
    ValueError
        If an option lacks another or the window is empty.
    """
    if not output.timeline:
        if output.timeline_window is not None:
            raise ValueError("--timeline-window: needs --timeline")
        return None
    if output.out is None:
        raise ValueError("--timeline: needs --out, the folder for timeline.json.gz")
    from analysis.timeline import Window

    return Window() if output.timeline_window is None else Window(*parse_window(output.timeline_window))
