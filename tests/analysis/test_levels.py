"""Step functions of a run against sampling it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from analysis.levels import Levels, batch_levels, waiting_levels
from analysis.plots.extent import largest_gaps
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


@given(runs, st.lists(st.integers(0, 240), min_size=2, max_size=12))
def test_the_largest_value_in_a_bin_is_that_of_its_samples(run: Run, quarters: list[int]) -> None:
    edges = np.sort(np.array(quarters) / 4)  # windows within the run, and on its changes
    gap = batch_levels(run)["gap"]
    for place, found in enumerate(gap.largest(edges)):
        low, high = edges[place : place + 2]
        samples = np.arange(low, high, 0.25)  # all happens at whole times here
        if place == len(edges) - 2:
            samples = np.append(samples, high)
        assert found == max(value_at(gap, time) for time in [low, *samples])


@given(runs, st.integers(1, 40), st.integers(2, 12))
def test_the_largest_gap_is_found_without_sorting_who_comes_and_goes(run: Run, end: int, bins: int) -> None:
    edges = np.arange(0.0, end * (bins + 1), end)  # equal steps, without rounding
    assert largest_gaps(run, edges).tolist() == batch_levels(run)["gap"].largest(edges).tolist()


def test_a_value_that_begins_on_an_edge_counts_in_the_bin_it_begins_and_none_behind_the_last() -> None:
    levels = Levels(np.array([0.0, 1.0, 2.0, 3.0]), np.array([1, 5, 2, 9]))
    assert levels.largest(np.array([0, 1, 1.5, 2.5])).tolist() == [1, 5, 5]
    assert levels.largest(np.array([0.5, 1])).tolist() == [5]  # the last bin is closed
    assert levels.largest(np.array([4.0, 5, 6])).tolist() == [9, 9]
    assert levels.largest(np.array([-2.0, -1, 0.5])).tolist() == [0, 1]
