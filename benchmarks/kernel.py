"""How far the compiled engine is from the least a compiled queue can cost, and which waiting queue it takes.

    python benchmarks/kernel.py
    python benchmarks/kernel.py --requests 100000

Three measurements on the workload of ``engine.py`` (32 slots, geometric lengths of mean 128, load 0.9):

1. first come, first served by the compiled engine, beside a bare event list compiled with numba that gives
   the same starts, finishes and slots and keeps no accounts. The bare list is timed alone; the engine
   once alone (the kernel) and once as `simulate` (with its records). At most 3 times the bare list;
2. the waiting queue by size: buckets under a bitmap (what the engine has) and a binary heap, both filled
   and emptied by the same mix of pushes and pops, for few and for many distinct sizes;
3. from how many requests on loading the compiled engine pays: processor seconds of a fresh process with
   either engine. ``choice.WORTH_COMPILING`` is that number.

Seconds are those of the processor, the least of several runs. Exit code 1 if a limit is passed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from time import process_time

import numpy as np
from event_list import event_list

from policies import make_policy
from serving_sim import StepTime, Workload, simulate
from serving_sim.arrivals import OpenStream
from serving_sim.compiled.heap import heap_pop, heap_push
from serving_sim.compiled.jit import Words, inner
from serving_sim.compiled.queue import SizeQueue, largest, make_queue, pop, push, with_room
from serving_sim.compiled.run import serve
from serving_sim.ledger import Ledger
from serving_sim.request import FloatArray, IntArray

SLOTS = 32
MEAN_LENGTH = 128
LOAD = 0.9
MOST_OVER_BARE = 3.0
REPEAT = 3
FEW, MANY = 1_000, 10**9
"""Largest size of the two mixes."""

_FRESH = """
import numpy, time
from policies import make_policy
from serving_sim import Workload, simulate
length = numpy.random.default_rng(0).geometric(1 / {mean}, {count})
release = numpy.arange({count}) * {gap}
begun = time.process_time()
simulate(Workload(release, length), make_policy({policy!r}), slots={slots}, engine={engine!r})
print(time.process_time() - begun)
"""


def main() -> int:
    """Print the three tables."""
    count = _options().requests
    kept = _against_bare_list(count)
    _queues(count)
    _fresh_processes()
    return int(not kept)


def workload(count: int) -> Workload:
    """Poisson arrivals."""
    lengths, gaps = map(np.random.default_rng, np.random.SeedSequence(0).spawn(2))
    return Workload(
        release=np.cumsum(gaps.exponential(MEAN_LENGTH / (SLOTS * LOAD), count)),
        length=lengths.geometric(1 / MEAN_LENGTH, count),
    )


def least(run: Callable[[], object]) -> float:
    """Processor seconds of the fastest of several runs."""
    taken = []
    for _ in range(REPEAT):
        begun = process_time()
        run()
        taken.append(process_time() - begun)
    return min(taken)


def _against_bare_list(count: int) -> bool:
    requests, policy = workload(count), make_policy("fcfs")

    def bare() -> tuple[FloatArray, FloatArray, IntArray]:
        return event_list(requests.release, requests.length, SLOTS)

    def kernel() -> None:
        ledger = Ledger("length", StepTime(), None)
        serve(
            ledger,
            OpenStream(requests.blocks(), ledger, "Workload"),
            policy,
            slots=SLOTS,
            step_time=StepTime(),
            slotted=False,
            alpha=None,
            record_batches=False,
        )

    run = simulate(requests, policy, slots=SLOTS, engine="compiled")
    for name, column in zip(("start", "finish", "slot"), bare(), strict=True):
        if not np.array_equal(getattr(run, name), column):
            raise SystemExit(f"{name} differs from the bare event list")
    seconds = {
        "bare event list": least(bare),
        "kernel": least(kernel),
        "simulate": least(lambda: simulate(requests, policy, slots=SLOTS, engine="compiled")),
        "simulate, isjl": least(
            lambda: simulate(requests, make_policy("isjl", alpha=100), slots=SLOTS, engine="compiled")
        ),
    }
    bare_seconds = seconds["bare event list"]
    print(f"| fcfs, {count:,} requests | requests/s | times the bare list |")
    print("| --- | ---: | ---: |")
    for name, taken in seconds.items():
        print(f"| {name} | {count / taken:,.0f} | {taken / bare_seconds:.2f} |", flush=True)
    return seconds["kernel"] <= MOST_OVER_BARE * bare_seconds


def _queues(count: int) -> None:
    print("\n| waiting queue, pushes and pops of the largest | distinct sizes | waiting | ns a request |")
    print("| --- | ---: | ---: | ---: |")
    rng = np.random.default_rng(0)
    for most in (FEW, MANY):
        size = rng.integers(1, most, count)
        distinct = len(np.unique(size))
        for waiting in (100, count // 2):

            def buckets(size: IntArray = size, waiting: int = waiting) -> object:
                return _mix_buckets(*with_room(make_queue(), size), waiting)

            def heap(size: IntArray = size, waiting: int = waiting) -> object:
                keys, values = np.empty(count, np.int64), np.empty(count, np.int64)
                return _mix_heap(keys, values, size, waiting)

            if buckets() != heap():
                raise SystemExit("the queues disagree on who is served")
            for name, run in (("buckets under a bitmap", buckets), ("binary heap", heap)):
                taken = least(run) / count * 1e9
                print(f"| {name} | {distinct:,} | {waiting:,} | {taken:.0f} |", flush=True)


def _fresh_processes() -> None:
    print("\n| policy | requests | simpy, s | compiled, s |")
    print("| --- | ---: | ---: | ---: |")
    for policy in ("fcfs", "sjf"):
        for count in (1_000, 30_000, 100_000, 300_000):
            simpy, compiled = (_fresh(count, policy, engine) for engine in ("simpy", "compiled"))
            print(f"| {policy} | {count:,} | {simpy:.2f} | {compiled:.2f} |", flush=True)


def _fresh(count: int, policy: str, engine: str) -> float:
    code = _FRESH.format(
        mean=MEAN_LENGTH,
        count=count,
        gap=MEAN_LENGTH / (SLOTS * LOAD),
        policy=policy,
        slots=SLOTS,
        engine=engine,
    )
    return min(
        float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout)  # noqa: S603
        for _ in range(REPEAT)
    )


@inner
def _mix_buckets(queue: SizeQueue, rank: Words, waiting: int) -> int:
    served = 0
    for request in range(len(rank)):
        push(queue, rank[request], request)
        if request >= waiting:
            served += request * pop(queue, largest(queue))
    return served


@inner
def _mix_heap(keys: Words, values: Words, size: Words, waiting: int) -> int:
    served, held = 0, 0
    for request in range(len(size)):
        # 30 bits of the size above 32 of the request: ties by arrival
        heap_push(keys, values, held, (-size[request] << 32) + request, request)
        held += 1
        if request >= waiting:
            served += request * values[0]
            heap_pop(keys, values, held)
            held -= 1
    return served


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=1_000_000)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
