"""How long the report of a comparison takes, held against the simulation it reports, and how large it is.

    python benchmarks/report.py
    python benchmarks/report.py --requests 1000000 --simpy

The demo's workload, slots and alpha under the default policies of ``compare``, one replication, each
measurement in a process of its own, which has loaded neither the engine nor what draws: so it is with the
command. Of three the one with the middle ratio counts. Seconds are those of the processor.

- Simulation: all that the command simulates. The runs are policies times replications, with batches recorded
  as ``compare --out`` does; the probes are a backlog for each policy, which tells what it can do at most. The
  engine is ``auto``, so compiled where numba is installed, and SimPy for the short probes; ``--simpy``
  measures the runs by the other too.
- Report: drawing all pictures, encoding them, and the page, up to the HTML file on disk. Statistics and books
  are not in it: ``compare`` prints them and writes them to its JSON files whether or not there is a report.
- Start: what has to be loaded for either once a process, numba and the kernel for the one, matplotlib and
  Jinja for the other.
- Picture files: the same pictures as PNG and SVG beside the page.

The ratio is report over simulation, each with its start; beside it the same without the probes. Asked for
are less than 5 MB and a ratio below 1. Exit code 1 where not.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import process_time
from typing import Literal, NamedTuple

from analysis.books import keep_books, lead_over
from analysis.cli import collect_rarely
from analysis.compare import compare
from analysis.experiments.pricing import COST, PRICE
from analysis.latency import served_requests
from analysis.outcome import evaluate
from analysis.output import write_text
from analysis.prices import Prices
from analysis.stability import probed_work
from analysis.time_unit import TimeUnit
from policies import parse_policy
from serving_sim import Run, Workload, simulate
from workloads import get_preset

POLICIES = ("fcfs", "sjf", "ljf", "isjl")
MOST_BYTES = 5_000_000
COMPILED_FROM = 100_000

Engine = Literal["auto", "simpy"]


class Cost(NamedTuple):
    """Seconds of simulation, report and picture files, and bytes of the report."""

    engine: str
    engine_start: float
    runs: float
    probes: float
    report_start: float
    report: float
    files: float
    size: int

    @property
    def ratio(self) -> float:
        """Report over simulation, each with its start."""
        return (self.report_start + self.report) / (self.engine_start + self.runs + self.probes)

    @property
    def ratio_to_runs(self) -> float:
        """The same without the probes."""
        return (self.report_start + self.report) / (self.engine_start + self.runs)


def main() -> int:
    """Print a row an engine."""
    options = _options()
    titles = (
        "requests | start, s | runs, s | probes, s | start, s | report, s | ratio | to runs | MB | files, s"
    )
    print(f"| engine | {titles} |")
    print("| --- |" + 10 * " ---: |")
    engines: tuple[Engine, ...] = ("auto", "simpy") if options.simpy else ("auto",)
    within = [_within(_typical(options.requests, engine), options.requests) for engine in engines]
    return int(not all(within))


def measure(requests: int, engine: Engine) -> Cost:
    """Serve, and write the report."""
    collect_rarely()  # as the command does
    engine_start = _loading(engine)
    begin = process_time()
    runs = _runs(requests, engine)
    served = process_time()
    _probe(runs)
    probed = process_time()
    comparison = compare([evaluate([run]) for run in runs])
    prices = Prices(COST, PRICE)
    books = [keep_books([run], prices) for run in runs]
    leads = [lead_over([run], runs[:1], prices) for run in runs[1:]]
    with tempfile.TemporaryDirectory() as folder:
        first = process_time()
        from analysis.report import comparison_page, comparison_pictures, cost_section, fairness_section

        loaded = process_time()
        unit = TimeUnit("step")
        pictures = comparison_pictures(comparison, time_unit=unit, warmup=0)
        sections = [fairness_section(comparison.outcomes, unit), cost_section(books, leads, prices, unit)]
        page = comparison_page(comparison, pictures, sections=sections, facts={}, time_unit=unit)
        write_text(Path(folder) / "report.html", page)
        written = process_time()
        for picture in (*pictures, *(each for section in sections for each in section.pictures)):
            picture.save(Path(folder))
        return Cost(
            engine=runs[0].engine,
            engine_start=engine_start,
            runs=served - begin,
            probes=probed - served,
            report_start=loaded - first,
            report=written - loaded,
            files=process_time() - written,
            size=len(page.encode()),
        )


def _loading(engine: Engine) -> float:
    """What the first runs that the engine plays take longer than the same again."""
    if engine == "simpy":
        return 0.0
    first, again = (_seconds(COMPILED_FROM, engine) for _ in range(2))
    return max(0.0, first - again)


def _seconds(requests: int, engine: Engine) -> float:
    begin = process_time()
    _runs(requests, engine)
    return process_time() - begin


def _runs(requests: int, engine: Engine) -> list[Run]:
    workload = replace(get_preset("demo"), n=requests).workload(0)
    return [_serve(name, workload, engine=engine, record_batches=True) for name in POLICIES]


def _probe(runs: Sequence[Run]) -> None:
    for name, run in zip(POLICIES, runs, strict=True):
        probed_work(partial(_serve, name), served_requests(run).requests)


def _serve(name: str, workload: Workload, engine: Engine = "auto", *, record_batches: bool = False) -> Run:
    preset = get_preset("demo")
    policy = parse_policy(name, defaults={"alpha": preset.alpha})
    return simulate(
        workload, policy, slots=preset.slots, alpha=preset.alpha, engine=engine, record_batches=record_batches
    )


def _typical(requests: int, engine: Engine) -> Cost:
    """The middle of three: fresh memory can take as long to get as the runs in it."""
    return sorted((_alone(requests, engine) for _ in range(3)), key=lambda cost: cost.ratio)[1]


def _alone(requests: int, engine: Engine) -> Cost:
    # a spawned process has imported nothing that others have
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as fresh:
        return fresh.submit(measure, requests, engine).result()


def _within(cost: Cost, requests: int) -> bool:
    seconds = (cost.engine_start, cost.runs, cost.probes, cost.report_start, cost.report)
    cells = (*seconds, cost.ratio, cost.ratio_to_runs, cost.size / 1e6, cost.files)
    print(f"| {cost.engine} | {requests:,} | {' | '.join(f'{cell:.2f}' for cell in cells)} |", flush=True)
    return cost.size < MOST_BYTES and cost.ratio < 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--simpy", action="store_true", help="measure the SimPy engine too")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
