"""How many requests a second the engines serve, beside what one would take in their place.

    python benchmarks/engine.py
    python benchmarks/engine.py --sizes 10000 100000 --loads 0.9
    python benchmarks/engine.py --whole

Poisson arrivals, geometric lengths of mean 128, step time 1; 32 slots and, for isjl, alpha 100 unless said
otherwise. ``--whole`` runs 10^4 to 10^7 requests, 8 to 512 slots and alphas of 0 to 1,000 in a quarter of an
hour: what is not compiled sits out the sizes at which a grid of so many cells would take hours.
Beside the engines run, on the same requests and in the same process,

- a bare event loop of the first-come-first-served queue: heapq, lists and nothing else. It gives the same
  starts, finishes and slots, to the bit, or the benchmark stops;
- plain SimPy: one process per request and a `simpy.Resource`, without the step grid;
- Ciw, where it is installed (it is no dependency), without the step grid;
- the event list of ``event_list.py``, compiled with numba: the limit for the compiled engine.

Slow ones sit out the larger sizes; nothing is extrapolated. Seconds are those of the processor, so that other
work on the machine counts little, and the least of several runs for what is compiled, of as many as begin
within two seconds; quote the ratios all the same. Nothing
is compiled or loaded while the clock runs. Events are counted: SimPy events, and turns of the bare loop;
``tests/test_benchmarks.py`` pins these counts. Memory is what a run allocates at its peak beyond the
workload, by tracemalloc, which sees Python's and numpy's memory; 150 bytes a request is the limit, from
100,000 requests on. Exit code 1 if a result differs or the limit is passed.
"""

from __future__ import annotations

import argparse
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from time import process_time
from typing import Any, Literal, NamedTuple

import numpy as np
from contenders import Schedule, bare_loop, ciw_queue, plain_simpy

from policies import make_policy
from serving_sim import Policy, Run, Workload, simulate

MEAN_LENGTH = 128
SLOTS = (32,)
ALPHAS = (100,)
LOADS = (0.5, 0.9, 1.2)
SIZES = (100_000, 1_000_000)
WHOLE: dict[str, list[Any]] = {
    "sizes": [10_000, 100_000, 1_000_000, 10_000_000],
    "slots": [8, 32, 128, 512],
    "alphas": [0, 10, 100, 1_000],
}
MOST_REQUESTS = {"Ciw": 100_000, "plain SimPy": 1_000_000, "bare loop": 1_000_000, "simpy": 1_000_000}
"""Beyond these a contender takes minutes, or gigabytes of Python objects."""
MOST_OF_MANY = {"Ciw": 10_000, "plain SimPy": 100_000, "bare loop": 1_000_000, "simpy": 100_000}
"""The same for a cell of the whole grid: a few seconds."""
REPEAT_COMPILED = 7
REPEAT_SECONDS = 2.0
MOST_BYTES = 150
"""Per request, over a whole run."""

Engine = Literal["simpy", "compiled"]
Cell = tuple[float, int, int]
"""Load, slots and requests."""


class Timing(NamedTuple):
    """Processor seconds of one run and what it counted, None where nobody counts."""

    seconds: float
    events: int | None


class Contender(NamedTuple):
    """One row of a cell: who, how often it runs, and a run that returns its result and its events."""

    who: str
    repeat: int
    run: Callable[[], tuple[object, int | None]]


def main() -> int:
    """Print the tables."""
    options = _options()
    timings: dict[Cell, dict[str, Timing]] = {}
    for name, package in (("Ciw", "ciw"), ("the compiled engine and the event list", "numba")):
        if find_spec(package) is None:
            print(f"{name}: left out, {package} is not installed")
    print("| load | slots | requests | who | requests/s | of bare loop | of plain SimPy | events/request |")
    print("| ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: |")
    for load in options.loads:
        for slots in options.slots:
            for count in options.sizes:
                cell = load, slots, count
                requests = workload(count, load, slots)
                timings[cell] = _contest(requests, slots, options.alphas, options.most)
                for who in timings[cell]:
                    print(_row(timings[cell], who, cell), flush=True)
    _print_growth(timings)
    return int(not _memory_kept(min(options.sizes)))


def workload(count: int, load: float, slots: int = SLOTS[0]) -> Workload:
    """Poisson arrivals at the given fraction of what full slots can serve."""
    lengths, gaps = map(np.random.default_rng, np.random.SeedSequence(0).spawn(2))
    return Workload(
        release=np.cumsum(gaps.exponential(MEAN_LENGTH / (slots * load), count)),
        length=lengths.geometric(1 / MEAN_LENGTH, count),
    )


def serve(requests: Workload, policy: Policy, engine: Engine, slots: int = SLOTS[0]) -> Run:
    """One run of an engine."""
    return simulate(requests, policy, slots=slots, engine=engine)


def _policies(alphas: list[int]) -> dict[str, Policy]:
    return {
        "fcfs": make_policy("fcfs"),
        **{f"isjl alpha={alpha}": make_policy("isjl", alpha=alpha) for alpha in alphas},
    }


def _engines() -> tuple[Engine, ...]:
    return ("simpy",) if find_spec("numba") is None else ("simpy", "compiled")


def _contenders(
    requests: Workload, slots: int, alphas: list[int], most: dict[str, int]
) -> Iterator[Contender]:
    count = len(requests)

    def takes_part(who: str) -> bool:
        return count <= most.get(who, count)

    if takes_part("bare loop"):
        release, length = requests.release.tolist(), requests.length.tolist()
        yield Contender("bare loop", 1, lambda: _with_turns(bare_loop(release, length, slots)))
        if takes_part("plain SimPy"):
            yield Contender("plain SimPy", 1, lambda: plain_simpy(release, length, slots))
        if takes_part("Ciw") and find_spec("ciw") is not None:
            yield Contender("Ciw", 1, lambda: (ciw_queue(release, length, slots), None))
    if find_spec("numba") is not None:
        from event_list import event_list  # imports numba

        listed = partial(event_list, requests.release, requests.length, slots)
        yield Contender("numba event list", REPEAT_COMPILED, lambda: (listed(), None))
    for engine in _engines():
        if takes_part(engine):
            for name, policy in _policies(alphas).items():
                run = partial(_run, requests, policy, engine, slots)
                yield Contender(f"{engine} {name}", REPEAT_COMPILED if engine == "compiled" else 1, run)


def _with_turns(schedule: Schedule) -> tuple[Schedule, int]:
    return schedule, schedule.turns


def _run(requests: Workload, policy: Policy, engine: Engine, slots: int) -> tuple[Run, int]:
    run = serve(requests, policy, engine, slots)
    return run, run.totals.events


def _contest(requests: Workload, slots: int, alphas: list[int], most: dict[str, int]) -> dict[str, Timing]:
    for _ in map(_timed, _contenders(requests.take(np.arange(1)), slots, alphas, most)):
        pass  # compile, or load what was compiled, before the clock runs
    timings: dict[str, Timing] = {}
    bare: Schedule | None = None
    for contender in _contenders(requests, slots, alphas, most):
        timings[contender.who], result = _timed(contender)
        if isinstance(result, Schedule):
            bare = result
        elif bare is not None and contender.who.endswith("fcfs"):
            _check_same(contender.who, result, bare)
    return timings


def _timed(contender: Contender) -> tuple[Timing, object]:
    def once() -> tuple[float, object, int | None]:
        begun = process_time()
        result, events = contender.run()
        return process_time() - begun, result, events

    seconds, result, events = once()
    taken = [seconds]
    while len(taken) < contender.repeat and sum(taken) < REPEAT_SECONDS:
        taken.append(once()[0])
    return Timing(min(taken), events), result


def _check_same(who: str, run: object, bare: Schedule) -> None:
    for name in ("start", "finish", "slot"):
        if not np.array_equal(getattr(run, name), getattr(bare, name)):
            raise SystemExit(f"{who}: {name} differs from the bare loop")


def _row(timings: dict[str, Timing], who: str, cell: Cell) -> str:
    load, slots, count = cell
    own = timings[who]

    def over(other: str, digits: int) -> str:
        return f"{timings[other].seconds / own.seconds:.{digits}f}" if other in timings else "-"

    events = "-" if own.events is None else f"{own.events / count:.2f}"
    return (
        f"| {load:g} | {slots} | {count:,} | {who} | {count / own.seconds:,.0f} "
        f"| {over('bare loop', 2)} | {over('plain SimPy', 1)} | {events} |"
    )


def _print_growth(timings: dict[Cell, dict[str, Timing]]) -> None:
    print("\n| load | slots | requests | who | time over that of a tenth |")
    print("| ---: | ---: | ---: | --- | ---: |")
    for (load, slots, count), large in timings.items():
        small = timings.get((load, slots, count // 10), {})
        for who in large:
            if who in small:
                ratio = large[who].seconds / small[who].seconds
                print(f"| {load:g} | {slots} | {count:,} | {who} | {ratio:.1f} |")


def _memory_kept(count: int) -> bool:
    print(f"\nPeak memory in bytes a request, at most {MOST_BYTES}, {count:,} requests:\n")
    print("| who | " + " | ".join(f"load {load:g}" for load in LOADS) + " |")
    print("| --- |" + " ---: |" * len(LOADS))
    kept = True
    for engine in _engines():
        for name, policy in _policies(list(ALPHAS)).items():
            peaks = [_peak_bytes(workload(count, load), policy, engine) / count for load in LOADS]
            print(f"| {engine} {name} | " + " | ".join(f"{peak:.0f}" for peak in peaks) + " |")
            # what a run takes however short it is weighs on few requests
            kept = kept and (count < SIZES[0] or max(peaks) <= MOST_BYTES)
    return kept


def _peak_bytes(requests: Workload, policy: Policy, engine: Engine) -> int:
    serve(requests.take(np.arange(1)), policy, engine)
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    serve(requests, policy, engine)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak - before


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--loads", type=float, nargs="+", default=list(LOADS))
    parser.add_argument("--slots", type=int, nargs="+", default=list(SLOTS))
    parser.add_argument("--alphas", type=int, nargs="+", default=list(ALPHAS))
    parser.add_argument("--whole", action="store_true", help="all sizes, slots and alphas")
    options = parser.parse_args()
    options.most = MOST_REQUESTS
    if options.whole:
        vars(options).update(WHOLE, most=MOST_OF_MANY)
    return options


if __name__ == "__main__":
    raise SystemExit(main())
