"""Make a workload from a distribution of lengths and an arrival process."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from serving_sim import Workload
from serving_sim.arguments import check_kind, is_whole
from serving_sim.columns import IntArray
from workloads.arrivals import Arrivals
from workloads.lengths import Lengths
from workloads.parameters import check_count
from workloads.prompt_output import PromptOutput


class Stream(IntEnum):
    """The independent random streams of a workload; a new one goes to the end of the list."""

    LENGTHS = 0
    GAPS = 1
    PREDICTIONS = 2
    SHAPING = 3
    THINKING = 4
    CLIENTS = 5


def stream(seed: int | np.random.SeedSequence, part: Stream) -> np.random.Generator:
    """The random numbers of one part of the workload that ``seed`` stands for.

    These are the children that ``SeedSequence.spawn`` would give, but made without changing
    ``seed``, which counts its children: asking twice must give the same numbers.

    Raises
    ------
    ValueError
        If the seed is no whole number >= 0.
    """
    return np.random.default_rng(child(seed, part))


def child(seed: int | np.random.SeedSequence, place: int) -> np.random.SeedSequence:
    """What ``SeedSequence.spawn`` would give in that place, however often it is asked for.

    Raises
    ------
    ValueError
        If the seed is no whole number >= 0.
    """
    if not isinstance(seed, np.random.SeedSequence):
        if not (is_whole(seed) and seed >= 0):
            raise ValueError(f"seed={seed!r}: must be a whole number >= 0")
        seed = np.random.SeedSequence(seed)
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, place), pool_size=seed.pool_size)


def replication_seed(seed: int, replication: int) -> np.random.SeedSequence:
    """The seed of one replication, as the command line and studies take it.

    It does not depend on how many replications there are, and no two share a stream. With
    ``replication_seed(0, 1)`` Python makes the requests of ``serving-sim run --seed 0``; the seed 0 itself
    gives others.

    Parameters
    ----------
    seed : int
        What ``--seed`` says.
    replication : int
        From 1.

    Raises
    ------
    ValueError
        If the seed is no whole number >= 0 or the replication none >= 1.
    """
    check_count("replication", replication)
    return child(seed, replication - 1)


def client_seed(seed: int | np.random.SeedSequence, number: int) -> np.random.SeedSequence:
    """The seed of one client of several, apart from the streams of the workload as a whole.

    Raises
    ------
    ValueError
        If the seed is no whole number >= 0.
    """
    return child(child(seed, Stream.CLIENTS), number)


def make_workload(
    n: int, lengths: Lengths, arrivals: Arrivals, seed: int | np.random.SeedSequence
) -> Workload:
    """A random workload; the same arguments give the same bytes in any process.

    Lengths and gaps have streams of their own, so another arrival process or rate leaves the lengths
    as they are: two runs that differ in the arrivals alone are compared on the same requests. Where
    the distribution draws prompts and outputs, the workload tells them.

    Parameters
    ----------
    n : int
        Requests, >= 1.
    lengths : Lengths
        Distribution of the lengths in tokens.
    arrivals : Arrivals
        Process of the release times in time units.
    seed : int or SeedSequence
        Where all randomness comes from; `replication_seed` gives those of the command line.

    Raises
    ------
    TypeError
        If the distribution or the process is none, as where its text is given.
    ValueError
        If ``n`` is below 1 or the seed negative.
    """
    check_kind("lengths", lengths, Lengths, "a distribution, as parse_lengths gives it")
    check_kind("arrivals", arrivals, Arrivals, "a process, as parse_arrivals gives it")
    check_count("n", n)
    release = arrivals.releases(n, stream(seed, Stream.GAPS))
    return Workload(release, **token_columns(n, lengths, stream(seed, Stream.LENGTHS)))


def token_columns(n: int, lengths: Lengths, rng: np.random.Generator) -> dict[str, IntArray]:
    """Columns of a `Workload` that a distribution of lengths draws, each of shape (n,), in tokens.

    Prompts and outputs are there where it draws them.
    """
    if not isinstance(lengths, PromptOutput):
        return {"length": lengths.sample(n, rng)}
    prompt, output = lengths.parts(n, rng)
    return {"length": prompt + output, "prompt_tokens": prompt, "output_tokens": output}
