"""Schedules from solvers, played by the engine."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.optimum import optimum
from policies.replay import Replay
from serving_sim import PolicyError, Workload, simulate


def test_optimal_schedules_keep_their_makespan_and_their_fairness() -> None:
    rng = np.random.default_rng(11)
    for _ in range(25):
        n, slots, alpha = int(rng.integers(2, 7)), int(rng.integers(1, 4)), int(rng.integers(0, 8))
        lengths, releases = rng.integers(1, 12, n), np.sort(rng.integers(0, 9, n))
        best = optimum(lengths, slots, alpha, releases)
        run = simulate(Workload(releases, lengths), Replay(best.start), slots=slots, alpha=alpha)
        assert run.start.tolist() == list(best.start)
        assert run.makespan == best.upper
        assert run.audit.fair


def test_a_start_that_is_no_epoch_is_refused() -> None:
    with pytest.raises(PolicyError, match=r"^policy replay at time 1\.0: request 1 cannot start at 0\.5$"):
        simulate(Workload([0, 0], [3, 3]), Replay([0.0, 0.5]), slots=2)


def test_a_start_without_a_free_slot_is_refused() -> None:
    with pytest.raises(PolicyError, match=r"^policy replay at time 0\.0: request 1 cannot start at 0\.0$"):
        simulate(Workload([0, 0], [3, 3]), Replay([0.0, 0.0]), slots=1)
