"""How many requests a second the engines serve, beside what one would write by hand.

    python benchmarks/engine.py
    python benchmarks/engine.py --sizes 10000 100000 --loads 0.9

32 slots, geometric lengths of mean 128, Poisson arrivals, step time 1. Beside the engines run, on the same
requests and in the same process,

- a bare event loop of the first-come-first-served queue: heapq, lists and nothing else. It gives the same
  starts, finishes and slots, to the bit, or the benchmark stops;
- plain SimPy: one process per request and a `simpy.Resource`, without the step grid.

Seconds are those of the processor, so that other work on the machine counts little; quote the ratios all
the same. Events are counted: SimPy events, and turns of the bare loop. Memory is what a run allocates at its
peak beyond the workload, by tracemalloc, which sees Python's and numpy's memory; 150 bytes a request is the
limit. Exit code 1 if a result differs or the limit is passed.
"""

from __future__ import annotations

import argparse
import math
import tracemalloc
from collections.abc import Callable, Generator
from functools import partial
from heapq import heappop, heappush
from importlib.util import find_spec
from time import process_time
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import simpy

from policies import make_policy
from serving_sim import Policy, Run, Workload, simulate

SLOTS = 32
MEAN_LENGTH = 128
ALPHA = 100
LOADS = (0.5, 0.9, 1.2)
SIZES = (100_000, 1_000_000)
MOST_BYTES = 150
"""Per request, over a whole run."""

Engine = Literal["simpy", "compiled"]
Result = TypeVar("Result")


class Timing(NamedTuple):
    """Processor seconds of one run and what it counted."""

    seconds: float
    events: int


class Schedule(NamedTuple):
    """What the bare loop finds: a column each, and its turns."""

    start: list[float]
    finish: list[float]
    slot: list[int]
    turns: int


def main() -> int:
    """Print the tables."""
    options = _options()
    timings: dict[tuple[str, float, int], Timing] = {}
    print("| load | requests | who | requests/s | of bare loop | of plain SimPy | events/request |")
    print("| ---: | ---: | --- | ---: | ---: | ---: | ---: |")
    for load in options.loads:
        for count in options.sizes:
            for who, timing in _contest(workload(count, load)):
                timings[who, load, count] = timing
            for who in _runners():
                print(_row(timings, who, load, count), flush=True)
    _print_growth(timings, options.loads, options.sizes)
    return int(not _memory_kept(min(options.sizes)))


def workload(count: int, load: float) -> Workload:
    """Poisson arrivals at the given fraction of what full slots can serve."""
    lengths, gaps = map(np.random.default_rng, np.random.SeedSequence(0).spawn(2))
    return Workload(
        release=np.cumsum(gaps.exponential(MEAN_LENGTH / (SLOTS * load), count)),
        length=lengths.geometric(1 / MEAN_LENGTH, count),
    )


def bare_loop(release: list[float], length: list[int], slots: int) -> Schedule:
    """First come, first served on a step grid that restarts whenever the worker was empty."""
    count = len(length)
    start, finish, slot_of = [math.nan] * count, [math.nan] * count, [-1] * count
    free = list(range(slots))
    ends: list[int] = []  # last step * slots + slot
    step = joined = head = turns = 0
    now = anchor = 0.0
    anchor_step = 0
    release = [*release, math.inf]
    while head < count or ends:
        turns += 1
        if not ends and release[joined] > now:
            now = anchor = release[joined]
            anchor_step = step
        elif ends:
            target = ends[0] // slots
            if free and release[joined] < anchor + (target - anchor_step):
                ahead = math.ceil(release[joined] - anchor)
                while anchor + (ahead - 1) >= release[joined]:
                    ahead -= 1
                while anchor + ahead < release[joined]:
                    ahead += 1
                target = min(target, anchor_step + ahead)
            step = target
            now = anchor + (step - anchor_step)
            while ends and ends[0] // slots <= step:
                heappush(free, heappop(ends) % slots)
        while release[joined] <= now:
            joined += 1
        while head < joined and free:
            slot = heappop(free)
            end = step + length[head]
            start[head], slot_of[head] = now, slot
            finish[head] = anchor + (end - anchor_step)
            heappush(ends, end * slots + slot)
            head += 1
    return Schedule(start, finish, slot_of, turns)


def plain_simpy(release: list[float], length: list[int], slots: int) -> tuple[list[float], int]:
    """Finishes, and events scheduled, of one process per request on a resource."""
    environment = simpy.Environment()
    resource = simpy.Resource(environment, slots)
    finish = [math.nan] * len(length)

    def request(number: int) -> Generator[simpy.Event, Any, None]:
        yield environment.timeout(release[number])
        with resource.request() as turn:
            yield turn
            yield environment.timeout(length[number])
        finish[number] = environment.now

    for number in range(len(length)):
        environment.process(request(number))
    environment.run()
    return finish, next(environment._eid)  # noqa: SLF001  (SimPy counts events nowhere else)


def serve(requests: Workload, policy: Policy, engine: Engine) -> Run:
    """One run of an engine."""
    return simulate(requests, policy, slots=SLOTS, engine=engine)


def _policies() -> dict[str, Policy]:
    return {"fcfs": make_policy("fcfs"), "isjl": make_policy("isjl", alpha=ALPHA)}


def _engines() -> tuple[Engine, ...]:
    return ("simpy",) if find_spec("numba") is None else ("simpy", "compiled")


def _runners() -> list[str]:
    return [
        "bare loop",
        "plain SimPy",
        *(f"{engine} {name}" for engine in _engines() for name in _policies()),
    ]


def _contest(requests: Workload) -> list[tuple[str, Timing]]:
    release, length = requests.release.tolist(), requests.length.tolist()
    seconds, bare = _timed(partial(bare_loop, release, length, SLOTS))
    timings = [("bare loop", Timing(seconds, bare.turns))]
    seconds, (_, events) = _timed(partial(plain_simpy, release, length, SLOTS))
    timings.append(("plain SimPy", Timing(seconds, events)))
    for engine in _engines():
        for name, policy in _policies().items():
            serve(requests.take(np.arange(1)), policy, engine)  # compile or load before the clock runs
            seconds, run = _timed(partial(serve, requests, policy, engine))
            timings.append((f"{engine} {name}", Timing(seconds, run.totals.events)))
            if name == "fcfs":
                _check_same(run, bare)
    return timings


def _timed(run: Callable[[], Result]) -> tuple[float, Result]:
    begun = process_time()
    result = run()
    return process_time() - begun, result


def _check_same(run: Run, bare: Schedule) -> None:
    for name in ("start", "finish", "slot"):
        if not np.array_equal(getattr(run, name), getattr(bare, name)):
            raise SystemExit(f"{run.engine}: {name} differs from the bare loop")


def _row(timings: dict[tuple[str, float, int], Timing], who: str, load: float, count: int) -> str:
    own, bare, plain = (timings[name, load, count] for name in (who, "bare loop", "plain SimPy"))
    return (
        f"| {load:g} | {count:,} | {who} | {count / own.seconds:,.0f} | {bare.seconds / own.seconds:.2f} "
        f"| {plain.seconds / own.seconds:.1f} | {own.events / count:.2f} |"
    )


def _print_growth(
    timings: dict[tuple[str, float, int], Timing], loads: list[float], sizes: list[int]
) -> None:
    for small in sizes:
        if 10 * small in sizes:
            print(f"\nTime of {10 * small:,} requests over that of {small:,}:\n")
            print("| who | " + " | ".join(f"load {load:g}" for load in loads) + " |")
            print("| --- |" + " ---: |" * len(loads))
            for who in _runners():
                growth = [
                    timings[who, load, 10 * small].seconds / timings[who, load, small].seconds
                    for load in loads
                ]
                print(f"| {who} | " + " | ".join(f"{ratio:.1f}" for ratio in growth) + " |")


def _memory_kept(count: int) -> bool:
    print(f"\nPeak memory in bytes a request, at most {MOST_BYTES}, {count:,} requests:\n")
    print("| who | " + " | ".join(f"load {load:g}" for load in LOADS) + " |")
    print("| --- |" + " ---: |" * len(LOADS))
    kept = True
    for engine in _engines():
        for name, policy in _policies().items():
            peaks = [_peak_bytes(workload(count, load), policy, engine) / count for load in LOADS]
            print(f"| {engine} {name} | " + " | ".join(f"{peak:.0f}" for peak in peaks) + " |")
            kept = kept and max(peaks) <= MOST_BYTES
    return kept


def _peak_bytes(requests: Workload, policy: Policy, engine: Engine) -> int:
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
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
