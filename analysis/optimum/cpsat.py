"""The offline problem as a constraint program for OR-tools CP-SAT."""

from __future__ import annotations

import math

from analysis.optimum.bracket import Bracket
from analysis.optimum.deadline import Deadline, OutOfTimeError
from analysis.optimum.instance import Instance
from analysis.optimum.interruptible import interruptible

try:
    from ortools.sat.python import cp_model
except ImportError as missing:
    raise ImportError(
        "the CP-SAT solver needs OR-tools: pip install 'serving-sim[optimum]', or take solver='milp'"
    ) from missing


def solve(instance: Instance, known: Bracket, deadline: Deadline, workers: int = 1) -> Bracket:
    """Tighten a bracket with CP-SAT.

    Parameters
    ----------
    instance : Instance
        The problem.
    known : Bracket
        Gives horizon, hint and lower bound.
    deadline : Deadline
        End of both searches together.
    workers : int
        Threads of the solver.

    Returns
    -------
    Bracket
        Proven where a search ended in time.

    Notes
    -----
    One start variable a request, one cumulative resource, and for each pair a domain of the distance
    between the starts: the first ends before the second starts, or the other way round, or they start
    at most alpha apart. The default search finds schedules and proves most small instances; a second
    one that branches on the objective lifts the bound of the rest.
    """
    try:
        program = _Program(instance, known, deadline)
    except OutOfTimeError:
        return known
    first = program.search(known, deadline.left / 2, workers, lift_bound=False)
    return first if first.proven else program.search(first, deadline.left, workers, lift_bound=True)


class _Program:
    """Variables and constraints of one instance, searched more than once."""

    def __init__(self, instance: Instance, known: Bracket, deadline: Deadline) -> None:
        self.instance = instance
        self.model = cp_model.CpModel()
        self.start = [
            self.model.new_int_var(release, known.upper - length, f"start{i}")
            for i, (release, length) in enumerate(zip(instance.releases, instance.lengths, strict=True))
        ]
        self._bound_capacity()
        self._bound_distances(known.upper, deadline)
        self._minimize_makespan(known)

    def search(self, known: Bracket, time_limit: float, workers: int, *, lift_bound: bool) -> Bracket:
        self.model.clear_hints()  # type: ignore[no-untyped-call]
        for variable, begin in zip(self.start, known.start, strict=True):
            self.model.add_hint(variable, begin)
        solver = cp_model.CpSolver()
        solver.parameters.max_time_in_seconds = time_limit
        solver.parameters.num_workers = workers
        solver.parameters.random_seed = 0
        # its own handler would take Ctrl-C for the end of this search, and leave none behind
        solver.parameters.catch_sigint_signal = False
        solver.parameters.linearization_level = 0  # a relaxation costs more here than it prunes
        # Presolve saves no time here, and that of OR-tools 9.15 can cut off the optimum where the domain
        # of a distance has holes (two requests, lengths 7 and 6, releases 1 and 5, alpha 3: 14, not 11).
        solver.parameters.cp_model_presolve = False
        solver.parameters.optimize_with_lb_tree_search = lift_bound
        status = interruptible(lambda: solver.solve(self.model), stop=solver.stop_search)
        if status not in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
            return known
        lower = max(known.lower, math.ceil(solver.best_objective_bound - 0.5))  # a whole number as a float
        start = tuple(solver.value(variable) for variable in self.start)
        return Bracket(lower, self.instance.makespan(start), start)

    def _bound_capacity(self) -> None:
        runs = [
            self.model.new_fixed_size_interval_var(begin, length, f"run{i}")
            for i, (begin, length) in enumerate(zip(self.start, self.instance.lengths, strict=True))
        ]
        self.model.add_cumulative(runs, [1] * len(runs), self.instance.slots)

    def _bound_distances(self, horizon: int, deadline: Deadline) -> None:
        twins = set(self.instance.twins())
        alpha = self.instance.alpha
        for i, j in self.instance.pairs():
            deadline.check()
            after_j, after_i = self.instance.lengths[j], self.instance.lengths[i]
            allowed = [[-horizon, -after_j], [-alpha, alpha], [after_i, horizon]]
            if (i, j) in twins:  # equal requests start in input order
                allowed = [[0, alpha], [after_i, horizon]]
            self.model.add_linear_expression_in_domain(
                self.start[j] - self.start[i], cp_model.Domain.from_intervals(allowed)
            )

    def _minimize_makespan(self, known: Bracket) -> None:
        makespan = self.model.new_int_var(known.lower, known.upper, "makespan")
        for begin, length in zip(self.start, self.instance.lengths, strict=True):
            self.model.add(begin + length <= makespan)
        self.model.minimize(makespan)
