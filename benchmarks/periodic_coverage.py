"""Do 95 % intervals hold the value of the long run where the rate of the arrivals has a period.

    python benchmarks/periodic_coverage.py                     # as in docs/explanation/intervals.md
    python benchmarks/periodic_coverage.py --arrivals piecewise:levels=1+3 --load 0.6 --requests 50000

Medians of the waits of first come, first served on one slot, geometric lengths of mean 10. For each number of
periods many runs of equally many requests go through so many of them; intervals are made from each run
alone, and from groups of runs as replications, and are counted whether or not `analysis.ruled_out` lets them
pass. The value of the long run is that of long runs over whole periods, whose standard error is printed.
Where they are let pass all but chance must hold it: exit code 1 where fewer than 95 % less four standard
errors do.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass

import numpy as np

from analysis.estimate import Estimate
from analysis.latency import arrival_series, served_requests
from analysis.metric_memory import memory_of_metric
from analysis.replications import interval
from analysis.ruled_out import ruled_out
from analysis.sectioning import estimates
from analysis.stability import WorkRates, judge
from analysis.statistic import quantiles
from policies import FCFS
from serving_sim import Run, simulate
from workloads import make_workload, parse_arrivals, parse_lengths, replication_seed
from workloads.arrivals import Arrivals

MEAN_LENGTH = 10
PERIODS = (0.5, 1.0, 2.0, 5.0, 10.0, 10.5, 20.0, 20.5, 50.0)
LONG = 1_000_000
"""Requests, about, of each of the long runs."""

WIDEST = 4
"""Standard errors by which a share may miss 95 %: once in 30,000 times by chance."""


@dataclass(frozen=True)
class System:
    """Arrivals at a load in whole periods of ``period`` time units."""

    process: str
    load: float
    period: float

    @property
    def rate(self) -> float:
        """Requests per time unit."""
        return self.load / MEAN_LENGTH

    def run(self, requests: int, seed: np.random.SeedSequence) -> Run:
        """First come, first served on one slot."""
        lengths = parse_lengths(f"geometric:mean={MEAN_LENGTH}")
        workload = make_workload(requests, lengths, self._arrivals, seed)
        return simulate(workload, FCFS(), slots=1, engine="compiled")

    def long_run(self, runs: int) -> tuple[float, float]:
        """Median of the waits and its standard error, over runs of whole periods."""
        whole = max(1, round(LONG / (self.rate * self.period))) * self.period
        count = self.rate * whole
        medians = []
        for place in range(1, runs + 1):
            # eight standard deviations more than come on average, so that they reach beyond this time
            run = self.run(math.ceil(count + 8 * math.sqrt(count)), replication_seed(1, place))
            within = served_requests(run).requests.release < whole
            medians.append(float(np.median(arrival_series(run, "queue_time")[within])))
        return float(np.mean(medians)), float(np.std(medians, ddof=1)) / math.sqrt(runs)

    @property
    def _arrivals(self) -> Arrivals:
        levels = self.process.partition("levels=")[2].count("+") + 1
        key = "period" if levels == 1 else "duration"
        return parse_arrivals(f"{self.process},{key}={self.period / levels!r}", rate=self.rate)


def main() -> int:
    """Print one row a number of periods."""
    options = _options()
    print(f"{options.runs} runs of {options.requests:,} requests, in groups of {options.replications}")
    print("| periods | median, long run | let pass | one run | let pass | over replications |")
    print("| --- " * 6 + "|")
    failed = False
    for periods in options.periods:
        span = options.requests * MEAN_LENGTH / options.load
        system = System(options.arrivals, options.load, span / periods)
        truth, error = system.long_run(options.long_runs)
        alone, together = _intervals(system, options)
        cells = []
        for found, replications in ((alone, 1), (together, options.replications)):
            passes = ruled_out(periods=periods, replications=replications) is None
            held = [
                each.low <= truth <= each.high
                for each in found
                if each.low is not None and each.high is not None
            ]
            cells += ["yes" if passes else "no", f"{sum(held)} of {len(held)}"]
            least = 0.95 - WIDEST * math.sqrt(0.95 * 0.05 / max(1, len(held)))
            failed |= passes and sum(held) < least * len(held)
        print(f"| {periods:g} | {truth:.3f} ± {error:.3f} | {' | '.join(cells)} |", flush=True)
    return int(failed)


def _intervals(system: System, options: argparse.Namespace) -> tuple[list[Estimate], list[Estimate]]:
    """From each run, and from each group of them."""
    (median,) = quantiles([50])
    rates = WorkRates(system.load, dispersion=1.0)
    alone, medians = [], []
    for place in range(1, options.runs + 1):
        run = system.run(options.requests, replication_seed(0, place))
        waits = arrival_series(run, "queue_time")
        memory = memory_of_metric("queue_time", [run], judge(run, rates))
        alone.append(estimates([median], waits, memory=memory)[median.name])
        medians.append(float(np.median(waits)))
    size = options.replications
    firsts = range(0, options.runs - size + 1, size)
    return alone, [interval(medians[first : first + size]) for first in firsts]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--arrivals", default="sinusoidal:swing=0.6", help="without rate and period")
    parser.add_argument("--load", type=float, default=0.5)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--periods", type=float, nargs="+", default=PERIODS)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--replications", type=int, default=10)
    parser.add_argument("--long-runs", type=int, default=16)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
