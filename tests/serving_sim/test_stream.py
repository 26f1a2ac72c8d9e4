"""Streams longer than memory: blocks in, finished blocks out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np
import pytest
from streams import Blocks, Kept, cut

from policies import FCFS, ISJL, SJF
from serving_sim import (
    Admission,
    Epoch,
    Policy,
    PolicyError,
    ReactiveSource,
    SourceError,
    StepTime,
    Workload,
    simulate,
)
from serving_sim.arrivals import Desk
from serving_sim.compiled.choice import Engine
from serving_sim.source import Process


def workload(count: int, seed: int = 3) -> Workload:
    rng = np.random.default_rng(seed)
    length = rng.geometric(1 / 10, count)
    prompt = rng.integers(0, length)
    return Workload(
        np.cumsum(rng.exponential(3.5, count)),
        length,
        prompt_tokens=prompt,
        output_tokens=length - prompt,
        tenant=[f"t{k % 3}" for k in range(count)],
    )


@pytest.mark.parametrize("policy", [FCFS(), SJF(), ISJL(alpha=8)], ids=lambda policy: policy.name)
@pytest.mark.parametrize("step_time", [StepTime(), StepTime(base=0.9, per_max_token=0.01)], ids=["1", "max"])
def test_blocks_and_a_sink_give_the_run_of_the_whole(policy: Policy, step_time: StepTime) -> None:
    whole = workload(2000)
    expected = simulate(whole, policy, slots=4, step_time=step_time)
    source = Blocks(cut(whole, 64))
    sink = Kept(source)
    run = simulate(source, policy, slots=4, step_time=step_time, sink=sink)

    for name in ("start", "first_token", "finish", "slot"):
        assert sink.column(name).tolist() == getattr(expected, name).tolist(), name
    tenants = np.concatenate(
        [served.requests.tenant for served in sink.served if served.requests.tenant is not None]
    )
    assert tenants.tolist() == whole.tenant.tolist()  # type: ignore[union-attr]
    for name in ("start", "first_token", "finish", "slot"):
        left = getattr(run, name)
        assert (left.shape, left.dtype) == ((0,), getattr(expected, name).dtype), name
    assert run.requests is None
    assert run.totals.residence == pytest.approx(expected.totals.residence, rel=1e-12)
    for name in ("requests", "tokens", "intrinsic", "steps", "externality", "gap_steps", "makespan"):
        assert getattr(run.totals, name) == getattr(expected.totals, name), name
    assert run.audit == expected.audit


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_finished_blocks_leave_memory_while_the_stream_goes_on(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine == "compiled":
        run = pytest.importorskip("serving_sim.compiled.run", exc_type=ImportError)
        monkeypatch.setattr(run, "FEWEST_READ", 1)
    source = Blocks(cut(workload(2000), 50))
    sink = Kept(source)
    simulate(source, FCFS(), slots=4, sink=sink, engine=engine)
    # a block is written when the one after the next is read, give or take the requests in the system
    assert sink.asked[0] <= 4
    assert all(asked - k <= 6 for k, asked in enumerate(sink.asked))


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_a_workload_that_went_to_a_sink_is_not_in_the_run(engine: Engine) -> None:
    if engine == "compiled":
        pytest.importorskip("numba", reason="the compiled engine is an optional extra")
    whole = workload(20)
    sink = Kept(Blocks([]))
    run = simulate(whole, FCFS(), slots=2, sink=sink, engine=engine)
    assert run.requests is None
    assert len(run.start) == 0
    assert sink.column("start").tolist() == simulate(whole, FCFS(), slots=2).start.tolist()


def test_blocks_without_a_sink_are_joined() -> None:
    whole = workload(300)
    expected = simulate(whole, SJF(), slots=3)
    run = simulate(Blocks(cut(whole, 7)), SJF(), slots=3)
    assert run.requests is not None
    assert run.requests.release.tolist() == whole.release.tolist()
    assert run.finish.tolist() == expected.finish.tolist()
    assert run.first_token.tolist() == expected.first_token.tolist()


def test_blocks_out_of_order_are_refused() -> None:
    late, early = Workload([5, 6], [1, 1]), Workload([4], [1])
    with pytest.raises(
        SourceError, match=r"^source Blocks: blocks must be sorted by release, found 4\.0 after 6\.0$"
    ):
        simulate(Blocks([late, early]), FCFS(), slots=1)
    with pytest.raises(SourceError, match=r"^source Blocks: the block from time 5\.0 on must be sorted"):
        simulate(Blocks([Workload([5, 4], [1, 1])]), FCFS(), slots=1)


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_an_empty_stream_is_refused(engine: Engine) -> None:
    if engine == "compiled":
        pytest.importorskip("numba", reason="an optional extra")
    with pytest.raises(SourceError, match=r"^source Blocks: at least one request is needed, found none$"):
        simulate(Blocks([]), FCFS(), slots=1, engine=engine)


def test_a_column_that_comes_and_goes_is_refused() -> None:
    with_tenant, without = Workload([0], [1], tenant=["a"]), Workload([1], [1])
    for sink in (None, Kept(Blocks([]))):
        with pytest.raises(SourceError) as caught:
            simulate(Blocks([with_tenant, without]), FCFS(), slots=1, sink=sink)
        assert str(caught.value) == (
            "source Blocks at time 1.0: all requests must have the columns of the first, release, length, "
            "tenant, found release, length"
        )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "blocks must give Workloads one by one, found None"),
        ([Workload([0], [1]), (0, 1)], "block 1 must be a Workload, found (0, 1)"),
        ([None], "block 0 must be a Workload, found None"),
    ],
)
def test_what_is_no_block_is_refused(given: object, message: str) -> None:
    class Own:
        def blocks(self) -> Iterator[Workload]:
            return cast("Iterator[Workload]", given)

    with pytest.raises(SourceError) as caught:
        simulate(Own(), FCFS(), slots=1)
    assert str(caught.value) == f"source Own: {message}"


def test_a_reactive_source_may_stream_to_a_sink() -> None:
    class Turns(ReactiveSource):
        def process(self, desk: Desk) -> Process:
            for turn in range(40):
                yield desk.finished(desk.release(1 + turn % 3))

    sink = Kept(Blocks([]))
    run = simulate(Turns(), FCFS(), slots=2, sink=sink)
    assert [served.start.tolist() for served in sink.served][:4] == [[0.0], [1.0], [3.0], [6.0]]
    assert run.totals.requests == len(sink.served) == 40


def test_a_request_that_went_to_the_sink_can_no_longer_be_asked_for() -> None:
    class Late(ReactiveSource):
        def process(self, desk: Desk) -> Process:
            first = desk.release(1)
            yield desk.finished(first)
            yield desk.finished(desk.release(1))
            desk.release(1)
            yield desk.finished(first)

    with pytest.raises(
        SourceError, match=r"^source Late at time 2\.0: request 0 has left memory for the sink$"
    ):
        simulate(Late(), FCFS(), slots=1, sink=Kept(Blocks([])))


def test_a_request_that_has_finished_has_no_bounds_any_more_with_a_sink_or_without() -> None:
    class Remembers(FCFS):
        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            epoch.interval(0)
            return super().decide(epoch)

    stream = Blocks([Workload([at], [1]) for at in (0.0, 1.0, 2.0, 3.0)])
    for sink in (None, Kept(stream)):
        with pytest.raises(PolicyError, match=r"^policy fcfs at time 1\.0: request 0 has finished, "):
            simulate(stream, Remembers(), slots=1, sink=sink)


def test_blocks_may_not_share_a_request_id() -> None:
    parts = [Workload([0], [1], request_id=["a"]), Workload([1], [1], request_id=["a"])]
    with pytest.raises(ValueError, match=r"^request_id\[1\]='a': must be unique, row 0 has it too$"):
        simulate(Blocks(parts), FCFS(), slots=1)
