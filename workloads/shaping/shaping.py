"""Apply shapings one after the other and count what each did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from serving_sim import Workload
from serving_sim.how_many import how_many
from workloads.generate import Stream, stream
from workloads.row_names import taken


@dataclass(frozen=True)
class Shaped:
    """What a shaping made of a workload.

    Attributes
    ----------
    workload : Workload
        The result.
    dropped : mapping of str to int
        Requests left out, by reason.
    note : str
        What else a reader of the results should know, empty where nothing.
    """

    workload: Workload
    dropped: Mapping[str, int] = field(default_factory=dict)
    note: str = ""


class Shaping(Protocol):
    """One change to a workload."""

    @property
    def random(self) -> bool:
        """Whether the result depends on the seed."""

    def describe(self) -> str:
        """What it does, in a few words."""

    def apply(self, workload: Workload, rng: np.random.Generator) -> Shaped:
        """The changed workload.

        Raises
        ------
        ValueError
            If the workload does not lend itself to it.
        """


@dataclass(frozen=True)
class Step:
    """What one shaping did: ``before == after + sum(dropped.values())`` unless it repeats requests.

    Attributes
    ----------
    name : str
        What was done, in a few words.
    before, after : int
        Requests.
    dropped : mapping of str to int
        Requests left out, by reason.
    note : str
        What else happened, empty where nothing.
    """

    name: str
    before: int
    after: int
    dropped: Mapping[str, int]
    note: str


def shape(
    workload: Workload, shapings: Sequence[Shaping], seed: int | np.random.SeedSequence
) -> tuple[Workload, list[Step]]:
    """Apply shapings in the given order.

    Parameters
    ----------
    workload : Workload
        Where to start; it stays as it is.
    shapings : sequence of Shaping
        What to do.
    seed : int or SeedSequence
        Where all randomness comes from. Each shaping has a stream of its own by its place.

    Returns
    -------
    workload : Workload
        The result of the last shaping.
    steps : list of Step
        What each did.

    Raises
    ------
    ValueError
        If a shaping cannot be applied or leaves no request.
    """
    steps = []
    streams = stream(seed, Stream.SHAPING).spawn(len(shapings))
    for shaping, rng in zip(shapings, streams, strict=True):
        shaped = shaping.apply(workload, rng)
        before, workload = len(workload), shaped.workload
        steps.append(Step(shaping.describe(), before, len(workload), shaped.dropped, shaped.note))
    return workload, steps


def kept(workload: Workload, rows: NDArray[np.bool_], by: str) -> Workload:
    """The requests of the given rows; ``by`` says in an error what left none.

    Raises
    ------
    ValueError
        If no row is kept.
    """
    if not rows.any():
        raise ValueError(f"{by}: leaves none of the {how_many(len(workload), 'request')}")
    return taken(workload, np.flatnonzero(rows))


def counted(reasons: Mapping[str, int]) -> dict[str, int]:
    """Counts by reason, without the reasons that met nobody."""
    return {reason: int(count) for reason, count in reasons.items() if count}


def in_arrival_order(workload: Workload) -> Workload:
    """The requests sorted by release, equal releases in input order."""
    return workload if workload.arrival_order is None else taken(workload, workload.arrival_order)
