"""Packable residual prediction error (Yao and Zhou, section 3.4): exact, or in a proven bracket.

Requests with lengths o and slacks ``e = upper - o`` are partitioned into groups of at most B whose
lengths lie within alpha of each other; a group costs its largest slack. Asked for is the cheapest
partition. Requests without slack never cost anything and are left out, and lengths more than alpha
apart split the requests into parts that have nothing to do with each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from serving_sim.request import IntArray, exact_sum

STATES = 2**14
"""Largest number of states of the dynamic program: 14 requests of different lengths, or more alike."""

_LEVELS = 128
"""Slack levels the lower bound looks at; with no more distinct slacks it uses all of them."""

_FEW = 512
"""Requests up to which the greedy partition is taken; its time grows with their square."""

_SHIFTS = 8
"""Places of the first window that are tried."""

Counts = tuple[int, ...]


@dataclass(frozen=True)
class PackableError:
    """What is known of the cheapest partition.

    Attributes
    ----------
    lower, upper : int
        Proven bounds on its cost in tokens; ``upper`` is the cost of a partition that was found.
    """

    lower: int
    upper: int

    @property
    def exact(self) -> bool:
        """Whether the cost is known."""
        return self.lower == self.upper


def packable_error(length: ArrayLike, upper: ArrayLike, slots: int, alpha: int) -> PackableError:
    """The packable residual prediction error of requests with upper predictions.

    Parameters
    ----------
    length, upper : array_like of int, shape (n,)
        True lengths and upper predictions in tokens, ``length <= upper``.
    slots : int
        Largest group (the paper's B), >= 1.
    alpha : int
        Largest difference of lengths in a group, in tokens, >= 0.

    Returns
    -------
    PackableError
        Exact where bounds meet or the dynamic program has few enough states.

    Notes
    -----
    Lower bound: at least N(x) groups have a slack above x, with N(x) the fewest groups that cover
    the requests with such a slack; the cost is the integral of N over x. N is what the sweep gives
    that opens a group at the shortest uncovered length and fills it upwards. Complexity: O(n log n)
    for each of at most 128 levels and 8 partitions into windows.

    Upper bound: up to 512 requests, the largest slack left leads a group of the next ones that fit; of
    more, those within a window of lengths are packed in the order of their slacks.
    """
    sizes = np.asarray(length, dtype=np.int64)
    slack = np.asarray(upper, dtype=np.int64) - sizes
    rows = np.flatnonzero(slack)
    rows = rows[np.lexsort((-slack[rows], sizes[rows]))]
    sizes, slack = sizes[rows], slack[rows]
    alpha = min(alpha, int(sizes[-1] - sizes[0])) if len(sizes) else 0  # more is as good, and fits in int64
    starts = [0, *(np.flatnonzero(np.diff(sizes) > alpha) + 1).tolist(), len(sizes)]
    parts = [_Part(sizes[i:j], slack[i:j], slots, alpha).solve() for i, j in pairwise(starts) if i < j]
    return PackableError(sum(part.lower for part in parts), sum(part.upper for part in parts))


@dataclass(frozen=True, eq=False)
class _Part:
    """Requests by length, those of one length from the largest slack on."""

    length: IntArray
    slack: IntArray
    slots: int
    alpha: int

    def solve(self) -> PackableError:
        found = self.greedy() if len(self.length) <= _FEW else self.windows()
        bracket = PackableError(self.lower_bound(), found)
        if bracket.exact:
            return bracket
        lengths, counts = np.unique(self.length, return_counts=True)
        if prod((counts + 1).tolist()) > STATES:
            return bracket
        heaps = [column.tolist() for column in np.split(self.slack, np.cumsum(counts)[:-1])]
        cost = _Program(lengths.tolist(), heaps, self.slots, self.alpha).least_cost()
        return PackableError(cost, cost)

    def lower_bound(self) -> int:
        levels = np.unique(self.slack)
        if len(levels) > _LEVELS:  # fewer levels make the bound smaller, since N never rises
            levels = levels[np.linspace(0, len(levels) - 1, _LEVELS).astype(int)]
        widths = np.diff(levels, prepend=0).tolist()
        covers = [self._fewest_groups(self.slack >= level) for level in levels]
        return sum(width * groups for width, groups in zip(widths, covers, strict=True))

    def _fewest_groups(self, rows: NDArray[np.bool_]) -> int:
        length = self.length[rows]
        beyond = np.searchsorted(length, length + self.alpha, side="right")
        following = np.minimum(beyond, np.arange(self.slots, self.slots + len(length))).tolist()
        groups = row = 0
        while row < len(following):
            row = following[row]
            groups += 1
        return groups

    def greedy(self) -> int:
        """Cost of the partition in which the largest slack left leads, and the next ones that fit join."""
        order = np.argsort(-self.slack, kind="stable")
        length, slack = self.length[order].tolist(), self.slack[order].tolist()
        after = list(range(1, len(length) + 1))  # of the requests left, the next one by slack
        cost = leader = 0
        while leader < len(length):
            cost += slack[leader]
            self._take_companions(leader, after, length)
            leader = after[leader]
        return cost

    def _take_companions(self, leader: int, after: list[int], length: list[int]) -> None:
        low = high = length[leader]
        taken, before, row = 1, leader, after[leader]
        while row < len(length) and taken < self.slots:
            if max(high, length[row]) - min(low, length[row]) <= self.alpha:
                low, high = min(low, length[row]), max(high, length[row])
                taken += 1
                after[before] = after[row]
            else:
                before = row
            row = after[row]

    def windows(self) -> int:
        """Cost of packing each window of lengths by itself, the largest slacks together."""
        order = np.argsort(-self.slack, kind="stable")
        length, slack = self.length[order] - self.length[0], self.slack[order]
        shifts = np.unique(np.linspace(0, self.alpha, _SHIFTS).astype(np.int64))
        return min(self._packed((length + shift) // (self.alpha + 1), slack) for shift in shifts)

    def _packed(self, window: IntArray, slack: IntArray) -> int:
        order = np.argsort(window, kind="stable")  # keeps the order by slack
        _, first, count = np.unique(window[order], return_index=True, return_counts=True)
        place = np.arange(len(window)) - np.repeat(first, count)
        return exact_sum(slack[order][place % self.slots == 0])


class _Program:
    """Dynamic program over how many requests of each length have left.

    Groups are formed from the largest slack left on. Two exchanges leave few partitions to look at:

    - of two requests of one length the one with the larger slack leaves first. Swapping them gives
      the later group the smaller slack and leaves the earlier one, led by the largest of all, as it is;
    - a group is full, or nobody is left that fits into it: whoever could join makes their own group
      no dearer by leaving it.

    So a state is one number for each length, and a step is a choice of companions by length.
    """

    def __init__(self, lengths: list[int], heaps: Sequence[list[int]], slots: int, alpha: int) -> None:
        self.lengths = lengths
        self.heaps = heaps
        self.slots = slots
        self.alpha = alpha

    def least_cost(self) -> int:
        total = sum(map(len, self.heaps))
        layers: list[dict[Counts, int]] = [{} for _ in range(total + 1)]  # by requests that have left
        layers[0][(0,) * len(self.lengths)] = 0
        for gone, layer in enumerate(layers[:-1]):
            for state, cost in layer.items():
                leader = max(self._left(state), key=lambda place: self.heaps[place][state[place]])
                dearer = cost + self.heaps[leader][state[leader]]
                for after in self._after(state, leader):
                    later = layers[gone + sum(after) - sum(state)]
                    later[after] = min(dearer, later.get(after, dearer))
        return layers[total][tuple(map(len, self.heaps))]

    def _left(self, state: Counts) -> Iterator[int]:
        return (place for place, gone in enumerate(state) if gone < len(self.heaps[place]))

    def _after(self, state: Counts, leader: int) -> set[Counts]:
        """States after a group of that leader."""
        led = list(state)
        led[leader] += 1
        found: set[Counts] = set()
        for low in range(leader + 1):
            if self.lengths[leader] - self.lengths[low] <= self.alpha:
                window = [
                    place
                    for place in range(low, len(self.lengths))
                    if self.lengths[place] - self.lengths[low] <= self.alpha
                ]
                found.update(self._filled(led, window, self.slots - 1))
        return found

    def _filled(self, state: list[int], window: Sequence[int], room: int) -> Iterator[Counts]:
        """States after ``room`` companions from a window have left, or all of them."""
        if not window or room == 0:
            yield tuple(state)
            return
        place, *rest = window
        here = len(self.heaps[place]) - state[place]
        behind = sum(len(self.heaps[other]) - state[other] for other in rest)
        for taken in range(max(0, min(room - behind, here)), min(room, here) + 1):
            after = state.copy()
            after[place] += taken
            yield from self._filled(after, rest, room - taken)
