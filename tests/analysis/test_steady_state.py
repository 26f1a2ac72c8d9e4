"""Warm-up: what MSER-5 cuts, and what it leaves alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_runs import queue_run
from numpy.typing import NDArray

from analysis.stability import Stability
from analysis.steady_state import BATCH, WarmUp, mser, warm_up

STABLE = Stability("stable", "", 0.9, 0.0, 0.9, 2.0)
UNSTABLE = Stability("unstable", "", 1.1, 1.0, 1.1, 2.0)


def test_a_transient_is_cut_where_it_ends() -> None:
    noise = np.random.default_rng(0).normal(size=4000)
    rising = np.concatenate([np.linspace(-8, 0, 500), np.zeros(3500)])
    assert 350 <= mser(rising + noise) <= 500


def test_a_level_series_keeps_almost_everything() -> None:
    rows = np.random.default_rng(1).normal(5.0, 1.0, size=(200, 1000))
    assert np.median([mser(row) for row in rows]) <= 25


def test_by_hand() -> None:
    # batches 9, 1, 2, 1, 2, 1: sums of squares about the mean over (k - d)^2 are
    # d = 0: (92 - 16^2 / 6) / 36 = 1.37, d = 1: (11 - 7^2 / 5) / 25 = 0.048, d = 2: (10 - 9) / 16 = 0.0625,
    # d = 3: (6 - 16 / 3) / 9 = 0.074
    values = np.repeat([9.0, 1.0, 2.0, 1.0, 2.0, 1.0], BATCH)
    assert mser(values) == BATCH


@given(st.lists(st.floats(-1e6, 1e6), max_size=60), st.floats(0.5, 2), st.floats(-1e3, 1e3))
def test_never_more_than_half_whatever_scale_and_origin(
    values: list[float], scale: float, shift: float
) -> None:
    series = np.array(values)
    cut = mser(series)
    assert cut % BATCH == 0
    assert 0 <= cut <= len(values) / 2
    moved = mser(series * scale + shift)
    assert 0 <= moved <= len(values) / 2


def brute(values: NDArray[np.float64]) -> int:
    means = values[: len(values) // BATCH * BATCH].reshape(-1, BATCH).mean(axis=1)
    count = len(means)
    scores = [np.sum((means[d:] - means[d:].mean()) ** 2) / (count - d) ** 2 for d in range(count // 2 + 1)]
    return BATCH * int(np.argmin(scores))


@pytest.mark.parametrize("seed", range(20))
def test_as_the_formula_says(seed: int) -> None:
    values = np.random.default_rng(seed).exponential(size=137).cumsum() ** (seed / 40)
    assert mser(values) == brute(values)


def test_the_slowest_policy_decides_for_all() -> None:
    level = [queue_run(list(2 + 0.01 * np.sin(np.arange(100.0)))) for _ in range(2)]
    climbing = [queue_run([1.0] * 20 + [9.0] * 80) for _ in range(2)]
    assert warm_up([level, climbing], [None, None]) == WarmUp(20, capped=False)
    assert warm_up([climbing], [STABLE]) == WarmUp(20, capped=False)
    found = warm_up([level], [STABLE])
    assert found is not None
    assert found.requests < 20


def test_who_has_no_steady_state_has_no_say() -> None:
    # the best cut of a ramp is the longest one that is allowed
    ramp = [queue_run(list(1.0 + np.arange(100.0)))]
    climbing = [queue_run([1.0] * 20 + [9.0] * 80)]
    assert warm_up([ramp, climbing], [STABLE, STABLE]) == WarmUp(50, capped=True)
    assert warm_up([ramp, climbing], [UNSTABLE, STABLE]) == WarmUp(20, capped=False)
    assert warm_up([ramp], [UNSTABLE]) is None
