"""Step functions of a run against sampling it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from analysis.levels import Levels, batch_levels, waiting_levels
from policies import parse_policy
from serving_sim import Run, Workload, simulate


def value_at(levels: Levels, time: float) -> int:
    place = int(np.searchsorted(levels.time, time, side="right")) - 1
    return int(levels.value[place]) if place >= 0 else 0


def run_of(releases: list[int], lengths: list[int], policy: str) -> Run:
    workload = Workload(releases, lengths[: len(releases)])
    return simulate(workload, parse_policy(policy), slots=3, record_batches=True)


runs = st.builds(
    run_of,
    st.lists(st.integers(0, 60), min_size=1, max_size=15),
    st.lists(st.integers(1, 9), min_size=15, max_size=15),
    st.sampled_from(["fcfs", "isjl:alpha=3", "delayed:x=1,inner=fcfs"]),
)


@given(runs)
def test_levels_are_what_the_requests_say(run: Run) -> None:
    assert run.requests is not None
    batch = batch_levels(run)
    for time in np.arange(0, run.makespan + 2) + 0.5:  # all happens at whole times here
        active = (run.start <= time) & (run.finish > time)
        progress = np.floor(time - run.start[active])
        assert value_at(batch["active"], time) == np.count_nonzero(active)
        assert value_at(batch["gap"], time) == (np.ptp(progress) if active.any() else 0)
        waiting = (run.requests.release <= time) & (run.start > time)
        assert value_at(waiting_levels(run), time) == np.count_nonzero(waiting)


@given(runs, st.integers(1, 40))
def test_the_largest_value_in_a_bin_is_that_of_its_samples(run: Run, bins: int) -> None:
    edges = np.linspace(0, run.makespan, bins + 1)
    gap = batch_levels(run)["gap"]
    for low, high, found in zip(edges[:-1], edges[1:], gap.largest(edges), strict=True):
        changes = gap.time[(gap.time > low) & (gap.time <= high)]
        assert found == max(value_at(gap, time) for time in [low, *changes])
