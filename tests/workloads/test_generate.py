"""Random workloads: streams that do not disturb each other, and the same bytes everywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import pytest
from fresh_process import python
from refusal import refusal

from serving_sim import Workload
from serving_sim.columns import IntArray
from workloads import PRESETS, Client, Superposition, get_preset, make_workload, parse_arrivals, parse_lengths
from workloads.generate import Stream, replication_seed, stream
from workloads.servegen.clients import ServeGenClient, Window
from workloads.servegen.mix import client_workload
from workloads.shaping import Thin, shape
from workloads.shaping.shaping import Shaped

LENGTHS = parse_lengths("geometric:mean=20")


@pytest.mark.parametrize("text", ["backlog", "poisson:rate=9", "gamma:rate=1,burstiness=0.2"])
def test_arrivals_leave_the_lengths_alone(text: str) -> None:
    one = make_workload(500, LENGTHS, parse_arrivals("poisson:rate=1"), seed=3)
    other = make_workload(500, LENGTHS, parse_arrivals(text), seed=3)
    np.testing.assert_array_equal(one.length, other.length)
    assert not np.array_equal(one.release, other.release)


def test_lengths_leave_the_arrivals_alone() -> None:
    arrivals = parse_arrivals("poisson:rate=1")
    one = make_workload(500, LENGTHS, arrivals, seed=3)
    other = make_workload(500, parse_lengths("lmsys-like"), arrivals, seed=3)
    np.testing.assert_array_equal(one.release, other.release)


def test_a_longer_workload_starts_like_a_shorter_one() -> None:
    arrivals = parse_arrivals("gamma:rate=1,burstiness=0.5")
    short, long = (make_workload(n, LENGTHS, arrivals, seed=3) for n in (50, 500))
    np.testing.assert_array_equal(short.release, long.release[:50])
    np.testing.assert_array_equal(short.length, long.length[:50])


def test_streams_are_the_spawned_children_of_the_seed() -> None:
    children = np.random.SeedSequence(7).spawn(len(Stream))
    for part, child in zip(Stream, children, strict=True):
        expected = np.random.default_rng(child).random(4)
        np.testing.assert_array_equal(stream(7, part).random(4), expected)


@dataclass(frozen=True)
class Keys:
    """Lengths that note from which stream they are drawn."""

    seen: list[tuple[int, ...]]
    mean: float = 1.0

    def sample(self, n: int, rng: np.random.Generator) -> IntArray:
        self.seen.append(_key(rng))
        return np.ones(n, dtype=np.int64)


@dataclass(frozen=True)
class Noted:
    """A shaping that changes nothing and notes its stream."""

    seen: list[tuple[int, ...]]
    random: ClassVar[bool] = True

    def describe(self) -> str:
        return "noted"

    def apply(self, workload: Workload, rng: np.random.Generator) -> Shaped:
        self.seen.append(_key(rng))
        return Shaped(workload)


def _key(rng: np.random.Generator) -> tuple[int, ...]:
    seed = rng.bit_generator.seed_seq
    assert isinstance(seed, np.random.SeedSequence)
    return tuple(seed.spawn_key)


def _superposed(lengths: Keys) -> Workload:
    return Superposition(Client(str(number), 1.0, lengths) for number in range(8)).workload(200, 5)


def _sent(lengths: Keys) -> Workload:
    table = cast("Any", lengths)
    window = Window(0, 600, 0.1, "Gamma", 1.0, prompt=table, output=table)
    clients = [ServeGenClient(number, (window,)) for number in range(8)]
    return client_workload(clients, begin=0, duration=600, time_unit=1, seed=5)


@pytest.mark.parametrize("made", [_superposed, _sent])
def test_no_two_parts_of_a_workload_share_a_stream(made: Callable[[Keys], Workload]) -> None:
    lengths, shapings, parts = Keys([]), Noted([]), [_key(stream(5, part)) for part in Stream]
    shape(made(lengths), [shapings] * 8, 5)
    clients = set(lengths.seen)  # prompts and outputs of a window come from one stream, one after the other
    assert len(clients) == len(shapings.seen) == 8
    assert len(clients.union(shapings.seen, parts)) == 8 + 8 + len(Stream)


def test_thinning_clients_leaves_their_mean_length_as_it_is() -> None:
    lengths = parse_lengths("geometric:mean=50")
    clients = Superposition(Client(str(place), 1.0, lengths) for place in range(4)).workload(20_000, 0)
    thinned, _ = shape(clients, [Thin(0.5)], 0)
    last = thinned.length[thinned.tenant == "3"]  # some 2,500, of standard deviation 50
    assert np.mean(last) == pytest.approx(50, abs=5)


def test_seeds_of_replications_are_children_counted_from_1() -> None:
    first, second = np.random.SeedSequence(7).spawn(2)
    assert replication_seed(7, 2).spawn_key == second.spawn_key
    assert replication_seed(7, 1).generate_state(4).tolist() == first.generate_state(4).tolist()
    assert refusal(lambda: replication_seed(7, 0)) == "replication=0: must be a whole number >= 1"


def test_a_seed_sequence_is_not_used_up() -> None:
    replication = np.random.SeedSequence(7).spawn(3)[2]
    arrivals = parse_arrivals("poisson:rate=1")
    one, other = (make_workload(50, LENGTHS, arrivals, replication) for _ in range(2))
    np.testing.assert_array_equal(one.release, other.release)
    np.testing.assert_array_equal(one.length, other.length)
    assert not np.array_equal(one.length, make_workload(50, LENGTHS, arrivals, 7).length)


DIGEST = """
import hashlib
from workloads import PRESETS, make_workload, parse_arrivals, parse_lengths
digest = hashlib.sha256()
works = [preset.workload(5) for preset in PRESETS.values()]
for text in (
    "poisson:rate=1",
    "weibull:rate=1,shape=0.5",
    "hyperexponential:rate=1,scv=4",
    "mmpp:rate=1,burst=4,busy=0.2,cycle=50",
    "sinusoidal:rate=1,swing=0.9,period=50",
    "piecewise:rate=1,levels=1+4,duration=50",
    "geometric-batch:mean_size=3,rate=1",
):
    works.append(make_workload(999, parse_lengths("lognormal:mean=50,cv=2"), parse_arrivals(text), 5))
for work in works:
    digest.update(work.release.tobytes() + work.length.tobytes())
print(digest.hexdigest())
"""


def test_the_same_seed_gives_the_same_bytes_in_every_process() -> None:
    digests = [python(DIGEST) for _ in range(2)]
    assert len(digests[0]) == 65
    assert digests[0] == digests[1]


def test_refusals() -> None:
    arrivals = parse_arrivals("backlog")
    assert refusal(lambda: make_workload(0, LENGTHS, arrivals, 1)) == "n=0: must be a whole number >= 1"
    assert refusal(lambda: make_workload(1, LENGTHS, arrivals, -1)) == (
        "seed=-1: must be a whole number >= 0"
    )
    assert refusal(lambda: get_preset("dmeo")) == (
        "preset='dmeo': is unknown; did you mean 'demo'? known: demo, backlog, steady, "
        "printed-flaw-1, printed-flaw-2, printed-flaw-3"
    )


@pytest.mark.parametrize("name", PRESETS)
def test_presets_have_the_load_they_state(name: str) -> None:
    preset = get_preset(name)
    workload = preset.workload(1)
    assert len(workload) == preset.n
    if preset.load is None:
        assert workload.release.max() == 0
    else:
        offered = workload.total_length / (workload.release[-1] * preset.slots)
        # Bursts make the span of the arrivals vary by 1 / sqrt(number of bursts); 4 of these.
        bursts = len(np.unique(workload.release))
        assert offered == pytest.approx(preset.load, rel=4 / np.sqrt(bursts))
