"""Random small inputs, their neighbours and their reductions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from serving_sim import Workload
from workloads.adversaries import Instance

_FINEST = 60
"""Largest length that variations reach by refining the grid."""


class Row(NamedTuple):
    """One request: tokens, instant of release, and by how much its prediction is too large."""

    length: int
    release: int = 0
    slack: int = 0


@dataclass(frozen=True)
class Case:
    """An instance and, where lengths are uncertain, the upper predictions."""

    instance: Instance
    upper: tuple[int, ...] | None = None

    @property
    def workload(self) -> Workload:
        """The requests with their predictions."""
        return Workload(self.instance.workload.release, self.instance.lengths, upper=self.upper)

    @property
    def predicted(self) -> Instance:
        """The instance whose lengths are the upper predictions."""
        return self.instance if self.upper is None else replace(self.instance, lengths=self.upper)

    @property
    def rows(self) -> list[Row]:
        """The requests one by one."""
        lengths = self.instance.lengths
        releases = self.instance.releases or (0,) * len(lengths)
        upper = self.upper or lengths
        return [
            Row(length, release, bound - length)
            for length, release, bound in zip(lengths, releases, upper, strict=True)
        ]


@dataclass(frozen=True)
class Space:
    """Where cases come from; small enough to be solved to optimality.

    Attributes
    ----------
    slots : tuple of int
        Slot counts to draw from.
    most : int
        Largest number of requests.
    fewest : int
        Least number of requests that is drawn, if that is more than one beyond the slots; variations
        and reductions may have fewer.
    longest : int
        Largest length that is drawn.
    gamma : pair of float, or None
        Range of the budget as a share of the longest length, within [0, 1); None lets it be the
        longest length, which no gap can exceed.
    released : bool
        Whether requests arrive over time.
    slack : int or None
        Least error of an upper prediction in tokens; None where lengths are known.
    """

    slots: tuple[int, ...]
    most: int = 7
    fewest: int = 0
    longest: int = 24
    gamma: tuple[float, float] | None = (0.0, 1.0)
    released: bool = False
    slack: int | None = None

    def draw(self, rng: np.random.Generator) -> Case:
        """A random case with at least one request more than slots."""
        slots = int(rng.choice(self.slots))
        count = int(rng.integers(max(slots + 1, self.fewest), self.most + 1))
        longest = int(rng.integers(4, self.longest + 1))
        lengths = rng.integers(1, longest + 1, count)
        releases = (
            np.cumsum(rng.integers(0, longest // 2 + 1, count)) if self.released else np.zeros(count, int)
        )
        slack = (
            np.zeros(count, int) if self.slack is None else self.slack + rng.integers(0, longest // 2, count)
        )
        share = 1.0 if self.gamma is None else rng.uniform(*self.gamma)
        rows = [Row(*map(int, values)) for values in zip(lengths, releases, slack, strict=True)]
        return self._case(rows, slots, round(share * int(lengths.max())))

    def vary(self, rng: np.random.Generator, case: Case) -> Case:
        """A neighbour: some requests or the budget a little different, or one request more or less."""
        rows, alpha = case.rows, case.instance.alpha
        slots = case.instance.slots
        longest = max(row.length for row in rows)
        move = rng.integers(6)
        if move == 0:
            alpha += int(rng.integers(-2, 3))
        elif move == 1 and len(rows) < self.most:
            rows.append(Row(int(rng.integers(1, longest + 1))))
        elif move == 2 and len(rows) > slots + 1:
            del rows[int(rng.integers(len(rows)))]
        elif move == 3 and longest <= _FINEST // 2:  # the same shape on a finer grid
            rows = [Row(*(2 * value for value in row)) for row in rows]
            alpha *= 2
        else:
            stride = int(rng.integers(1, 4))
            for place in rng.integers(len(rows), size=int(rng.integers(1, 4))):
                shifts = rng.integers(-stride, stride + 1, size=3)
                rows[place] = Row(*(int(v + d) for v, d in zip(rows[place], shifts, strict=True)))
        return self._case(rows, slots, alpha)

    def smaller(self, case: Case) -> Iterator[Case]:
        """Simpler cases, the boldest reductions first."""
        rows, alpha, slots = case.rows, case.instance.alpha, case.instance.slots
        if len(rows) > slots + 1:
            for place in range(len(rows)):
                yield self._case(rows[:place] + rows[place + 1 :], slots, alpha)
            for first, second in combinations(range(len(rows)), 2):  # two requests of a pack as one
                rest = [row for place, row in enumerate(rows) if place not in (first, second)]
                joined = rows[first]._replace(length=rows[first].length + rows[second].length)
                yield self._case([joined, *rest], slots, alpha)
        for fewer in self.slots:
            if fewer < slots:
                yield self._case(rows, fewer, alpha)
        earliest = min(row.release for row in rows)
        yield self._case([row._replace(release=row.release - earliest) for row in rows], slots, alpha)
        for parts in (2, 4, 8, 16):  # the same shape on a coarser grid
            coarser = [Row(*(value - value // parts for value in row)) for row in rows]
            yield self._case(coarser, slots, alpha - alpha // parts)
        for halved in (True, False):
            for place, row in enumerate(rows):
                for field, value in row._asdict().items():
                    changed = row._replace(**{field: _less(value, halved=halved)})
                    yield self._case([*rows[:place], changed, *rows[place + 1 :]], slots, alpha)
            yield self._case(rows, slots, _less(alpha, halved=halved))
        yield self._case([row._replace(length=row.length - 1) for row in rows], slots, alpha - 1)

    def _case(self, rows: Sequence[Row], slots: int, alpha: int) -> Case:
        """The nearest case inside the space, requests in the order in which one would read them."""
        least_slack = self.slack or 0
        rows = sorted(
            (
                Row(
                    length=max(1, row.length),
                    release=max(0, row.release) if self.released else 0,
                    slack=max(least_slack, row.slack) if self.slack is not None else 0,
                )
                for row in rows
            ),
            key=lambda row: (row.release, -row.length, -row.slack),
        )
        lengths = tuple(row.length for row in rows)
        instance = Instance(
            lengths,
            slots,
            max(lengths) if self.gamma is None else max(0, min(alpha, max(lengths) - 1)),
            tuple(row.release for row in rows) if self.released else None,
        )
        upper = tuple(row.length + row.slack for row in rows)
        return Case(instance, None if self.slack is None else upper)


AROUND_HALF = Space(slots=(2,), most=5, fewest=5, longest=40, gamma=(0.4, 0.5))
"""Two slots and budgets about half of the longest length, where the guarantee of the paper is lowest.

With four requests the climbs end at its own worst case, which keeps the promise.
"""


def size(case: Case) -> tuple[int, int]:
    """What makes a case small: few requests, then small numbers."""
    return len(case.instance), sum(map(sum, case.rows)) + case.instance.alpha


def _less(value: int, *, halved: bool) -> int:
    return value // 2 if halved else value - 1
