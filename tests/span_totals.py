"""Totals of a run by its spans of constant batch, from admission steps and lengths alone."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Spans:
    """Stretches of steps in which the batch does not change."""

    rows: tuple[tuple[int, int, int, int, int], ...]
    """Of each: steps, requests, and the largest, smallest and sum of progress as it begins."""

    @classmethod
    def of(cls, served: list[tuple[int, int]]) -> Spans:
        """From pairs of the steps before an admission and the steps it takes."""
        marks = sorted({mark for start, length in served for mark in (start, start + length)})
        rows = []
        for begin, end in pairwise(marks):
            ages = [begin - start for start, length in served if start <= begin < start + length]
            if ages:
                rows.append((end - begin, len(ages), max(ages), min(ages), sum(ages)))
        return cls(tuple(rows))

    @property
    def steps(self) -> int:
        return sum(steps for steps, *_ in self.rows)

    @property
    def most(self) -> int:
        return max(count for _, count, *_ in self.rows)

    @property
    def tokens(self) -> int:
        return sum(steps * count for steps, count, *_ in self.rows)

    @property
    def externality(self) -> int:
        return sum(steps * (count * most - total) for steps, count, most, _, total in self.rows)

    @property
    def gap_steps(self) -> int:
        return sum(steps * (most - least) for steps, _, most, least, _ in self.rows)

    @property
    def max_gap(self) -> int:
        return max(most - least for _, _, most, least, _ in self.rows)

    def steps_beyond(self, alpha: int) -> int:
        return sum(steps for steps, _, most, least, _ in self.rows if most - least > alpha)

    def cost(self, per_step: int, per_token: int) -> int:
        """Sum over steps k = 1, 2, .. of each span of c + tau |S| (A_max + k)."""
        return sum(
            per_step * steps + per_token * count * (most * steps + steps * (steps + 1) // 2)
            for steps, count, most, _, _ in self.rows
        )
