"""The offline problem: whole lengths and releases, slots, fairness budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import ArrayLike

from policies.parameters import check_alpha, check_count
from serving_sim.request import Workload

MOST_REQUESTS = 10_000
"""Far beyond what can be proved; the program has a constraint for each pair."""


@dataclass(frozen=True)
class Instance:
    """Requests to schedule offline, everything in steps.

    Attributes
    ----------
    lengths, releases : tuple of int
        One value a request.
    slots : int
        Requests that may run at the same time (the paper's B).
    alpha : int
        Requests that overlap start at most this far apart; at most the longest length, beyond which
        nothing overlaps.
    """

    lengths: tuple[int, ...]
    releases: tuple[int, ...]
    slots: int
    alpha: int

    @classmethod
    def of(
        cls, lengths: ArrayLike, slots: int, alpha: int | None, releases: ArrayLike | None = None
    ) -> Instance:
        """Check the values at the border.

        Raises
        ------
        ValueError
            If a value breaks a rule; the message names it.
        """
        if releases is None:
            releases = np.zeros(np.shape(lengths))
        workload = Workload(releases, lengths)
        fractional = workload.release != np.floor(workload.release)
        if fractional.any():
            row = int(np.argmax(fractional))
            raise ValueError(
                f"release[{row}]={workload.release[row].item()!r}: must be a whole number of steps"
            )
        if len(workload) > MOST_REQUESTS:
            raise ValueError(f"lengths: at most {MOST_REQUESTS:,} requests are fine, found {len(workload):,}")
        longest = int(workload.length.max())
        return cls(
            tuple(workload.length.tolist()),
            tuple(int(release) for release in workload.release),
            check_count("slots", slots),
            longest if alpha is None else min(check_alpha(alpha), longest),
        )

    def __len__(self) -> int:
        return len(self.lengths)

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Every two requests, in input order."""
        return combinations(range(len(self)), 2)

    def twins(self) -> Iterator[tuple[int, int]]:
        """Requests equal in length and release, each with the next one like it."""
        for alike in self._alike():
            yield from pairwise(alike)

    def in_twin_order(self, start: tuple[int, ...]) -> tuple[int, ...]:
        """The same schedule with equal requests renamed so that they start in input order."""
        ordered = list(start)
        for alike in self._alike():
            for request, begin in zip(alike, sorted(start[i] for i in alike), strict=True):
                ordered[request] = begin
        return tuple(ordered)

    def makespan(self, start: tuple[int, ...]) -> int:
        """Last end of a schedule given by its starts."""
        return max(begin + length for begin, length in zip(start, self.lengths, strict=True))

    def _alike(self) -> Iterable[list[int]]:
        kinds: dict[tuple[int, int], list[int]] = {}
        for request, kind in enumerate(zip(self.lengths, self.releases, strict=True)):
            kinds.setdefault(kind, []).append(request)
        return kinds.values()
