"""The paper's time-indexed integer program, solved by HiGHS through `scipy.optimize.milp`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import accumulate

import numpy as np
from scipy import optimize, sparse

from analysis.optimum.bracket import Bracket
from analysis.optimum.deadline import Deadline, OutOfTimeError
from analysis.optimum.instance import Instance
from analysis.optimum.interruptible import interruptible
from serving_sim.request import FloatArray, IntArray

_MOST_COLUMNS = 1_000_000


def solve(instance: Instance, known: Bracket, deadline: Deadline) -> Bracket:
    """Tighten a bracket with HiGHS.

    Parameters
    ----------
    instance : Instance
        The problem.
    known : Bracket
        Gives horizon and lower bound; HiGHS takes no hint.
    deadline : Deadline
        End of the search.

    Returns
    -------
    Bracket
        Proven where the search ended in time.

    Raises
    ------
    ValueError
        If the program is too large to be written down.

    Notes
    -----
    Yao and Zhou, appendix 8.1, with releases: u[i, t] = 1 where request i starts at step t. Occupancy
    (2) and progress (4) are sums of u and need no variables. The fairness constraint (6) says that
    nobody starts while a request has more than alpha tokens; it is written so, with one variable
    closed[t] a step in place of the big M and the pairs.
    """
    program = _Program(instance, known.upper)
    try:
        rows = list(program.rows(deadline))
    except OutOfTimeError:
        return known
    solve = partial(
        optimize.milp,
        program.only(program.makespan, 1.0),
        integrality=program.integral(),
        bounds=optimize.Bounds(
            program.only(program.makespan, known.lower),
            program.only(program.makespan, known.upper, others=1.0),
        ),
        constraints=optimize.LinearConstraint(
            program.matrix(rows), [row.low for row in rows], [row.high for row in rows]
        ),
        options={"time_limit": deadline.left, "mip_rel_gap": 0, "presolve": False},  # presolve saves no time
    )
    solution = interruptible(solve)
    proven = -math.inf if solution.mip_dual_bound is None else solution.mip_dual_bound
    lower = math.ceil(max(known.lower, proven) - 1e-6)
    if solution.x is None:
        return Bracket(lower, known.upper, known.start)
    start = program.starts(solution.x)
    return Bracket(lower, instance.makespan(start), start)


@dataclass(frozen=True)
class _Row:
    """``low <= sum of coefficient * column <= high``."""

    terms: dict[int, float]
    high: float
    low: float = -math.inf


class _Program:
    """Columns: all u[i, t], request by request; closed[t] for each step; the makespan."""

    def __init__(self, instance: Instance, horizon: int) -> None:
        self.instance = instance
        self.horizon = horizon
        self.requests = range(len(instance))
        self.last = [horizon - length for length in instance.lengths]
        widths = (last - release + 1 for last, release in zip(self.last, instance.releases, strict=True))
        self.first = list(accumulate(widths, initial=0))
        self.closed = self.first[-1]
        self.makespan = self.closed + horizon

        if self.makespan > _MOST_COLUMNS:
            raise ValueError(
                f"solver='milp': a column for each request and step makes {self.makespan:,}, "
                f"at most {_MOST_COLUMNS:,} are fine; take cp-sat"
            )

    def rows(self, deadline: Deadline) -> Iterator[_Row]:
        yield from self._starts_once()
        yield from self._ends_by_makespan()
        yield from self._twins_in_order()
        for t in range(self.horizon):
            deadline.check()
            yield self._capacity(t)
            yield from self._fairness(t)

    def only(self, column: int, value: float, others: float = 0.0) -> FloatArray:
        vector = np.full(self.makespan + 1, others)
        vector[column] = value
        return vector

    def integral(self) -> IntArray:
        """1 for whole columns; closed[t] follows from the starts and may be anything between."""
        whole = np.ones(self.makespan + 1, dtype=np.int64)
        whole[self.closed : self.makespan] = 0
        return whole

    def matrix(self, rows: list[_Row]) -> sparse.csr_array[np.float64]:
        columns = [column for row in rows for column in row.terms]
        values = [value for row in rows for value in row.terms.values()]
        ends = list(accumulate((len(row.terms) for row in rows), initial=0))
        shape = (len(rows), self.makespan + 1)
        return sparse.csr_array((np.array(values, float), columns, ends), shape=shape)

    def starts(self, values: FloatArray) -> tuple[int, ...]:
        return tuple(
            self.instance.releases[i] + int(np.argmax(values[self.first[i] : self.first[i + 1]]))
            for i in self.requests
        )

    def _starting(self, i: int, earliest: int, latest: int) -> dict[int, int]:
        """Columns of u[i, t] with ``earliest <= t <= latest``, and t."""
        offset = self.first[i] - self.instance.releases[i]
        instants = range(max(earliest, self.instance.releases[i]), min(latest, self.last[i]) + 1)
        return {offset + t: t for t in instants}

    def _starts_once(self) -> Iterator[_Row]:  # (1)
        for i in self.requests:
            yield _Row(dict.fromkeys(self._starting(i, 0, self.horizon), 1.0), high=1, low=1)

    def _ends_by_makespan(self) -> Iterator[_Row]:  # (5)
        for i, length in enumerate(self.instance.lengths):
            ends = {column: t + length for column, t in self._starting(i, 0, self.horizon).items()}
            yield _Row({**ends, self.makespan: -1.0}, high=0)

    def _twins_in_order(self) -> Iterator[_Row]:
        for i, j in self.instance.twins():
            earlier = self._starting(i, 0, self.horizon)
            later = {column: -t for column, t in self._starting(j, 0, self.horizon).items()}
            yield _Row({**earlier, **later}, high=0)

    def _capacity(self, t: int) -> _Row:  # (3)
        running: dict[int, float] = {}
        for i, length in enumerate(self.instance.lengths):
            running |= dict.fromkeys(self._starting(i, t - length + 1, t), 1.0)
        return _Row(running, high=self.instance.slots)

    def _fairness(self, t: int) -> Iterator[_Row]:  # (6)
        for i, length in enumerate(self.instance.lengths):
            beyond = self._starting(i, t - length + 1, t - self.instance.alpha - 1)
            yield _Row({**dict.fromkeys(beyond, 1.0), self.closed + t: -1.0}, high=0)
            yield _Row({**dict.fromkeys(self._starting(i, t, t), 1.0), self.closed + t: 1.0}, high=1)
